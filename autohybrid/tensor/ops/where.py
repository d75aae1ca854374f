"""where: choose between two arrays; add_n: the sum of any number of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import Dtypes, GradNode, OpDef, Sample, Shapes
from autohybrid.tensor.shapes import require_known, unify, unify_all, unify_dtypes


def _aligned(condition: Any, ndim: int) -> Any:
    """A condition vector picks along the first axis."""
    return condition if condition.ndim == ndim else condition.reshape(condition.shape + (1,) * (ndim - 1))


def _where(xp: Any, attrs: Attrs, condition: Any, x: Any, y: Any) -> Any:
    return xp.where(_aligned(condition, x.ndim) != 0, x, y)


def _infer_where(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    condition = ins[0]
    data = unify_all([ins[1], ins[2], outs[0]])
    if condition is not None and len(condition) == 1:
        require_known(("x",), [data])
    if condition is not None and data is not None:
        if len(condition) == len(data):
            condition = data = unify(condition, data)
        elif len(condition) == 1:
            condition = unify(condition, data[:1])
        else:
            raise MXNetError(
                f"`condition` has shape {condition}, but x and y have shape {data}; it must have that shape, or be a "
                "vector as long as their first axis"
            )
    return [condition, data, data], [data]


def _where_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    dtype = unify_dtypes([*ins[1:], *outs])
    return [ins[0], dtype, dtype], [dtype]


def _where_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    condition, head = node.inputs[0], heads[0]
    nothing = F.zeros_like(head)
    return [None, F.where(condition, head, nothing), F.where(condition, nothing, head)]


def _add_n(xp: Any, attrs: Attrs, *arrays: Any) -> Any:
    return reduce(xp.add, arrays) if len(arrays) > 1 else arrays[0].copy()


def _add_n_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    return [heads[0]] * len(node.inputs)


OPERATORS: tuple[OpDef, ...] = (
    OpDef(
        "where",
        _where,
        inputs=("condition", "x", "y"),
        infer_shape=_infer_where,
        infer_dtype=_where_dtype,
        grad=_where_gradient,
        aliases=("_sparse_where",),
        doc="x where `condition` is not 0, else y (arrays of one shape). `condition` has their shape, or is a vector "
        "that picks along their first axis; unlike NumPy's nothing is broadcast.",
        samples=(
            Sample(((1,), (1,), (1,)), values={0: [1.0]}, nograd=(0,)),
            Sample(((2, 3), (2, 3), (2, 3)), values={0: [[1, 0, 1], [0, 2, 0]]}, nograd=(0,)),
            Sample(((2,), (2, 3), (2, 3)), values={0: [0.0, -1.0]}, nograd=(0,)),
            Sample(((0, 3), (0, 3), (0, 3)), nograd=(0,)),
            Sample(((2, 3), (2, 3), (2, 1)), error="MXNetError"),
            Sample(((3,), (2, 3), (2, 3)), error="MXNetError"),
        ),
    ),
    OpDef(
        "add_n",
        _add_n,
        inputs=("args",),
        attrs=(Attr("num_args", "int"),),
        variadic="num_args",
        grad=_add_n_gradient,
        aliases=("ElementWiseSum", "_sparse_ElementWiseSum", "_sparse_add_n"),
        doc="The sum of any number of arrays of one shape and dtype.",
        samples=(
            Sample(((2, 3), (2, 3), (2, 3))),
            Sample(((1,),)),
            Sample(((0, 2), (0, 2))),
            Sample(((2, 3), (3, 3)), error="MXNetError"),
        ),
    ),
)
