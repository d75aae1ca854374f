"""Operators that work on the stored elements of sparse arrays; on dense arrays all elements are stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attrs
from autohybrid.tensor.elementwise import SCALAR_ATTRS, divide, numeric_dtype, scalar_dtype, with_scalar
from autohybrid.tensor.opdef import GradNode, OpDef, Sample
from autohybrid.tensor.ops.reductions import spread
from autohybrid.tensor.reduction import REDUCE_ATTRS, infer_reduced


def _plus(xp: Any, attrs: Attrs, x: Any) -> Any:
    return xp.add(*with_scalar(x, attrs))


def _minus(xp: Any, attrs: Attrs, x: Any) -> Any:
    return xp.subtract(*with_scalar(x, attrs))


def _pass(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return heads[0]


def _div(xp: Any, attrs: Attrs, x: Any, y: Any) -> Any:
    return divide(xp, x, y)


def _div_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    share = heads[0] / node.inputs[1]
    return [share, F.negative(share * node.outputs[0])]


def _add(xp: Any, attrs: Attrs, x: Any, y: Any) -> Any:
    return xp.add(x, y)


def _square_sum(xp: Any, attrs: Attrs, x: Any) -> Any:
    raise MXNetError("`data` must be a row_sparse array; for a dense one write `data.square().sum(axis)`")


def _square_sum_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return spread(F, node, heads[0]) * node.inputs[0] * 2


_SHAPES: tuple[tuple[int, ...], ...] = ((1,), (2, 3), (3, 1, 5), (0, 2))

OPERATORS: tuple[OpDef, ...] = (
    OpDef(
        "_scatter_plus_scalar",
        _plus,
        attrs=SCALAR_ATTRS,
        infer_dtype=scalar_dtype,
        grad=_pass,
        doc="The stored elements plus a number.",
        samples=tuple(Sample((shape,), {"scalar": 1.5}) for shape in _SHAPES),
    ),
    OpDef(
        "_scatter_minus_scalar",
        _minus,
        attrs=SCALAR_ATTRS,
        infer_dtype=scalar_dtype,
        grad=_pass,
        doc="The stored elements minus a number.",
        samples=tuple(Sample((shape,), {"scalar": 1.5}) for shape in _SHAPES),
    ),
    OpDef(
        "_scatter_elemwise_div",
        _div,
        inputs=("lhs", "rhs"),
        infer_dtype=numeric_dtype,
        grad=_div_gradient,
        doc="The stored elements of lhs divided by those of rhs, an array of the same shape.",
        samples=tuple(Sample((shape, shape), low=0.5, high=2) for shape in _SHAPES),
    ),
    OpDef(
        "_grad_add",
        _add,
        inputs=("lhs", "rhs"),
        infer_dtype=numeric_dtype,
        doc="The sum of two gradients of one shape; not differentiable itself.",
        samples=tuple(Sample((shape, shape)) for shape in _SHAPES),
    ),
    OpDef(
        "_square_sum",
        _square_sum,
        attrs=REDUCE_ATTRS,
        infer_shape=infer_reduced,
        grad=_square_sum_gradient,
        doc="The sum of the squares over `axis` of a row_sparse array; a dense one is refused.",
        samples=(Sample(((2, 3),), {"axis": 1}, error="MXNetError"),),
    ),
)
