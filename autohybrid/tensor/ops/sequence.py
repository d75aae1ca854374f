"""SequenceMask, SequenceLast and SequenceReverse: sequences of different lengths in one array (time, batch, ...)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import Dtypes, GradNode, OpDef, Sample, Shape, Shapes
from autohybrid.tensor.shapes import unify, unify_dtypes

_USE = Attr("use_sequence_length", "bool", False)
_AXIS = Attr("axis", "int", 0)


def _inputs(attrs: Attrs) -> tuple[str, ...]:
    return ("data", "sequence_length") if attrs.use_sequence_length else ("data",)


def _check(attrs: Attrs, data: tuple[int, ...], axes: tuple[int, ...] = (0, 1)) -> None:
    if attrs.axis not in axes:
        raise MXNetError(f"`axis` must be {' or '.join(map(str, axes))}, got {attrs.axis}")
    if len(data) < 2:
        raise MXNetError(f"data must have at least 2 dimensions, got {data}")


def _lengths(attrs: Attrs, data: tuple[int, ...], ins: Shapes) -> list[Shape]:
    return [unify(ins[1], (data[1 - attrs.axis],))] if len(ins) > 1 else []


def _mask_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    data = unify(ins[0], outs[0])
    if data is None:
        return ins, outs
    _check(attrs, data)
    return [data, *_lengths(attrs, data, ins)], [data]


def _reverse_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    data = unify(ins[0], outs[0])
    if data is None:
        return ins, outs
    _check(attrs, data, (0,))
    return [data, *_lengths(attrs, data, ins)], [data]


def _last_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    data = ins[0]
    if data is None:
        return ins, outs
    _check(attrs, data)
    return [data, *_lengths(attrs, data, ins)], [unify((data[1 - attrs.axis], *data[2:]), outs[0])]


def _infer_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Sequence[str | None], Sequence[str | None]]:
    data = unify_dtypes([ins[0], outs[0]])
    return [data, *[d or data for d in ins[1:]]], [data]


def _whole(lengths: Any, xp: Any) -> Any:
    return lengths if lengths.dtype.kind in "iu" else lengths.astype(xp.int64)


def _mask(xp: Any, attrs: Attrs, data: Any, lengths: Any = None) -> Any:
    if lengths is None:
        return data.copy()
    steps = xp.arange(data.shape[attrs.axis])
    lengths = _whole(lengths, xp)
    kept = steps[:, None] < lengths if attrs.axis == 0 else steps < lengths[:, None]
    return xp.where(kept.reshape(*kept.shape, *[1] * (data.ndim - 2)), data, data.dtype.type(attrs.value))


def _mask_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    gradient = F.SequenceMask(
        heads[0], *node.inputs[1:], use_sequence_length=len(node.inputs) > 1, axis=node.attrs.axis
    )
    return [gradient] + [None] * (len(node.inputs) - 1)


def _last_subscript(xp: Any, attrs: Attrs, data: Any, lengths: Any) -> tuple[Any, Any]:
    """Subscripts of the first two axes that pick the last step of every sequence."""
    batch = xp.arange(data.shape[1 - attrs.axis])
    if lengths is None:
        last = xp.full(batch.shape, data.shape[attrs.axis] - 1)
    else:
        last = xp.clip(_whole(lengths, xp) - 1, 0, data.shape[attrs.axis] - 1)
    return (last, batch) if attrs.axis == 0 else (batch, last)


def _last(xp: Any, attrs: Attrs, data: Any, lengths: Any = None) -> Any:
    return data[_last_subscript(xp, attrs, data, lengths)]


def _last_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    gradient = F._backward_SequenceLast(heads[0], *node.inputs, **_settings(node))
    return [gradient] + [None] * (len(node.inputs) - 1)


def _settings(node: GradNode) -> dict[str, Any]:
    return {"use_sequence_length": node.attrs.use_sequence_length, "axis": node.attrs.axis}


def _last_backward(xp: Any, attrs: Attrs, head: Any, data: Any, lengths: Any = None) -> Any:
    result = xp.zeros(data.shape, dtype=head.dtype)
    result[_last_subscript(xp, attrs, data, lengths)] = head
    return result


def _last_backward_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    gradient = F.SequenceLast(heads[0], *node.inputs[2:], **_settings(node))
    return [gradient] + [None] * (len(node.inputs) - 1)


def _reverse(xp: Any, attrs: Attrs, data: Any, lengths: Any = None) -> Any:
    if lengths is None:
        return data[::-1].copy()
    steps, ends = xp.arange(data.shape[0])[:, None], _whole(lengths, xp)
    source = xp.where(steps < ends, ends - 1 - steps, steps)
    return data[source, xp.arange(data.shape[1])]


def _reverse_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    gradient = F.SequenceReverse(heads[0], *node.inputs[1:], use_sequence_length=node.attrs.use_sequence_length)
    return [gradient] + [None] * (len(node.inputs) - 1)


_LENGTHS: dict[int, Any] = {1: [1, 3, 4]}


def _samples(axis: bool) -> tuple[Sample, ...]:
    lengths: dict[str, Any] = {"use_sequence_length": True}
    second = (Sample(((3, 4, 2), (3,)), {**lengths, "axis": 1}, values=_LENGTHS, nograd=(1,)),) if axis else ()
    return (
        Sample(((4, 3, 2),)),
        Sample(((4, 3, 2), (3,)), lengths, values=_LENGTHS, nograd=(1,)),
        Sample(((4, 3), (3,)), lengths, values=_LENGTHS, dtypes=("float32", "int32"), nograd=(1,)),
        *second,
        Sample(((1, 1),)),
        Sample(((2, 0),)),
        Sample(((4, 3), (4,)), lengths, error="MXNetError"),
    )


OPERATORS = (
    OpDef(
        "SequenceMask",
        _mask,
        inputs=("data", "sequence_length"),
        attrs=(_USE, Attr("value", "float", 0.0), _AXIS),
        active_inputs=_inputs,
        infer_shape=_mask_shape,
        infer_dtype=_infer_dtype,
        grad=_mask_grad,
        aliases=("_npx_sequence_mask",),
        doc="""The data with `value` at steps at or past the length of each sequence; time is `axis` (0 or 1),
        batch the other.""",
        samples=_samples(True),
    ),
    OpDef(
        "SequenceLast",
        _last,
        inputs=("data", "sequence_length"),
        attrs=(_USE, _AXIS),
        active_inputs=_inputs,
        infer_shape=_last_shape,
        infer_dtype=_infer_dtype,
        grad=_last_grad,
        doc="The last step of each sequence: (batch, ...) from data whose time is `axis` (0 or 1).",
        samples=_samples(True),
    ),
    OpDef(
        "_backward_SequenceLast",
        _last_backward,
        inputs=("head", "data", "sequence_length"),
        attrs=(_USE, _AXIS),
        active_inputs=lambda attrs: ("head", *_inputs(attrs)),
        infer_shape=lambda attrs, ins, outs: (ins, [unify(ins[1], outs[0])]),
        infer_dtype=_infer_dtype,
        grad=_last_backward_grad,
        doc="The gradient of SequenceLast: the head at the last step of each sequence, zeros elsewhere.",
        samples=(
            Sample(((3, 2), (4, 3, 2), (3,)), {"use_sequence_length": True}, values={2: [1, 3, 4]}, nograd=(1, 2)),
        ),
    ),
    OpDef(
        "SequenceReverse",
        _reverse,
        inputs=("data", "sequence_length"),
        attrs=(_USE, _AXIS),
        active_inputs=_inputs,
        infer_shape=_reverse_shape,
        infer_dtype=_infer_dtype,
        grad=_reverse_grad,
        doc="Each sequence of data (time, batch, ...) reversed up to its length; what lies behind stays.",
        samples=_samples(False),
    ),
)
