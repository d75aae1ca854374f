"""Embedding: rows of a table by index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import Dtypes, GradNode, OpDef, Sample, Shape, Shapes
from autohybrid.tensor.scatter import add_rows
from autohybrid.tensor.shapes import unify, unify_dtypes

_DTYPES = ("float32", "float64", "float16", "uint8", "int32", "int8", "int64")
_ATTRS = (
    Attr("input_dim", "int"),
    Attr("output_dim", "int"),
    Attr("dtype", "dtype", "float32", _DTYPES),
    Attr("sparse_grad", "bool", False),
)


def _infer_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    data, weight = ins[0], unify(ins[1], (attrs.input_dim, attrs.output_dim))
    if data is None:
        return ins, outs  # nothing follows before the rank of the data is known, as in MXNet
    return [data, weight], [unify((*data, attrs.output_dim), outs[0])]


def _infer_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Sequence[str | None], Sequence[str | None]]:
    weight = unify_dtypes([ins[1], outs[0]]) or attrs.dtype
    return [ins[0], weight], [weight]


def _rows(xp: Any, data: Any, count: int) -> Any:
    """Indices as integers, those out of range at the nearer end of the table."""
    index = data if data.dtype.kind in "iu" else data.astype(xp.int64)
    return xp.clip(index, 0, count - 1)


def _kernel(xp: Any, attrs: Attrs, data: Any, weight: Any) -> Any:
    return xp.take(weight, _rows(xp, data, weight.shape[0]), axis=0)


def _grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    return [None, F._backward_Embedding(heads[0], *node.inputs)]


def _backward(xp: Any, attrs: Attrs, head: Any, data: Any, weight: Any) -> Any:
    index = _rows(xp, data, weight.shape[0]).reshape(-1)
    return add_rows(xp, weight.shape[0], index, head.reshape(index.size, *weight.shape[1:]))


def _backward_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    return [F._embedding_like(node.inputs[1], heads[0]), None, None]


def _like_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    if ins[0] is None or ins[1] is None:
        return ins, outs
    return ins, [unify((*ins[0], *ins[1][1:]), outs[0])]


def _like_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Sequence[str | None], Sequence[str | None]]:
    return ins, [ins[1]]


def _like_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    return [None, F._backward_Embedding(heads[0], *node.inputs)]


def _backward_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Sequence[str | None], Sequence[str | None]]:
    return ins, [unify_dtypes([ins[0], ins[2]])]


_SAMPLES = (
    Sample(((4,), (6, 3)), {"input_dim": 6, "output_dim": 3}, values={0: [1, 5, 1, 0]}, nograd=(0,)),
    Sample(((1,), (1, 1)), {"input_dim": 1, "output_dim": 1}, values={0: [0]}, nograd=(0,)),
    Sample(
        ((2, 3), (5, 3)), {"input_dim": 5, "output_dim": 3}, low=-2, high=9, dtypes=("int32", "float32"), nograd=(0,)
    ),
    Sample(((0,), (5, 3)), {"input_dim": 5, "output_dim": 3}, nograd=(0,)),
    Sample(((2,), (6, 3)), {"input_dim": 7, "output_dim": 3}, error="MXNetError"),
)


def _record(name: str, aliases: tuple[str, ...], doc: str, *more: Attr) -> OpDef:
    return OpDef(
        name,
        _kernel,
        inputs=("data", "weight"),
        attrs=(*_ATTRS, *more),
        infer_shape=_infer_shape,
        infer_dtype=_infer_dtype,
        grad=_grad,
        by_rows=lambda attrs, ins: (0,),
        aliases=aliases,
        doc=doc,
        samples=_SAMPLES,
    )


OPERATORS = (
    _record(
        "Embedding",
        ("_npx_embedding", "_sparse_Embedding"),
        """Rows of `weight` (input_dim, output_dim) at the indices `data`: the output is data.shape + (output_dim,).

        Fractions are cut off; indices out of range take the first or the last row. Float indices are exact up to the
        integers that their dtype holds (2**24 in float32).""",
    ),
    _record(
        "_contrib_SparseEmbedding",
        (),
        "Embedding; kept for graphs that name it. Use `Embedding(sparse_grad=True)`.",
        Attr("deterministic", "bool", False, doc="without effect: gradients are the same at every call"),
    ),
    OpDef(
        "_backward_Embedding",
        _backward,
        inputs=("head", "data", "weight"),
        infer_shape=lambda attrs, ins, outs: (ins, [unify(ins[2], outs[0])]),
        infer_dtype=_backward_dtype,
        grad=_backward_grad,
        doc="The rows of `head` added up at the indices `data`, in the shape of `weight`.",
        samples=(Sample(((4, 3), (4,), (6, 3)), values={1: [1, 5, 1, 0]}, nograd=(1, 2)),),
    ),
    OpDef(
        "_embedding_like",
        _kernel,
        inputs=("data", "weight"),
        infer_shape=_like_shape,
        infer_dtype=_like_dtype,
        grad=_like_grad,
        doc="Embedding whose table may have any shape (rows, ...).",
        samples=(Sample(((4,), (6, 3)), values={0: [1, 5, 1, 0]}, nograd=(0,)),),
    ),
)
