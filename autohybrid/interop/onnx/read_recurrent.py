"""How recurrent layers of ONNX are read: as MXNet's `RNN`, with gates in its order."""

from __future__ import annotations

from typing import Any

import numpy as np

from autohybrid import symbol as sym
from autohybrid.interop.onnx.reader import Host, OnnxCall, Reading

#: Where MXNet's gates are among those of ONNX.
_GATES = {"lstm": (0, 2, 3, 1), "gru": (1, 0, 2), "rnn_tanh": (0,), "rnn_relu": (0,)}
_ACTIVATIONS = {
    "lstm": [b"Sigmoid", b"Tanh", b"Tanh"], "gru": [b"Sigmoid", b"Tanh"], "rnn_tanh": [b"Tanh"], "rnn_relu": [b"Relu"],
}  # fmt: skip


def _recurrent(mode: str) -> Reading:
    return lambda call: _read(call, mode)


def _rnn(call: OnnxCall) -> list[Any]:
    given = call.option("activations") or [b"Tanh"]
    return _read(call, "rnn_relu" if given[0] == b"Relu" else "rnn_tanh")


def _read(call: OnnxCall, mode: str) -> list[Any]:
    direction = call.option("direction", b"forward").decode()
    count, units = 2 if direction == "bidirectional" else 1, call.option("hidden_size")
    _refuse_variants(call, mode, count)
    data = call.data()
    if direction == "reverse":
        data = sym.reverse(data, axis=0)
    parameters = call.constant("parameters", _packed(call, mode, count))
    states = [_state(call, index, count, units) for index in ((5, 6) if mode == "lstm" else (5,))]
    result = sym.RNN(
        data, parameters, *states, state_size=units, num_layers=1, bidirectional=count == 2, mode=mode,
        state_outputs=True,
    )  # fmt: skip
    outputs = result[0] if direction != "reverse" else sym.reverse(result[0], axis=0)
    apart = sym.transpose(sym.reshape(outputs, shape=(0, 0, count, units)), axes=(0, 2, 1, 3))
    return [apart, *(result[index + 1] for index in range(len(states)))]


def _refuse_variants(call: OnnxCall, mode: str, count: int) -> None:
    given = call.option("activations")
    if given and list(given) != _ACTIVATIONS[mode] * count:
        raise call.refuse(f"its activations are {', '.join(each.decode() for each in given)}")
    if call.option("layout", 0):
        raise call.refuse("its batch comes before the time (layout=1)")
    if call.option("clip") is not None or call.option("input_forget", 0):
        raise call.refuse("it clips its gates, or joins those for input and forgetting")
    if mode == "gru" and not call.option("linear_before_reset", 0):
        raise call.refuse("it resets the state before the product with the weights (linear_before_reset=0)")
    if mode == "lstm" and call.has(7):
        raise call.refuse("its gates look at the cell (peepholes)")
    if call.has(4) and set(call.numbers(4, "sequence lengths")) != {call.shape()[0]}:
        raise call.refuse("its sequences end at different steps")


def _packed(call: OnnxCall, mode: str, count: int) -> Host:
    """MXNet's one vector: weights of all directions, then biases of all."""
    inner, outer = call.require(1, "weights"), call.require(2, "weights")
    units, gates = outer.shape[2], len(_GATES[mode])
    biases = call.require(3, "bias") if call.has(3) else np.zeros((count, 2 * gates * units), inner.dtype)

    def ordered(rows: Host) -> Host:
        return rows.reshape(gates, units, -1)[list(_GATES[mode])].ravel()

    weights = [ordered(each) for direction in range(count) for each in (inner[direction], outer[direction])]
    shifts = [ordered(half) for direction in range(count) for half in np.split(biases[direction], 2)]
    return np.concatenate([*weights, *shifts])


def _state(call: OnnxCall, index: int, count: int, units: int) -> Any:
    """The state before the first step: zeros for each sequence of the batch where the model gives none."""
    if call.has(index):
        return call.data(index)
    one = sym.slice_axis(sym.slice_axis(call.data(), axis=0, begin=0, end=1), axis=2, begin=0, end=1)
    return sym.broadcast_axis(sym.zeros_like(one), axis=(0, 2), size=(count, units))


RECURRENT: dict[str, Reading] = {"GRU": _recurrent("gru"), "LSTM": _recurrent("lstm"), "RNN": _rnn}
