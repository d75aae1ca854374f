"""Operators that draw integers or reorder at random: _random_randint, _sample_multinomial, _shuffle,
_sample_unique_zipfian."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import Dtypes, GradNode, OpDef, Sample, Shapes, zero_gradient
from autohybrid.tensor.ops.random_draw import infer_requested, requested_shape
from autohybrid.tensor.shapes import attr_dtype, unify, unify_dtypes

_SHAPE = Attr("shape", "shape", ())


# -- _random_randint -------------------------------------------------------------------------------------------------
def _randint(xp: Any, attrs: Attrs, *, rng: Any) -> Any:
    if attrs.low >= attrs.high:
        raise MXNetError(f"`low` must be below `high`, got {attrs.low} and {attrs.high}")
    dtype = attrs.dtype or "int32"
    return rng.integers(attrs.low, attrs.high, requested_shape(attrs), dtype=dtype)


# -- _sample_multinomial ---------------------------------------------------------------------------------------------
def _infer_multinomial(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    data = ins[0]
    if data is None:
        return ins, outs
    if not data:
        raise MXNetError("`data` must have at least one dimension, the probabilities")
    shape = (*data[:-1], *attrs.shape) or (1,)
    return ins, [unify(shape, out) for out in outs]


def _infer_multinomial_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    return ins, [attrs.dtype, *[unify_dtypes([ins[0], out]) for out in outs[1:]]]


def _multinomial(xp: Any, attrs: Attrs, data: Any, *, rng: Any) -> Any:
    classes = data.shape[-1]
    rows = data.reshape(-1, classes).astype("float64")
    limits = xp.cumsum(rows, axis=1)
    draws = prod(attrs.shape)
    points = rng.random((rows.shape[0], draws), dtype="float64") * limits[:, -1:]
    # The number of limits at or below a point is its class; rows are put one behind the other for one sorted search.
    offsets = xp.arange(rows.shape[0], dtype="float64")[:, None] * 2.0
    scale = xp.maximum(limits[:, -1:], 1e-300)
    flat = xp.searchsorted((limits / scale + offsets).reshape(-1), (points / scale + offsets).reshape(-1), side="right")
    chosen = flat.reshape(rows.shape[0], draws) - xp.arange(rows.shape[0])[:, None] * classes
    chosen = xp.minimum(chosen, classes - 1)
    shape = (*data.shape[:-1], *attrs.shape) or (1,)
    result = chosen.reshape(shape).astype(attrs.dtype)
    if not attrs.get_prob:
        return result
    picked = xp.take_along_axis(rows, chosen, axis=1)
    return result, xp.log(picked).astype(data.dtype).reshape(shape)


def _grad_multinomial(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    if not node.attrs.get_prob:
        return None
    return F._backward_sample_multinomial(heads[1], node.outputs[0], node.inputs[0])


def _infer_backward_multinomial(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    shape = unify(ins[2], outs[0])
    return [ins[0], ins[1], shape], [shape]


def _backward_multinomial_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    dtype = unify_dtypes([ins[0], ins[2], outs[0]])
    return [dtype, ins[1], dtype], [dtype]


def _backward_multinomial(xp: Any, attrs: Attrs, head: Any, chosen: Any, data: Any) -> Any:
    """The derivative of the log probabilities of the chosen classes: head / probability, added up over the draws."""
    rows = data.reshape(-1, data.shape[-1])
    picked = chosen.reshape(rows.shape[0], -1).astype("int64")
    hot = (picked[..., None] == xp.arange(rows.shape[1])).astype(data.dtype)
    sums = xp.einsum("nd,ndk->nk", head.reshape(picked.shape), hot)
    return xp.where(sums == 0, sums, sums / rows).reshape(data.shape)


# -- _shuffle --------------------------------------------------------------------------------------------------------
def _shuffle(xp: Any, attrs: Attrs, data: Any, *, rng: Any) -> Any:
    return data[xp.argsort(rng.random((data.shape[0],), dtype="float64"))]


# -- _sample_unique_zipfian ------------------------------------------------------------------------------------------
def _infer_zipfian(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    if len(attrs.shape) != 2:
        raise MXNetError(f"`shape` must be (number of rows, number of draws), got {attrs.shape}")
    if attrs.shape[1] > attrs.range_max:
        raise MXNetError(f"{attrs.shape[1]} different classes cannot be drawn from {attrs.range_max}")
    return ins, [unify(attrs.shape, outs[0]), unify(attrs.shape[:1], outs[1])]


def _int64_outputs(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    return ins, ["int64"] * len(outs)


def _zipfian_row(xp: Any, attrs: Attrs, rng: Any) -> tuple[Any, int]:
    """Different classes of one row in the order they came, and how many draws that took."""
    wanted, limit = attrs.shape[1], float(attrs.range_max)
    drawn = xp.zeros((0,), dtype="int64")
    while True:
        uniform = rng.random((2 * wanted + 16,), dtype="float64")
        batch = xp.exp(uniform * xp.log(xp.asarray(limit + 1))).astype("int64") - 1
        drawn = xp.concatenate([drawn, batch % attrs.range_max])
        _, first = xp.unique(drawn, return_index=True)
        if first.size >= wanted:
            kept = xp.sort(first)[:wanted]
            return drawn[kept], int(kept[-1]) + 1 if wanted else 0


def _zipfian(xp: Any, attrs: Attrs, *, rng: Any) -> tuple[Any, Any]:
    rows = [_zipfian_row(xp, attrs, rng) for _ in range(attrs.shape[0])]
    return xp.stack([classes for classes, _ in rows]), xp.asarray([tries for _, tries in rows], dtype="int64")


OPERATORS: tuple[OpDef, ...] = (
    OpDef(
        "_random_randint",
        _randint,
        inputs=(),
        attrs=(
            Attr("low", "int"),
            Attr("high", "int", doc="one above the largest number"),
            _SHAPE,
            Attr("ctx", "str", ""),
            Attr("dtype", "dtype?", None, ("int32", "int64"), doc="int32 by default"),
        ),
        infer_shape=infer_requested,
        infer_dtype=attr_dtype("dtype", "int32"),
        grad=zero_gradient,
        aliases=("random_randint", "_npi_random_randint"),
        random=True,
        doc="Integers drawn evenly from `low` to `high` - 1.",
        samples=(
            Sample(attrs={"low": 0, "high": 10, "shape": (2, 3)}),
            Sample(attrs={"low": -5, "high": -4, "shape": 1, "dtype": "int64"}),
            Sample(attrs={"low": 3, "high": 1, "shape": 2}, error="MXNetError"),
        ),
    ),
    OpDef(
        "_sample_multinomial",
        _multinomial,
        attrs=(
            Attr("shape", "shape", (), doc="how many classes to draw from each row of probabilities"),
            Attr("get_prob", "bool", False, doc="also give the logarithm of the probability of each drawn class"),
            Attr("dtype", "dtype", "int32", ("uint8", "int32", "float16", "float32", "float64")),
        ),
        outputs=lambda attrs: ("output0", "output1") if attrs.get_prob else ("output",),
        infer_shape=_infer_multinomial,
        infer_dtype=_infer_multinomial_dtype,
        grad=_grad_multinomial,
        aliases=("sample_multinomial",),
        random=True,
        doc="Class numbers drawn with the probabilities in the last axis of `data`: shape (*data.shape[:-1], *shape). "
        "The gradient of the log probabilities flows to `data`.",
        samples=(
            Sample(((2, 3),), {"shape": (4,)}, low=0.2, high=1.0),
            Sample(((3,),), low=0.2, high=1.0),
            Sample(((1, 1),), {"dtype": "float32"}, low=0.2, high=1.0),
        ),
    ),
    OpDef(
        "_backward_sample_multinomial",
        _backward_multinomial,
        inputs=("head", "chosen", "data"),
        infer_shape=_infer_backward_multinomial,
        infer_dtype=_backward_multinomial_dtype,
        doc="The gradient of the log probabilities of `_sample_multinomial`.",
        samples=(Sample(((2, 4), (2, 4), (2, 3)), low=0.2, high=2.9),),
    ),
    OpDef(
        "_shuffle",
        _shuffle,
        aliases=("shuffle", "_npi_shuffle"),
        random=True,
        doc="The slices of `data` along its first axis in random order.",
        samples=(Sample(((5, 2),)), Sample(((1,),)), Sample(((0, 2),))),
    ),
    OpDef(
        "_sample_unique_zipfian",
        _zipfian,
        inputs=(),
        attrs=(Attr("range_max", "int"), _SHAPE),
        outputs=("output0", "output1"),
        infer_shape=_infer_zipfian,
        infer_dtype=_int64_outputs,
        grad=zero_gradient,
        random=True,
        doc="Rows of different classes below `range_max`, drawn by the log-uniform distribution with weights "
        "log((k + 2) / (k + 1)), and the number of draws that each row took.",
        samples=(
            Sample(attrs={"range_max": 20, "shape": (2, 4)}),
            Sample(attrs={"range_max": 3, "shape": (2, 4)}, error="MXNetError"),
        ),
    ),
)
