"""CTCLoss: connectionist temporal classification, in log space, over a whole batch at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.dual import Dual, value_of
from autohybrid.tensor.dual_namespace import DualNamespace
from autohybrid.tensor.opdef import Dtypes, GradNode, OpDef, Sample, Shape, Shapes
from autohybrid.tensor.precision import narrow, widen
from autohybrid.tensor.shapes import require_floating, require_known, unify

_ATTRS = (
    Attr("use_data_lengths", "bool", False),
    Attr("use_label_lengths", "bool", False),
    Attr("blank_label", "enum", "first", ("first", "last")),
)


def _inputs(attrs: Attrs) -> tuple[str, ...]:
    names = ["data", "label"]
    if attrs.use_data_lengths:
        names.append("data_lengths")
    if attrs.use_label_lengths:
        names.append("label_lengths")
    return tuple(names)


def _infer_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    require_known(_inputs(attrs)[:2], ins)
    data, label = ins[:2]
    assert data is not None and label is not None
    if len(data) != 3:
        raise MXNetError(f"data must have 3 dimensions (time, batch, classes), got {data}")
    if len(label) != 2:
        raise MXNetError(f"`label` must have 2 dimensions (batch, labels), got {label}")
    batch = unify(data[1:2], label[:1])
    if -1 not in (data[0], label[1]) and label[1] > data[0]:
        raise MXNetError(f"there are more labels ({label[1]}) than steps ({data[0]})")
    assert batch is not None
    known = [(data[0], batch[0], data[2]), (batch[0], label[1]), *[unify(s, batch) for s in ins[2:]]]
    return known, [unify(batch, outs[0])]


def _infer_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Sequence[str | None], Sequence[str | None]]:
    return ins, [require_floating(ins[0])]


class _Paths(NamedTuple):
    """The label sequences with blanks between: all (batch, 2 labels + 1)."""

    classes: Any  # what is emitted
    valid: Any  # which positions belong to the sequence
    skips: Any  # where the position two before may be followed directly
    last: Any  # the index of the last position, (batch,)
    steps: Any  # the number of steps, (batch,)


def _paths(xp: Any, attrs: Attrs, data: Any, label: Any, lengths: Sequence[Any]) -> _Paths:
    label = label.astype(xp.int64)
    batch, width = label.shape
    blank = 0 if attrs.blank_label == "first" else data.shape[2] - 1
    steps = xp.full((batch,), data.shape[0])
    if attrs.use_data_lengths:
        steps = lengths[0].astype(xp.int64)
    if attrs.use_label_lengths:
        counts = lengths[-1].astype(xp.int64)
    else:
        padding = 0 if attrs.blank_label == "first" else -1
        counts = xp.cumprod((label != padding).astype(xp.int64), axis=1).sum(axis=1)
    classes = xp.full((batch, 2 * width + 1), blank)
    classes[:, 1::2] = xp.where(xp.arange(width) < counts[:, None], label, blank)
    skips = xp.zeros(classes.shape, dtype=bool)
    skips[:, 2:] = (classes[:, 2:] != blank) & (classes[:, 2:] != classes[:, :-2])
    positions = xp.arange(classes.shape[1])
    return _Paths(classes, positions < (2 * counts + 1)[:, None], skips, 2 * counts, steps)


def _log_softmax(xp: Any, data: Any) -> Any:
    result = data - value_of(data).max(axis=2, keepdims=True)
    return result - xp.log(xp.exp(result).sum(axis=2, keepdims=True))


def _shifted(xp: Any, scores: Any, by: int) -> Any:
    """`scores` moved `by` positions along the sequence, -inf where nothing comes in."""
    result = xp.full(scores.shape, -xp.inf, dtype=scores.dtype)
    if by > 0:
        result[:, by:] = scores[:, :-by]
    else:
        result[:, :by] = scores[:, -by:]
    return result


def _forward_scores(xp: Any, emitted: Any, paths: _Paths) -> Any:
    """For each step the log probability of all prefixes that end at each position: (time, batch, positions)."""
    steps = emitted.shape[0]
    scores = xp.full(emitted.shape, -xp.inf, dtype=emitted.dtype)
    start = xp.arange(emitted.shape[2]) < 2
    scores[0] = xp.where(start & paths.valid, emitted[0], -xp.inf)
    for t in range(1, steps):
        before = scores[t - 1]
        total = xp.logaddexp(before, _shifted(xp, before, 1))
        total = xp.logaddexp(total, xp.where(paths.skips, _shifted(xp, before, 2), -xp.inf))
        moved = xp.where(paths.valid, total + emitted[t], -xp.inf)
        scores[t] = xp.where((t < paths.steps)[:, None], moved, before)
    return scores


def _backward_scores(xp: Any, emitted: Any, paths: _Paths) -> Any:
    """For each step the log probability of all ways to finish from each position: (time, batch, positions)."""
    steps, _, width = emitted.shape
    positions = xp.arange(width)
    final = (positions == paths.last[:, None]) | (positions == paths.last[:, None] - 1)
    end = xp.where(final, 0.0, -xp.inf).astype(emitted.dtype)
    scores = xp.full(emitted.shape, -xp.inf, dtype=emitted.dtype)
    skips = xp.zeros(paths.skips.shape, dtype=bool)
    skips[:, :-2] = paths.skips[:, 2:]
    scores[steps - 1] = end
    for t in range(steps - 2, -1, -1):
        after = scores[t + 1] + emitted[t + 1]
        total = xp.logaddexp(after, _shifted(xp, after, -1))
        total = xp.logaddexp(total, xp.where(skips, _shifted(xp, after, -2), -xp.inf))
        moved = xp.where(paths.valid, total, -xp.inf)
        scores[t] = xp.where((t < paths.steps - 1)[:, None], moved, end)
    return scores


def _log_likelihood(xp: Any, scores: Any, paths: _Paths) -> Any:
    rows, last = xp.arange(scores.shape[1]), scores[-1]
    before = xp.where(paths.last > 0, last[rows, xp.maximum(paths.last - 1, 0)], -xp.inf)
    return xp.logaddexp(last[rows, paths.last], before)


def _emitted(xp: Any, data: Any, paths: _Paths) -> Any:
    return xp.take_along_axis(_log_softmax(xp, data), paths.classes[None], axis=2)


def _kernel(xp: Any, attrs: Attrs, data: Any, label: Any, *lengths: Any) -> Any:
    (x,) = widen(xp, data)
    paths = _paths(xp, attrs, x, label, lengths)
    likelihood = _log_likelihood(xp, _forward_scores(xp, _emitted(xp, x, paths), paths), paths)
    loss = xp.where(xp.isfinite(likelihood), -likelihood, 0)  # too few steps for the labels: 0, as in MXNet
    return narrow(loss.astype(x.dtype, copy=False), data)


def _grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    settings = {attr.name: getattr(node.attrs, attr.name) for attr in _ATTRS}
    return [F._backward_CTCLoss(heads[0], *node.inputs, **settings), *[None] * (len(node.inputs) - 1)]


def _backward(xp: Any, attrs: Attrs, head: Any, data: Any, label: Any, *lengths: Any) -> Any:
    (x,) = widen(xp, data)
    paths = _paths(xp, attrs, x, label, lengths)
    emitted = _emitted(xp, x, paths)
    scores = _forward_scores(xp, emitted, paths)
    total = _log_likelihood(xp, scores, paths)
    reached = xp.where(xp.isfinite(total), total, 0)[:, None]
    visits = xp.exp(scores + _backward_scores(xp, emitted, paths) - reached)
    one_hot = (paths.classes[:, :, None] == xp.arange(x.shape[2])).astype(x.dtype)
    occupied = xp.matmul(visits.transpose(1, 0, 2), one_hot).transpose(1, 0, 2)
    result = xp.exp(_log_softmax(xp, x)) - occupied
    counts = (xp.arange(x.shape[0])[:, None] < paths.steps) & xp.isfinite(total)
    # steps behind the end may hold anything, NaN too
    return narrow(xp.where(counts[:, :, None], result * head[:, None], x.dtype.type(0)), data)


def _backward_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    return ins, [unify(ins[1], outs[0])]


def _backward_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    settings = {attr.name: getattr(node.attrs, attr.name) for attr in _ATTRS}
    found = F._second_CTCLoss(heads[0], *node.inputs, **settings)
    return [*found, *[None] * (len(node.inputs) - 2)]


def _second(xp: Any, attrs: Attrs, direction: Any, head: Any, data: Any, *labels: Any) -> tuple[Any, Any]:
    """<direction, backward> has as gradients the derivatives along `direction` of the loss and of backward itself."""
    duals, x = DualNamespace(xp), Dual(data, direction)
    loss, gradient = _kernel(duals, attrs, x, *labels), _backward(duals, attrs, head, x, *labels)
    return loss.tangent, gradient.tangent


def _second_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    return ins, [unify(ins[1], outs[0]), unify(ins[2], outs[1])]


_LABELS: dict[int, Any] = {1: [[1, 2, 0], [3, 3, 2]]}
_LENGTHS: dict[str, Any] = {"use_data_lengths": True, "use_label_lengths": True}

OPERATORS = (
    OpDef(
        "CTCLoss",
        _kernel,
        inputs=("data", "label", "data_lengths", "label_lengths"),
        attrs=_ATTRS,
        active_inputs=_inputs,
        outputs=("output0",),
        infer_shape=_infer_shape,
        infer_dtype=_infer_dtype,
        stored_outputs=lambda attrs: 2,
        grad=_grad,
        aliases=("_contrib_CTCLoss", "_contrib_ctc_loss", "ctc_loss"),
        doc="""-log of the probability of the labels (batch, labels) under data (time, batch, classes), softmax
        included: (batch,).

        The blank is class 0 and labels are padded with 0 (`blank_label='first'`), or it is the last class
        and the padding -1. Labels that need more steps than there are give 0 and no gradient.""",
        samples=(
            Sample(((6, 2, 5), (2, 3)), values=_LABELS, nograd=(1,)),
            Sample(((6, 2, 5), (2, 3)), {"blank_label": "last"}, values={1: [[1, 0, -1], [2, 2, 3]]}, nograd=(1,)),
            Sample(
                ((6, 2, 5), (2, 3), (2,), (2,)), _LENGTHS, values={**_LABELS, 2: [4, 6], 3: [2, 3]}, nograd=(1, 2, 3)
            ),
            Sample(((2, 1, 3), (1, 1)), values={1: [[0]]}, nograd=(1,)),
            Sample(((6, 2, 5), (3, 3)), error="MXNetError"),
        ),
    ),
    OpDef(
        "_backward_CTCLoss",
        _backward,
        inputs=("head", "data", "label", "data_lengths", "label_lengths"),
        attrs=_ATTRS,
        active_inputs=lambda attrs: ("head", *_inputs(attrs)),
        infer_shape=_backward_shape,
        infer_dtype=lambda attrs, ins, outs: (ins, [ins[1]]),
        grad=_backward_grad,
        doc="The gradient of CTCLoss for its data.",
        samples=(Sample(((2,), (6, 2, 5), (2, 3)), values={2: _LABELS[1]}, nograd=(2,)),),
    ),
    OpDef(
        "_second_CTCLoss",
        _second,
        inputs=("direction", "head", "data", "label", "data_lengths", "label_lengths"),
        attrs=_ATTRS,
        active_inputs=lambda attrs: ("direction", "head", *_inputs(attrs)),
        outputs=("head", "data"),
        infer_shape=_second_shape,
        infer_dtype=lambda attrs, ins, outs: (ins, [ins[1], ins[2]]),
        doc="The gradients of `_backward_CTCLoss` for its head and data.",
        samples=(Sample(((6, 2, 5), (2,), (6, 2, 5), (2, 3)), values={3: _LABELS[1]}),),
    ),
)
