"""Operators on graphs that a csr matrix stores: _contrib_edge_id, _contrib_dgl_adjacency.

A stored value at row u and column v is the number of the edge from u to v. The kernels see dense values, in which there
is an edge where the value is not 0; stored zeros count as edges too, see `tensor/sparse_calls.py`.
"""

from __future__ import annotations

from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attrs
from autohybrid.tensor.opdef import Dtypes, OpDef, Sample, Shapes
from autohybrid.tensor.shapes import fixed_dtype, unify


def _edge_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    if ins[0] is not None and len(ins[0]) != 2:
        raise MXNetError(f"`data` must be a matrix, got shape {ins[0]}")
    pairs = unify(unify(unify(ins[1], ins[2]), outs[0]), (-1,))
    return [ins[0], pairs, pairs], [pairs]


def _edge_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    return ins, [ins[0] or outs[0]]


def _edge_id(xp: Any, attrs: Attrs, data: Any, start: Any, end: Any) -> Any:
    rows, columns = start.astype("int64"), end.astype("int64")
    inside = (rows >= 0) & (rows < data.shape[0]) & (columns >= 0) & (columns < data.shape[1])
    if not data.size:
        return xp.full(rows.shape, -1, dtype=data.dtype)
    found = data[xp.where(inside, rows, 0), xp.where(inside, columns, 0)]
    return xp.where(inside & (found != 0), found, xp.full(1, -1, dtype=data.dtype))


def _adjacency_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    data = unify(ins[0], outs[0])
    if data is not None and len(data) != 2:
        raise MXNetError(f"`data` must be a matrix, got shape {data}")
    return [data], [data]


OPERATORS: tuple[OpDef, ...] = (
    OpDef(
        "_contrib_edge_id",
        _edge_id,
        inputs=("data", "u", "v"),
        infer_shape=_edge_shape,
        infer_dtype=_edge_dtype,
        doc="The number of the edge from each node of `u` to that of `v` in a csr matrix, -1 where there is none.",
        samples=(
            Sample(
                ((3, 3), (4,), (4,)), values={0: [[0, 5, 0], [7, 0, 2], [0, 0, 0]], 1: [0, 1, 1, 2], 2: [1, 1, 2, 0]}
            ),
            Sample(((3,), (4,), (4,)), error="MXNetError"),
        ),
    ),
    OpDef(
        "_contrib_dgl_adjacency",
        lambda xp, attrs, data: (data != 0).astype("float32"),
        infer_shape=_adjacency_shape,
        infer_dtype=fixed_dtype("float32"),
        doc="1 in float32 for each edge that a csr matrix of edge numbers stores.",
        samples=(Sample(((3, 3),), values={0: [[0, 5, 0], [7, 0, 2], [0, 0, 0]]}), Sample(((3,),), error="MXNetError")),
    ),
)
