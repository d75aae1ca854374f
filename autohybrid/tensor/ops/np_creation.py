"""Operators of `mx.np` without tensors as inputs: zeros, ones, full, arange, eye, identity, indices, logspace, windows;
and full_like. Shapes have numpy's meaning: `()` is a scalar, 0 an empty axis."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, pi
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import Dtypes, OpDef, Sample, Shapes, zero_gradient
from autohybrid.tensor.ops import creation
from autohybrid.tensor.shapes import attr_dtype, unify

_CTX = Attr("ctx", "str", "", doc="the device, 'cpu(0)' or 'gpu(1)'; the current one by default")
_DTYPE = Attr("dtype", "dtype", "float32")
_SHAPE = Attr("shape", "shape", (), doc="extents")
_ARANGE = next(op for op in creation.OPERATORS if op.name == "_arange")


def _bounds(attrs: Attrs) -> tuple[float, float]:
    return (0.0, attrs.start) if attrs.stop is None else (attrs.start, attrs.stop)


def _infer_arange(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    if attrs.step == 0:
        raise MXNetError("`step` must not be 0")
    start, stop = _bounds(attrs)
    return ins, [unify((max(0, ceil((stop - start) / attrs.step)) * attrs.repeat,), outs[0])]


def _arange(xp: Any, attrs: Attrs) -> Any:
    start, stop = _bounds(attrs)
    count = max(0, ceil((stop - start) / attrs.step))
    numbers = (start + attrs.step * xp.arange(count)).astype(attrs.dtype)
    return xp.repeat(numbers, attrs.repeat) if attrs.repeat > 1 else numbers


def _checked(shape: tuple[int, ...]) -> tuple[int, ...]:
    if min(shape, default=0) < 0:
        raise MXNetError(f"extents must not be negative, got {shape}")
    return shape


def _infer_given(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    return ins, [unify(_checked(attrs.shape), outs[0])]


def _infer_eye(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    return ins, [unify(_checked((attrs.N, attrs.N if attrs.M is None else attrs.M)), outs[0])]


def _infer_indices(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    return ins, [unify((len(attrs.dimensions), *_checked(attrs.dimensions)), outs[0])]


def _infer_number(name: str) -> Callable[..., Any]:
    def infer(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
        return ins, [unify((max(0, getattr(attrs, name) or 0),), outs[0])]

    return infer


def _like_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    return ins, [attrs.dtype or ins[0]]


def _logspace(xp: Any, attrs: Attrs) -> Any:
    exponents = xp.linspace(attrs.start, attrs.stop, attrs.num, endpoint=attrs.endpoint)
    return xp.asarray(attrs.base**exponents).astype(attrs.dtype)


def _window(*coefficients: float) -> Callable[..., Any]:
    """The sum of cosines that hanning, hamming and blackman windows are."""

    def kernel(xp: Any, attrs: Attrs) -> Any:
        count = attrs.M or 0
        if count <= 1:
            return xp.ones(max(0, count), dtype=attrs.dtype)
        angle = xp.arange(count) * (2 * pi / (count - 1))
        total = sum(c * xp.cos(k * angle) for k, c in enumerate(coefficients))
        return xp.asarray(total).astype(attrs.dtype)

    return kernel


def _creation(name: str, kernel: Callable[..., Any], attrs: tuple[Attr, ...], infer: Any, doc: str, *samples: Sample,
              stored_as: str | None = None) -> OpDef:  # fmt: skip
    return OpDef(
        name, kernel, inputs=(), attrs=attrs, infer_shape=infer, infer_dtype=attr_dtype(), grad=zero_gradient,
        stored_as=stored_as, doc=doc, samples=samples,
    )  # fmt: skip


def _windowed(name: str, *coefficients: float) -> OpDef:
    attrs = (Attr("M", "int?", None, doc="how many numbers"), _CTX, _DTYPE)
    return _creation(f"_npi_{name}", _window(*coefficients), attrs, _infer_number("M"), f"The {name} window.",
                     Sample(attrs={"M": 5}), Sample(attrs={"M": 1}), Sample(attrs={"M": 0}))  # fmt: skip


OPERATORS: tuple[OpDef, ...] = (
    _creation("_npi_zeros", lambda xp, attrs: xp.zeros(attrs.shape, dtype=attrs.dtype), (_SHAPE, _CTX, _DTYPE),
              _infer_given, "An array of zeros.", Sample(attrs={"shape": (2, 3)}), Sample(),
              Sample(attrs={"shape": (0, 2)}),
              Sample(attrs={"shape": (-2,)}, error="MXNetError")),
    _creation("_npi_ones", lambda xp, attrs: xp.ones(attrs.shape, dtype=attrs.dtype), (_SHAPE, _CTX, _DTYPE),
              _infer_given, "An array of ones.", Sample(attrs={"shape": (2, 3), "dtype": "int32"}), Sample()),
    _creation("_npi_full", lambda xp, attrs: xp.full(attrs.shape, attrs.value, dtype=attrs.dtype),
              (_SHAPE, _CTX, _DTYPE, Attr("value", "float", doc="the value of every element")), _infer_given,
              "An array filled with `value`.", Sample(attrs={"shape": (2, 2), "value": 1.5}),
              Sample(attrs={"value": 3.0}),
              stored_as="_full"),
    _creation("_npi_identity", lambda xp, attrs: xp.eye(*attrs.shape[:2], dtype=attrs.dtype), (_SHAPE, _CTX, _DTYPE),
              _infer_given, "The identity matrix.", Sample(attrs={"shape": (3, 3)})),
    _creation("_npi_eye", lambda xp, attrs: xp.eye(attrs.N, attrs.M, k=attrs.k, dtype=attrs.dtype),
              (Attr("N", "int", doc="rows"), Attr("M", "int?", None, doc="columns; as many as rows by default"),
               Attr("k", "int", 0, doc="which diagonal"), _CTX, _DTYPE), _infer_eye,
              "A matrix with ones on a diagonal.", Sample(attrs={"N": 3}), Sample(attrs={"N": 3, "M": 4, "k": 1})),
    _creation("_npi_indices",
              lambda xp, attrs: xp.asarray(xp.indices(attrs.dimensions)).astype(attrs.dtype),
              (Attr("dimensions", "shape", doc="extents of the grid"), Attr("dtype", "dtype", "int32"), _CTX),
              _infer_indices, "The coordinates of every place of a grid, one array an axis.",
              Sample(attrs={"dimensions": (2, 3)})),
    _creation("_npi_arange", _arange, _ARANGE.attrs, _infer_arange, _ARANGE.doc,
              Sample(attrs={"start": 5}), Sample(attrs={"start": 1, "stop": 10, "step": 2}),
              Sample(attrs={"start": 3, "stop": 3})),
    _creation("_npi_logspace", _logspace,
              (Attr("start", "float"), Attr("stop", "float"), Attr("num", "int"), Attr("endpoint", "bool", True),
               Attr("base", "float", 10.0), _CTX, _DTYPE), _infer_number("num"),
              "Numbers evenly spaced in their logarithms, from base**start to base**stop.",
              Sample(attrs={"start": 0, "stop": 2, "num": 3}), Sample(attrs={"start": 0, "stop": 1, "num": 0})),
    _windowed("hanning", 0.5, -0.5),
    _windowed("hamming", 0.54, -0.46),
    _windowed("blackman", 0.42, -0.5, 0.08),
    OpDef("_npi_full_like", lambda xp, attrs, a: xp.full(a.shape, attrs.fill_value, dtype=attrs.dtype or a.dtype),
          inputs=("a",), attrs=(Attr("fill_value", "float"), _CTX, Attr("dtype", "dtype?", None)),
          infer_dtype=_like_dtype, grad=zero_gradient, doc="An array of the same shape, filled with one value.",
          samples=(Sample(((2, 3),), {"fill_value": 2}), Sample(((),), {"fill_value": 0, "dtype": "int32"}))),
)  # fmt: skip
