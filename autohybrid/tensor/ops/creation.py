"""Operators without inputs that make arrays: _zeros, _ones, _full, _arange, _linspace, _eye and their relatives."""

from __future__ import annotations

from math import ceil, isnan
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import Dtypes, OpDef, Sample, Shape, Shapes, zero_gradient
from autohybrid.tensor.shapes import attr_dtype, unify

_CTX = Attr("ctx", "str", "", doc="the device, 'cpu(0)' or 'gpu(1)'; the current one by default")
_DTYPE = Attr("dtype", "dtype", "float32")
_SHAPE = Attr("shape", "shape", (), doc="extents; 0 or -1 leave one to be inferred in a graph")


# -- a shape from the attributes -------------------------------------------------------------------------------------
def _given(attrs: Attrs) -> Shape:
    return tuple(extent or -1 for extent in attrs.shape) if attrs.shape else None


def _infer_given(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    return ins, [unify(_given(attrs), outs[0])]


def _concrete(attrs: Attrs) -> tuple[int, ...]:
    if -1 in attrs.shape:
        raise MXNetError(f"`shape` {attrs.shape} leaves an extent open, which only a graph can infer")
    return attrs.shape  # type: ignore[no-any-return]


def _zeros(xp: Any, attrs: Attrs) -> Any:
    return xp.zeros(_concrete(attrs), dtype=attrs.dtype)


def _zeros_without_dtype(xp: Any, attrs: Attrs) -> Any:
    return xp.zeros(_concrete(attrs), dtype="float32" if attrs.dtype == -1 else _flag_dtype(attrs))


def _flag_dtype(attrs: Attrs) -> str:
    flags = {0: "float32", 1: "float64", 2: "float16", 3: "uint8", 4: "int32", 5: "int8", 6: "int64", 7: "bool"}
    if attrs.dtype not in flags:
        raise MXNetError(f"`dtype` is the number of a dtype here, -1 or 0 to 7, got {attrs.dtype}")
    return flags[attrs.dtype]


def _infer_flag_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    return ins, [outs[0] if attrs.dtype == -1 else _flag_dtype(attrs)]


def _ones(xp: Any, attrs: Attrs) -> Any:
    return xp.ones(_concrete(attrs), dtype=attrs.dtype)


def _full(xp: Any, attrs: Attrs) -> Any:
    return xp.full(_concrete(attrs), attrs.value, dtype=attrs.dtype)


# -- _arange ---------------------------------------------------------------------------------------------------------
def _arange_span(attrs: Attrs) -> tuple[float, float | None]:
    """Start and stop; with one bound given it is the stop, unless the length is to be inferred."""
    if attrs.stop is None and not attrs.infer_range:
        return 0.0, attrs.start
    return attrs.start, attrs.stop


def _check_arange(attrs: Attrs) -> None:
    if attrs.step == 0 or isnan(attrs.step):
        raise MXNetError(f"`step` must not be {attrs.step}")
    if attrs.repeat < 1:
        raise MXNetError(f"`repeat` must be at least 1, got {attrs.repeat}")


def _infer_arange(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    _check_arange(attrs)
    start, stop = _arange_span(attrs)
    if stop is None:
        return ins, outs
    steps = ceil((stop - start) / attrs.step)
    if steps <= 0:
        raise MXNetError(f"no numbers lie between `start` {start} and `stop` {stop} with `step` {attrs.step}")
    return ins, [unify((steps * attrs.repeat,), outs[0])]


def _arange(xp: Any, attrs: Attrs) -> Any:
    start, stop = _arange_span(attrs)
    if stop is None:
        raise MXNetError("`stop` was not given; only a graph can infer the length (`infer_range=True`)")
    steps, step = ceil((stop - start) / attrs.step), attrs.step
    if "int" in attrs.dtype:  # like NumPy, MXNet counts in the dtype: fractions of both are cut off first
        start, step = int(start), int(step)
    values = xp.arange(steps) * step + start
    return (xp.repeat(values, attrs.repeat) if attrs.repeat > 1 else values).astype(attrs.dtype)


# -- _linspace, _eye -------------------------------------------------------------------------------------------------
def _infer_linspace(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    if attrs.num < 0:
        raise MXNetError(f"`num` must not be negative, got {attrs.num}")
    return ins, [unify((attrs.num,), outs[0])]


def _linspace(xp: Any, attrs: Attrs) -> Any:
    return xp.linspace(attrs.start, attrs.stop, attrs.num, endpoint=attrs.endpoint).astype(attrs.dtype)


def _infer_eye(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    if attrs.N < 0:
        raise MXNetError(f"`N` must not be negative, got {attrs.N}")
    return ins, [unify((attrs.N, _columns(attrs)), outs[0])]


def _columns(attrs: Attrs) -> int:
    return attrs.M if attrs.M > 0 else attrs.N  # type: ignore[no-any-return]


def _eye(xp: Any, attrs: Attrs) -> Any:
    return xp.eye(attrs.N, _columns(attrs), k=attrs.k, dtype=attrs.dtype)


def _creation(name: str, kernel: Any, attrs: tuple[Attr, ...], infer_shape: Any, **fields: Any) -> OpDef:
    fields = {"infer_dtype": attr_dtype(), **fields}
    return OpDef(name, kernel, inputs=(), attrs=attrs, infer_shape=infer_shape, grad=zero_gradient, **fields)


OPERATORS: tuple[OpDef, ...] = (
    _creation(
        "_zeros",
        _zeros,
        (_SHAPE, _CTX, _DTYPE),
        _infer_given,
        doc="An array of zeros.",
        samples=(Sample(attrs={"shape": (2, 3)}), Sample(attrs={"shape": 3, "dtype": "int32"})),
    ),
    _creation(
        "_zeros_without_dtype",
        _zeros_without_dtype,
        (_SHAPE, _CTX, Attr("dtype", "int", -1, doc="the number of a dtype; -1: inferred in a graph, else float32")),
        _infer_given,
        infer_dtype=_infer_flag_dtype,
        doc="An array of zeros whose dtype a graph infers from its use.",
        samples=(Sample(attrs={"shape": (2, 3)}), Sample(attrs={"shape": (1,), "dtype": 4})),
    ),
    _creation(
        "_ones",
        _ones,
        (_SHAPE, _CTX, _DTYPE),
        _infer_given,
        doc="An array of ones.",
        samples=(Sample(attrs={"shape": (2, 3)}), Sample(attrs={"shape": 1, "dtype": "float16"})),
    ),
    _creation(
        "_full",
        _full,
        (_SHAPE, _CTX, _DTYPE, Attr("value", "float", doc="the value of every element")),
        _infer_given,
        doc="An array filled with `value`.",
        samples=(
            Sample(attrs={"shape": (2, 3), "value": 2.5}),
            Sample(attrs={"shape": (2,), "value": 7, "dtype": "int32"}),
            Sample(attrs={"shape": (2,)}, error="MXNetError"),
        ),
    ),
    _creation(
        "_arange",
        _arange,
        (
            Attr("start", "float"),
            Attr("stop", "float?", None),
            Attr("step", "float", 1.0),
            Attr("repeat", "int", 1, doc="how often each number occurs"),
            Attr("infer_range", "bool", False, doc="in a graph: take the length from the use"),
            _CTX,
            _DTYPE,
        ),
        _infer_arange,
        doc="Numbers from `start` (0 if only one bound is given) below `stop` in steps of `step`, each `repeat` times.",
        samples=(
            Sample(attrs={"start": 5}),
            Sample(attrs={"start": 2, "stop": 10, "step": 3}),
            Sample(attrs={"start": 5, "stop": 0, "step": -1.5}),
            Sample(attrs={"start": 0, "stop": 3, "repeat": 2, "dtype": "int64"}),
            Sample(attrs={"start": 0, "stop": 4, "step": 0}, error="MXNetError"),
        ),
    ),
    _creation(
        "_linspace",
        _linspace,
        (
            Attr("start", "float"),
            Attr("stop", "float"),
            Attr("num", "int"),
            Attr("endpoint", "bool", True, doc="whether `stop` is the last number"),
            _CTX,
            _DTYPE,
        ),
        _infer_linspace,
        aliases=("_npi_linspace",),
        doc="`num` numbers evenly spaced from `start` to `stop`.",
        samples=(
            Sample(attrs={"start": 0, "stop": 1, "num": 5}),
            Sample(attrs={"start": 2, "stop": -3, "num": 4, "endpoint": False}),
            Sample(attrs={"start": 1, "stop": 2, "num": 1}),
        ),
    ),
    _creation(
        "_eye",
        _eye,
        (Attr("N", "int"), Attr("M", "int", 0, doc="columns; 0: as many as rows"), Attr("k", "int", 0), _CTX, _DTYPE),
        _infer_eye,
        doc="A matrix (N, M) with ones on the diagonal `k` places to the right of the main one, zeros elsewhere.",
        samples=(
            Sample(attrs={"N": 3}),
            Sample(attrs={"N": 3, "M": 4, "k": 1}),
            Sample(attrs={"N": 2, "M": 2, "k": -1, "dtype": "int32"}),
            Sample(attrs={"N": -1}, error="MXNetError"),
        ),
    ),
)
