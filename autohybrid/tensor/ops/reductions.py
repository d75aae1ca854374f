"""Reductions over axes: sum, mean, prod, their nan-ignoring forms, max and min; and the spreading back of gradients.

Reducing every axis leaves shape (1,). float16 is accumulated in float32; integers stay integers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import Gradient, GradNode, OpDef, Sample, Shapes
from autohybrid.tensor.reduction import REDUCE_ATTRS, finish, infer_reduced, kept_shape, reduced_axes
from autohybrid.tensor.shapes import unify
from autohybrid.tensor.templates import Template, is_simple

_SAMPLES = (
    Sample(((2, 3, 4),)),
    Sample(((1,),)),
    Sample(((2, 3, 4),), {"axis": -1, "keepdims": True}),
    Sample(((2, 3, 4),), {"axis": (0, 2)}),
    Sample(((2, 3, 5),), {"axis": 1, "exclude": True}),
    Sample(((2, 3),), {"axis": ()}),
    Sample(((3, 4),), {"axis": 1}, low=1, high=5, dtypes=("int32",)),
    Sample(((2, 3),), {"axis": 2}, error="MXNetError"),
    Sample(((2, 3),), {"axis": (0, 0)}, error="MXNetError"),
)
_EMPTY = (Sample(((2, 0, 3),), {"axis": 1}), Sample(((0, 3),)))


def _axes(attrs: Attrs, x: Any) -> tuple[int, ...]:
    return reduced_axes(attrs.axis, x.ndim, attrs.exclude)


def _accumulator(x: Any) -> Any:
    return "float32" if x.dtype.kind == "f" and x.dtype.itemsize == 2 else "int64" if x.dtype.kind == "b" else x.dtype


def _sum(xp: Any, attrs: Attrs, x: Any) -> Any:
    total = xp.add.reduce(x, axis=_axes(attrs, x), dtype=_accumulator(x), keepdims=attrs.keepdims)
    return finish(total if total.dtype == x.dtype else total.astype(x.dtype))


def _sum_lines(call: Any) -> list[str] | None:
    """The sum over the first axes is a product with a row of ones, which BLAS computes several times faster."""
    shape = call.shapes[0]
    axes = reduced_axes(call.attrs.axis, len(shape), call.attrs.exclude)
    is_first = axes == tuple(range(len(axes))) and 0 < len(axes) < len(shape)
    if call.exact or not is_first or not is_simple(call) or 0 in shape:
        return None
    rows = math.prod(shape[: len(axes)])
    ones, columns = call.column("ones", rows, 1.0), math.prod(shape[len(axes) :])
    return [f"{call.out} = {ones}.T.dot({call.inputs[0]}.reshape({rows}, {columns})).reshape({call.out_shape})"]


def _mean(xp: Any, attrs: Attrs, x: Any) -> Any:
    axes = _axes(attrs, x)
    count = 1
    for axis in axes:
        count *= x.shape[axis]
    total = x.sum(axis=axes, dtype=_accumulator(x), keepdims=attrs.keepdims)
    if x.dtype.kind == "f":
        return finish((total / count).astype(x.dtype, copy=False))
    return finish(xp.trunc(total / count).astype(x.dtype))


def _prod(xp: Any, attrs: Attrs, x: Any) -> Any:
    product = x.prod(axis=_axes(attrs, x), dtype=_accumulator(x), keepdims=attrs.keepdims)
    return finish(product.astype(x.dtype, copy=False))


def _without_nan(xp: Any, x: Any, neutral: int) -> Any:
    return x if x.dtype.kind != "f" else xp.where(x != x, xp.full_like(x, neutral), x)


def _nansum(xp: Any, attrs: Attrs, x: Any) -> Any:
    return _sum(xp, attrs, _without_nan(xp, x, 0))


def _nanprod(xp: Any, attrs: Attrs, x: Any) -> Any:
    return _prod(xp, attrs, _without_nan(xp, x, 1))


def _max(xp: Any, attrs: Attrs, x: Any) -> Any:
    return finish(x.max(axis=_axes(attrs, x), keepdims=attrs.keepdims))


def _min(xp: Any, attrs: Attrs, x: Any) -> Any:
    return finish(x.min(axis=_axes(attrs, x), keepdims=attrs.keepdims))


# -- gradients -------------------------------------------------------------------------------------------------------
def spread(F: Any, node: GradNode, reduced: Any, average: bool = False) -> Any:
    """`reduced`, of the shape of the output, repeated over the axes that were reduced."""
    attrs = node.attrs
    return F._spread(
        reduced, node.inputs[0], axis=attrs.axis, keepdims=attrs.keepdims, exclude=attrs.exclude, average=average
    )


def _sum_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return spread(F, node, heads[0])


def _mean_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return spread(F, node, heads[0], average=True)


def _nansum_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    x = node.inputs[0]
    return spread(F, node, heads[0]) * F._equal(x, x)


def _prod_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return _product_rule(F, node, heads[0], node.inputs[0])


def _nanprod_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    x = node.inputs[0]
    number = F._equal(x, x)
    return _product_rule(F, node, heads[0], F.where(number, x, F.ones_like(x))) * number


def _product_rule(F: Any, node: GradNode, head: Any, x: Any) -> Any:
    return spread(F, node, head) * F._prod_others(x, axis=node.attrs.axis, exclude=node.attrs.exclude)


def _extreme_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    # Every element that equals the extreme gets the whole gradient, as in MXNet.
    return spread(F, node, heads[0]) * F._equal(node.inputs[0], spread(F, node, node.outputs[0]))


# -- the operator behind the gradients ---------------------------------------------------------------------------------
def _spread(xp: Any, attrs: Attrs, reduced: Any, like: Any) -> Any:
    shape = kept_shape(like.shape, attrs)
    if attrs.average:
        count = 1
        for kept, full in zip(shape, like.shape):
            count *= full if kept != full else 1
        reduced = (reduced / count).astype(reduced.dtype, copy=False)
    if reduced.size == like.size:
        return reduced.reshape(like.shape)
    return xp.broadcast_to(reduced.reshape(shape), like.shape)


def _infer_spread(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    like = unify(ins[1], outs[0])
    (_, (reduced,)) = infer_reduced(attrs, [like], [None])
    return [unify(ins[0], reduced), like], [like]


def _spread_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    attrs = node.attrs
    reduce = F.mean if attrs.average else F.sum
    return [reduce(heads[0], axis=attrs.axis, keepdims=attrs.keepdims, exclude=attrs.exclude), None]


def _prod_others(xp: Any, attrs: Attrs, x: Any) -> Any:
    axes = _axes(attrs, x)
    is_zero = x == 0
    filled = xp.where(is_zero, xp.ones_like(x), x)
    zeros = is_zero.sum(axis=axes, keepdims=True)
    nonzero = filled.prod(axis=axes, dtype=x.dtype, keepdims=True)
    return xp.where(zeros == is_zero, nonzero / filled, xp.zeros_like(x))


def _prod_others_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    """By element j: the sum over i != j of head i times the product of all but i and j, also where elements are 0.

    With the zeros replaced by 1 in `filled`: if there is no 0 beside j, every i counts with nonzero / (filled i filled
    j); if there is one, only that one; if there are more, none.
    """
    x, head = node.inputs[0], heads[0]
    axes = {"axis": node.attrs.axis, "exclude": node.attrs.exclude, "keepdims": True}
    is_zero = F._equal_scalar(x, scalar=0.0)
    filled = F.where(is_zero, F.ones_like(x), x)

    def others(values: Any) -> Any:
        return F._spread(F.sum(values, **axes), x, **axes) - values

    zeros = others(is_zero)
    at_numbers = others(F.where(is_zero, F.zeros_like(x), head / filled)) * F._equal_scalar(zeros, scalar=0.0)
    at_zero = others(head * is_zero) * F._equal_scalar(zeros, scalar=1.0)
    nonzero = F._spread(F.prod(filled, **axes), x, **axes)
    return nonzero / filled * (at_numbers + at_zero)


def _cut_rows(attrs: Attrs, ins: Shapes) -> tuple[int, ...]:
    shape = ins[0]
    return () if shape is None or 0 in reduced_axes(attrs.axis, len(shape), attrs.exclude) else (0,)


def _record(
    name: str,
    kernel: Callable[..., Any],
    gradient: Gradient,
    doc: str,
    aliases: tuple[str, ...] = (),
    samples: tuple[Sample, ...] = (),
    fast: Template | None = None,
) -> OpDef:
    return OpDef(
        name,
        kernel,
        attrs=REDUCE_ATTRS,
        infer_shape=infer_reduced,
        grad=gradient,
        fast=fast,
        by_rows=_cut_rows,
        aliases=aliases,
        methods=(name,),
        doc=f"{doc} over `axis`, an int or a tuple (default: all axes, which leaves shape (1,)).",
        samples=(*_SAMPLES, *samples),
    )


_NANS = Sample(((2, 3),), {"axis": 1}, values={0: [[1.0, float("nan"), 2.0], [3.0, 0.5, float("nan")]]}, nograd=(0,))
_ZEROS = Sample(((3, 3),), {"axis": 1}, values={0: [[1.0, 0.0, 2.0], [3.0, 0.5, -1.0], [0.0, 2.0, 3.0]]})

OPERATORS: tuple[OpDef, ...] = (
    _record("sum", _sum, _sum_gradient, "The sum", ("_sparse_sum", "sum_axis"), _EMPTY, _sum_lines),
    _record("mean", _mean, _mean_gradient, "The mean", ("_sparse_mean",)),
    _record("prod", _prod, _prod_gradient, "The product", (), (*_EMPTY, _ZEROS)),
    _record("nansum", _nansum, _nansum_gradient, "The sum, NaN counting as 0,", (), (*_EMPTY, _NANS)),
    _record("nanprod", _nanprod, _nanprod_gradient, "The product, NaN counting as 1,", (), (*_EMPTY, _NANS)),
    _record("max", _max, _extreme_gradient, "The largest element", ("max_axis",)),
    _record("min", _min, _extreme_gradient, "The smallest element", ("min_axis",)),
    OpDef(
        "_prod_others",
        _prod_others,
        attrs=tuple(a for a in REDUCE_ATTRS if a.name != "keepdims"),
        grad=_prod_others_gradient,
        doc="For every element the product of the others along `axis`: the derivative of `prod`, also at 0.",
        samples=(
            Sample(((2, 3, 4),)),
            Sample(((1,),)),
            Sample(((0, 3),), {"axis": -1}),
            Sample(((2, 3),), {"axis": 0, "exclude": True}),
            Sample(((3, 3),), {"axis": 1}, low=0.5, high=2),
        ),
    ),
    OpDef(
        "_spread",
        _spread,
        inputs=("data", "like"),
        attrs=(*REDUCE_ATTRS, Attr("average", "bool", False)),
        infer_shape=_infer_spread,
        grad=_spread_gradient,
        view=True,
        doc="`data`, a reduction of an array shaped as `like`, repeated to the shape of `like`; with `average` divided "
        "by the number of repetitions. The gradient of sum and mean.",
        samples=(
            Sample(((1,), (2, 3)), nograd=(1,)),
            Sample(((2,), (2, 3)), {"axis": -1, "average": True}, nograd=(1,)),
            Sample(((2, 1), (2, 3)), {"axis": 1, "keepdims": True}, nograd=(1,)),
            Sample(((3,), (2, 3, 4)), {"axis": 1, "exclude": True}, nograd=(1,)),
            Sample(((3,), (0, 3)), {"axis": 0}, nograd=(1,)),
        ),
    ),
)
