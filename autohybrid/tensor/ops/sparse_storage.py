"""Operators about storage types: cast_storage, _sparse_retain, _contrib_getnnz.

The kernels see dense values; what they do to the stored parts of sparse arrays is in `tensor/sparse_calls.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import GradNode, OpDef, Sample, Shapes
from autohybrid.tensor.shapes import first_dtype, fixed_dtype, unify


def _cast_storage(xp: Any, attrs: Attrs, data: Any) -> Any:
    return data.copy()


def _grad_cast_storage(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return heads[0]


def _infer_retain(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    shape = unify(ins[0], outs[0])
    return [shape, ins[1]], [shape]


def _retain(xp: Any, attrs: Attrs, data: Any, indices: Any) -> Any:
    result = xp.zeros(data.shape, dtype=data.dtype)
    rows = indices.reshape(-1).astype("int64")
    result[rows] = data[rows]
    return result


def _grad_retain(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    return [F._backward_sparse_retain(heads[0], node.inputs[1]), None]


def _grad_backward_retain(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    return [F._backward_sparse_retain(heads[0], node.inputs[1]), None]


def _infer_count(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    if attrs.axis not in (None, 1):
        raise MXNetError(f"getnnz counts all stored values, or by rows with `axis=1`; got `axis` {attrs.axis}")
    if attrs.axis is None:
        return ins, [unify((1,), outs[0])]
    return ins, [unify(outs[0], None if ins[0] is None else ins[0][:1])]


def _count(xp: Any, attrs: Attrs, data: Any) -> Any:
    stored = (data != 0).astype("int64")
    return stored.sum().reshape(1) if attrs.axis is None else stored.sum(axis=1)


_ROWS = (
    Sample(((3, 2), (2,)), values={1: [0, 2]}, nograd=(1,)),
    Sample(((1,), (1,)), values={1: [0]}, nograd=(1,)),
    Sample(((3, 0), (1,)), values={1: [1]}, nograd=(1,)),
)

OPERATORS: tuple[OpDef, ...] = (
    OpDef(
        "cast_storage",
        _cast_storage,
        attrs=(Attr("stype", "enum", choices=("default", "csr", "row_sparse")),),
        grad=_grad_cast_storage,
        aliases=("_sparse_cast_storage",),
        stores_sparse=True,
        doc="`data` in another storage type. In a graph storage is dense, and the values pass unchanged.",
        samples=(
            Sample(((2, 3),), {"stype": "default"}),
            Sample(((1,),), {"stype": "default"}),
            Sample(((0, 2),), {"stype": "default"}),
            Sample(((2, 3),), {"stype": "coo"}, error="MXNetError"),
        ),
    ),
    OpDef(
        "_sparse_retain",
        _retain,
        inputs=("data", "indices"),
        infer_shape=_infer_retain,
        infer_dtype=first_dtype,
        grad=_grad_retain,
        stores_sparse=True,
        doc="A row_sparse array with only the slices at `indices` kept, the others zero.",
        samples=(Sample(((3, 2), (2,)), values={1: [0, 2]}, error="MXNetError"),),
    ),
    OpDef(
        "_backward_sparse_retain",
        _retain,
        inputs=("head", "indices"),
        infer_shape=_infer_retain,
        infer_dtype=first_dtype,
        grad=_grad_backward_retain,
        doc="`head` with only the slices at `indices` kept, the others zero: the gradient of `_sparse_retain`.",
        samples=_ROWS,
    ),
    OpDef(
        "_contrib_getnnz",
        _count,
        attrs=(Attr("axis", "int?", None, doc="1: for each row"),),
        infer_shape=_infer_count,
        infer_dtype=fixed_dtype("int64"),
        doc="The number of stored values of a csr matrix (of values other than 0 in a dense one), as int64.",
        samples=(
            Sample(((3, 2),)),
            Sample(((3, 2),), {"axis": 1}),
            Sample(((0, 2),)),
            Sample(((3, 2),), {"axis": 0}, error="MXNetError"),
        ),
    ),
)
