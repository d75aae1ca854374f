"""The interleaved products of multi-head attention: heads stored side by side, queries, keys and values interleaved."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import GradNode, OpDef, Sample, Shape, Shapes
from autohybrid.tensor.precision import matmul
from autohybrid.tensor.shapes import require_known, same_floating, unify, unify_dim

_HEADS = (Attr("heads", "int"),)


def _parts(attrs: Attrs, name: str, shape: tuple[int, ...], count: int) -> tuple[int, int, int]:
    """Length, batch and width of one of `count` interleaved parts."""
    if len(shape) != 3:
        raise MXNetError(f"`{name}` must have 3 dimensions (length, batch, width), got {shape}")
    if attrs.heads < 1 or (shape[2] != -1 and shape[2] % (count * attrs.heads)):
        raise MXNetError(
            f"the width {shape[2]} of `{name}` is not a multiple of {count} parts times {attrs.heads} heads"
        )
    return shape[0], shape[1], -1 if shape[2] == -1 else shape[2] // count


def _batches(attrs: Attrs, batch: int) -> int:
    return -1 if batch == -1 else batch * attrs.heads


def _self_qk_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    if ins[0] is None:
        return ins, outs
    length, batch, _ = _parts(attrs, "queries_keys_values", ins[0], 3)
    return ins, [unify((_batches(attrs, batch), length, length), outs[0])]


def _valatt_shape(count: int, names: tuple[str, str]) -> Any:
    def infer(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
        require_known(names, ins)
        source, attention = ins
        assert source is not None and attention is not None
        length, batch, width = _parts(attrs, names[0], source, count)
        attention = unify(attention, (_batches(attrs, batch), -1, length))
        assert attention is not None
        return [source, attention], [unify((attention[1], batch, width), outs[0])]

    return infer


def _cross_qk_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    require_known(("queries", "keys_values"), ins)
    queries, both = ins
    assert queries is not None and both is not None
    length, batch, width = _parts(attrs, "queries", queries, 1)
    other, other_batch, other_width = _parts(attrs, "keys_values", both, 2)
    unify_dim(batch, other_batch, queries, both)
    unify_dim(width, other_width, queries, both)
    return ins, [unify((_batches(attrs, batch), length, other), outs[0])]


def _split(attrs: Attrs, x: Any, count: int) -> list[Any]:
    """The interleaved parts of (length, batch, heads * count * depth), each as a view (batch, heads, length, depth)."""
    length, batch, width = x.shape
    parts = x.reshape(length, batch, attrs.heads, count, width // (attrs.heads * count))
    return [parts[:, :, :, i].transpose(1, 2, 0, 3) for i in range(count)]


def _scores(xp: Any, queries: Any, keys: Any) -> Any:
    batch, heads, length, depth = queries.shape
    queries = queries * queries.dtype.type(1 / math.sqrt(depth))
    return matmul(xp, queries, keys.swapaxes(2, 3)).reshape(batch * heads, length, keys.shape[2])


def _weighted(xp: Any, attention: Any, values: Any) -> Any:
    batch, heads, _, depth = values.shape
    length = attention.shape[1]
    result = matmul(xp, attention.reshape(batch, heads, *attention.shape[1:]), values)
    return result.transpose(2, 0, 1, 3).reshape(length, batch, heads * depth)


def _self_qk(xp: Any, attrs: Attrs, x: Any) -> Any:
    queries, keys, _ = _split(attrs, x, 3)
    return _scores(xp, queries, keys)


def _self_valatt(xp: Any, attrs: Attrs, x: Any, attention: Any) -> Any:
    return _weighted(xp, attention, _split(attrs, x, 3)[2])


def _cross_qk(xp: Any, attrs: Attrs, queries: Any, both: Any) -> Any:
    return _scores(xp, _split(attrs, queries, 1)[0], _split(attrs, both, 2)[0])


def _cross_valatt(xp: Any, attrs: Attrs, both: Any, attention: Any) -> Any:
    return _weighted(xp, attention, _split(attrs, both, 2)[1])


# -- gradients ---------------------------------------------------------------------------------------------------------


def _parts_of(F: Any, x: Any, heads: int, count: int) -> list[Any]:
    """The interleaved parts as (batch * heads, length, depth)."""
    split = F.transpose(F.Reshape(x, shape=(0, 0, heads, count, -1)), axes=(3, 1, 2, 0, 4))
    return [_one(F, split, i) for i in range(count)]


def _one(F: Any, split: Any, index: int) -> Any:
    part = F.Reshape(F.slice_axis(split, axis=0, begin=index, end=index + 1), shape=(-3, 0, 0, 0))
    return F.Reshape(part, shape=(-3, 0, 0))


def _interleaved(F: Any, parts: Sequence[Any], heads: int) -> Any:
    """The inverse of `_parts_of`."""
    moved = [F.transpose(F.Reshape(p, shape=(-4, -1, heads, 0, 0)), axes=(2, 0, 1, 3)) for p in parts]
    stacked = F.Concat(*[F.expand_dims(p, axis=3) for p in moved], dim=3)
    return F.Reshape(F.Reshape(stacked, shape=(0, 0, 0, -3)), shape=(0, 0, -3))


def _score_grads(F: Any, queries: Any, keys: Any, head: Any) -> tuple[Any, Any]:
    scale = F._contrib_div_sqrt_dim
    return scale(F.batch_dot(head, keys)), F.batch_dot(head, scale(queries), transpose_a=True)


def _self_qk_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    n = node.attrs.heads
    queries, keys, values = _parts_of(F, node.inputs[0], n, 3)
    return _interleaved(F, [*_score_grads(F, queries, keys, heads[0]), F.zeros_like(values)], n)


def _cross_qk_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    n, (queries, both) = node.attrs.heads, node.inputs
    (keys, values), (query,) = _parts_of(F, both, n, 2), _parts_of(F, queries, n, 1)
    to_queries, to_keys = _score_grads(F, query, keys, heads[0])
    return [_interleaved(F, [to_queries], n), _interleaved(F, [to_keys, F.zeros_like(values)], n)]


def _valatt_grad(count: int) -> Any:
    def grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
        n, (source, attention) = node.attrs.heads, node.inputs
        *others, values = _parts_of(F, source, n, count)
        (head,) = _parts_of(F, heads[0], n, 1)
        to_values = F.batch_dot(attention, head, transpose_a=True)
        to_source = _interleaved(F, [*[F.zeros_like(part) for part in others], to_values], n)
        return [to_source, F.batch_dot(head, values, transpose_b=True)]

    return grad


def _score_flops(parts: int) -> Any:
    def flops(attrs: Attrs, ins: Shapes, out: tuple[int, ...]) -> int:
        source = ins[0]
        return 0 if source is None else 2 * math.prod(out) * (source[2] // (attrs.heads * parts))

    return flops


def _weighting_flops(attrs: Attrs, ins: Shapes, out: tuple[int, ...]) -> int:
    attention = ins[1]
    return 0 if attention is None else 2 * math.prod(attention) * (out[2] // attrs.heads)


_FLOPS = {
    "selfatt_qk": _score_flops(3),
    "encdec_qk": _score_flops(1),
    "selfatt_valatt": _weighting_flops,
    "encdec_valatt": _weighting_flops,
}


def _record(
    name: str, kernel: Any, inputs: tuple[str, ...], infer: Any, grad: Any, doc: str, shapes: Any, wrong: Any
) -> OpDef:
    return OpDef(
        f"_contrib_interleaved_matmul_{name}",
        kernel,
        inputs=inputs,
        attrs=_HEADS,
        infer_shape=infer,
        infer_dtype=same_floating,
        grad=grad,
        flops=_FLOPS[name],
        doc=doc,
        samples=(Sample(shapes, {"heads": 2}), Sample(wrong, {"heads": 2}, error="MXNetError")),
    )


OPERATORS = (
    _record(
        "selfatt_qk",
        _self_qk,
        ("queries_keys_values",),
        _self_qk_shape,
        _self_qk_grad,
        """Scores (batch * heads, length, length) of scaled dot product attention from interleaved queries,
            keys and values (length, batch, heads * 3 * depth).""",
        ((3, 2, 18),),
        ((3, 2, 17),),
    ),
    _record(
        "selfatt_valatt",
        _self_valatt,
        ("queries_keys_values", "attention"),
        _valatt_shape(3, ("queries_keys_values", "attention")),
        _valatt_grad(3),
        """Values weighted by `attention` (batch * heads, length, length): (length, batch, heads * depth),
            the values taken from interleaved queries, keys and values (length, batch, heads * 3 * depth).""",
        ((3, 2, 18), (4, 3, 3)),
        ((3, 2, 18), (4, 3, 2)),
    ),
    _record(
        "encdec_qk",
        _cross_qk,
        ("queries", "keys_values"),
        _cross_qk_shape,
        _cross_qk_grad,
        """Scores (batch * heads, length, other length) of queries (length, batch, heads * depth) with
            interleaved keys and values (other length, batch, heads * 2 * depth).""",
        ((3, 2, 6), (4, 2, 12)),
        ((3, 2, 6), (4, 3, 12)),
    ),
    _record(
        "encdec_valatt",
        _cross_valatt,
        ("keys_values", "attention"),
        _valatt_shape(2, ("keys_values", "attention")),
        _valatt_grad(2),
        """Values weighted by `attention` (batch * heads, length, other length): (length, batch, heads *
            depth), the values taken from interleaved keys and values.""",
        ((4, 2, 12), (4, 3, 4)),
        ((4, 2, 12), (3, 3, 4)),
    ),
)
