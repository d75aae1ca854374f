"""contrib.hawkesll: the log likelihood of marked self-exciting point processes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attrs
from autohybrid.tensor.dual import Dual
from autohybrid.tensor.dual_namespace import DualNamespace
from autohybrid.tensor.opdef import Dtypes, GradNode, OpDef, Sample, Shape, Shapes
from autohybrid.tensor.shapes import require_floating, require_known, unify, unify_dtypes

_INPUTS = ("lda", "alpha", "beta", "state", "lags", "marks", "valid_length", "max_time")


def _infer_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    require_known(("lda", "lags"), (ins[0], ins[4]))
    rate, lags = ins[0], ins[4]
    assert rate is not None and lags is not None
    if len(rate) != 2 or len(lags) != 2:
        raise MXNetError(f"`lda` must have shape (batch, marks) and `lags` (batch, events), got {rate} and {lags}")
    batch, marks = rate
    unify(lags[:1], (batch,))
    found = ((batch, marks), (marks,), (marks,), (batch, marks), lags, lags, (batch,), (batch,))
    known = [unify(a, b) for a, b in zip(ins, found)]
    return known, [unify((batch,), outs[0]), unify((batch, marks), outs[1])]


def _infer_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Sequence[str | None], Sequence[str | None]]:
    dtype = require_floating(unify_dtypes([*ins[:5], *ins[6:], *outs]))
    if ins[5] not in (None, "int32"):
        raise MXNetError(f"`marks` must be int32, got {ins[5]}; convert it with `astype('int32')`")
    return [*[dtype] * 5, "int32", dtype, dtype], [dtype, dtype]


class _Event(NamedTuple):
    """One event of every sequence: its mark (one-hot), whether it counts, the time since the last one of its mark."""

    mark: Any
    elapsed: Any
    decay: Any
    state: Any
    rate: Any


def _pick(values: Any, mark: Any) -> Any:
    return (values * mark).sum(axis=1)


def _run(xp: Any, rate: Any, alpha: Any, beta: Any, state: Any, lags: Any, marks: Any, valid: Any, end: Any) -> Any:
    """Log likelihood, last state, the events, and for each mark the time from its last event to the end."""
    kinds = xp.arange(rate.shape[1])
    state, last = state.copy(), xp.zeros_like(state)
    total, now = xp.zeros_like(end), xp.zeros_like(end)
    events = []
    for step in range(lags.shape[1]):
        mark = ((marks[:, step : step + 1] == kinds) & (step < valid)[:, None]).astype(rate.dtype)
        now = now + lags[:, step]
        elapsed = now - _pick(last, mark)
        a, b, s, mu = _pick(alpha, mark), _pick(beta, mark), _pick(state, mark), _pick(rate, mark)
        decay = xp.exp(-b * elapsed)
        intensity = xp.where(step < valid, mu + a * b * s * decay, 1)
        total += xp.log(intensity) - (step < valid) * (mu * elapsed + a * s * (1 - decay))
        events.append(_Event(mark, elapsed, decay, s, intensity))
        state = xp.where(mark > 0, (1 + s * decay)[:, None], state)
        last = xp.where(mark > 0, now[:, None], last)
    rest = end[:, None] - last
    decay = xp.exp(-beta * rest)
    total -= (rate * rest + alpha * state * (1 - decay)).sum(axis=1)
    return total, decay * state, events, (state, rest, decay)


def _kernel(xp: Any, attrs: Attrs, *arrays: Any) -> tuple[Any, Any]:
    total, state, _, _ = _run(xp, *arrays)
    return total, state


def _grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    return [*F._backward_hawkesll(*heads, *node.inputs), None, None, None, None]


def _backward(xp: Any, attrs: Attrs, head: Any, state_head: Any, *arrays: Any) -> tuple[Any, ...]:
    alpha, beta = arrays[1:3]
    _, _, events, (state, rest, decay) = _run(xp, *arrays)
    g = head[:, None]
    to_rate, to_alpha = -g * rest, -g * state * (1 - decay)
    to_beta = (state_head * state + g * alpha * state) * (-rest * decay)
    to_state = state_head * decay - g * alpha * (1 - decay)
    for event in reversed(events):
        mark, d, e, s, intensity = event
        a, b = _pick(alpha, mark), _pick(beta, mark)
        counts = mark.sum(axis=1)
        share, later = head * counts / intensity, _pick(to_state, mark)
        to_decay = later * s + share * a * b * s + head * counts * a * s
        to_rate += mark * (share - head * counts * d)[:, None]
        to_alpha += mark * (share * b * s * e - head * counts * s * (1 - e))[:, None]
        to_beta += mark * (share * a * s * e - to_decay * d * e)[:, None]
        before = later * e + share * a * b * e - head * counts * a * (1 - e)
        to_state = xp.where(mark > 0, before[:, None], to_state)
    return to_rate, to_alpha.sum(axis=0), to_beta.sum(axis=0), to_state


def _backward_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    return ins, [unify(a, b) for a, b in zip(ins[2:6], outs)]


def _backward_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    return [*F._second_hawkesll(*heads, *node.inputs), None, None, None, None]


def _second(xp: Any, attrs: Attrs, *arrays: Any) -> tuple[Any, ...]:
    """<directions, backward> has as gradients the derivatives along the directions of the outputs, for the heads, and
    of backward itself."""
    directions, heads, values, fixed = arrays[:4], arrays[4:6], arrays[6:10], arrays[10:]
    moving = [Dual(value, along) for value, along in zip(values, directions)]
    duals = DualNamespace(xp)
    outputs = _kernel(duals, attrs, *moving, *fixed)
    gradients = _backward(duals, attrs, *heads, *moving, *fixed)
    return tuple(found.tangent for found in (*outputs, *gradients))


def _second_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    return ins, [unify(a, b) for a, b in zip(ins[4:10], outs)]


_SHAPES = ((2, 2), (2,), (2,), (2, 2), (2, 3), (2, 3), (2,), (2,))
_VALUES: dict[int, Any] = {5: [[0, 1, 0], [1, 1, 0]], 6: [3, 2], 7: [4, 5]}
_DTYPES = ("float32", "float32", "float32", "float32", "float32", "int32", "float32", "float32")

OPERATORS = (
    OpDef(
        "_contrib_hawkesll",
        _kernel,
        inputs=_INPUTS,
        outputs=("output", "out_state"),
        infer_shape=_infer_shape,
        infer_dtype=_infer_dtype,
        grad=_grad,
        doc="""The log likelihood (batch,) of events with exponentially decaying self-excitation, and the last
        state.

        `lda` (batch, marks) are background rates, `alpha` and `beta` (marks,) branching ratio and decay,
        `state` (batch, marks) the excitation at the start, `lags` and int32 `marks` (batch, events) the
        events, of which `valid_length` count, `max_time` (batch,) the end of the observation.""",
        samples=(
            Sample(_SHAPES, low=0.2, high=1, dtypes=_DTYPES, values=_VALUES, nograd=(4, 5, 6, 7)),
            Sample(((2, 2), (3,), *_SHAPES[2:]), dtypes=_DTYPES, values=_VALUES, error="MXNetError"),
        ),
    ),
    OpDef(
        "_backward_hawkesll",
        _backward,
        inputs=("head", "state_head", *_INPUTS),
        outputs=("lda", "alpha", "beta", "state"),
        infer_shape=_backward_shape,
        infer_dtype=lambda attrs, ins, outs: (ins, [ins[0]] * 4),
        grad=_backward_grad,
        doc="The gradients of hawkesll for rates, branching ratios, decays and the state.",
        samples=(
            Sample(
                ((2,), (2, 2), *_SHAPES),
                low=0.2,
                high=1,
                dtypes=("float32", "float32", *_DTYPES),
                values={k + 2: v for k, v in _VALUES.items()},
                nograd=(6, 7, 8, 9),
            ),
        ),
    ),
    OpDef(
        "_second_hawkesll",
        _second,
        inputs=(*[f"{name}_direction" for name in _INPUTS[:4]], "head", "state_head", *_INPUTS),
        outputs=("head", "state_head", *_INPUTS[:4]),
        infer_shape=_second_shape,
        infer_dtype=lambda attrs, ins, outs: (ins, [ins[0]] * 6),
        doc="The gradients of `_backward_hawkesll` for its heads, rates, branching ratios, decays and the state.",
        samples=(
            Sample(
                (*_SHAPES[:4], (2,), (2, 2), *_SHAPES),
                low=0.2,
                high=1,
                dtypes=(*["float32"] * 6, *_DTYPES),
                values={k + 6: v for k, v in _VALUES.items()},
            ),
        ),
    ),
)
