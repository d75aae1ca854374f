"""What recurrent layers become in ONNX: a node for each layer of the stack."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from autohybrid.interop.onnx.graph_writer import Call, Host

#: ONNX's operator, and where its gates are among those of MXNet.
_MODES: dict[str, tuple[str, tuple[int, ...]]] = {
    "lstm": ("LSTM", (0, 3, 1, 2)),
    "gru": ("GRU", (1, 0, 2)),
    "rnn_tanh": ("RNN", (0,)),
    "rnn_relu": ("RNN", (0,)),
}


@dataclass(frozen=True, slots=True)
class _Weights:
    """Of one layer, all directions: to the inputs (D, gates * units, width), to the state, and the biases of both."""

    inner: Host
    outer: Host
    biases: Host


def _rnn(call: Call) -> None:
    attrs = call.attrs
    if attrs.projection_size or attrs.lstm_state_clip_min is not None or attrs.lstm_state_clip_max is not None:
        raise call.refuse("it projects or clips its state")
    if attrs.use_sequence_length:
        raise call.refuse("its sequences have lengths of their own")
    kind, _ = _MODES[attrs.mode]
    count, units = 2 if attrs.bidirectional else 1, attrs.state_size
    more: dict[str, Any] = {"linear_before_reset": 1} if kind == "GRU" else {}
    if attrs.mode == "rnn_relu":
        more = {"activations": ["Relu"] * count}
    data, finals = call.inputs[0], []
    for layer, weights in enumerate(_layers(call, count)):
        constants = [call.constant(part) for part in (weights.inner, weights.outer, weights.biases)]
        begins = [_rows(call, state, layer * count, count) for state in call.inputs[2:]]
        outputs = [call.writer.fresh(call.node.name) for _ in range(1 + len(begins))]
        call.writer.emit(
            kind, [data, *constants, "", *begins], outputs, f"{call.node.name}/{layer}", hidden_size=units,
            direction="bidirectional" if count == 2 else "forward", **more,
        )  # fmt: skip
        data = call.add("Reshape", call.add("Transpose", outputs[0], perm=[0, 2, 1, 3]), call.whole([0, 0, -1]))
        finals.append(outputs[1:])
    call.writer.emit("Identity", [data], [call.outputs[0]], call.node.name)
    for output, states in zip(call.outputs[1:], zip(*finals)):
        call.writer.emit("Concat", list(states), [output], output, axis=0)


def _rows(call: Call, state: str, start: int, count: int) -> str:
    return call.add("Slice", state, call.whole([start]), call.whole([start + count]), call.whole([0]))


def _layers(call: Call, count: int) -> Iterator[_Weights]:
    """MXNet's one vector taken apart: the weights of all layers, then the biases of all."""
    attrs = call.attrs
    _, gates = _MODES[attrs.mode]
    units, packed = attrs.state_size, call.known(1)
    rows = len(gates) * units
    widths = [call.shapes[0][2]] + [count * units] * (attrs.num_layers - 1)
    place = 0

    def take(*shape: int) -> Host:
        nonlocal place
        start, place = place, place + int(np.prod(shape))
        return packed[start:place].reshape(len(gates), units, *shape[1:])[list(gates)].reshape(shape)

    weights = [[(take(rows, width), take(rows, units)) for _ in range(count)] for width in widths]
    biases = [[np.concatenate([take(rows), take(rows)]) for _ in range(count)] for _ in widths]
    for pairs, shifts in zip(weights, biases):
        yield _Weights(np.stack([each for each, _ in pairs]), np.stack([each for _, each in pairs]), np.stack(shifts))


RECURRENT: dict[str, Callable[[Call], None]] = {"RNN": _rnn}
