"""What the gates of a cell do with the projections of its input and state: plain, LSTM and GRU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from autohybrid import symbol as sym
from autohybrid.rnn.base import BaseRNNCell, activate


class GatedCell(BaseRNNCell):
    """A cell whose step is: project the input and the state, then let the gates combine them."""

    _activation: Any = "tanh"
    #: Where the gates are split, for the split operators; nothing for their default, axis 1.
    _channels: Mapping[str, int] = MappingProxyType({})

    def _project(self, inputs: Any, state: Any, name: str) -> tuple[Any, Any]:
        """The input and the state, each projected to all gates."""
        raise NotImplementedError

    def _combine(self, from_input: Any, from_state: Any, states: Sequence[Any], name: str) -> tuple[Any, list[Any]]:
        raise NotImplementedError

    def __call__(self, inputs: Any, states: Sequence[Any]) -> tuple[Any, list[Any]]:
        self._counter += 1
        name = f"{self._prefix}t{self._counter}_"
        from_input, from_state = self._project(inputs, states[0], name)
        return self._combine(from_input, from_state, states, name)


class PlainGates(GatedCell):
    """One gate: `activation(input + state)`."""

    @property
    def _gate_names(self) -> Sequence[str]:
        return ("",)

    def _combine(self, from_input: Any, from_state: Any, states: Sequence[Any], name: str) -> tuple[Any, list[Any]]:
        output = activate(from_input + from_state, self._activation, name=f"{name}out")
        return output, [output]


class LSTMGates(GatedCell):
    """Input, forget, cell and output gates; the states are the output and the cell."""

    @property
    def _gate_names(self) -> Sequence[str]:
        return ("_i", "_f", "_c", "_o")

    def _combine(self, from_input: Any, from_state: Any, states: Sequence[Any], name: str) -> tuple[Any, list[Any]]:
        gates = sym.SliceChannel(from_input + from_state, num_outputs=4, **self._channels, name=f"{name}slice")
        in_gate = sym.Activation(gates[0], act_type="sigmoid", name=f"{name}i")
        forget_gate = sym.Activation(gates[1], act_type="sigmoid", name=f"{name}f")
        candidate = activate(gates[2], self._activation, name=f"{name}c")
        out_gate = sym.Activation(gates[3], act_type="sigmoid", name=f"{name}o")
        cell = sym._internal._plus(forget_gate * states[1], in_gate * candidate, name=f"{name}state")
        output = sym._internal._mul(out_gate, activate(cell, self._activation), name=f"{name}out")
        return output, [output, cell]


class GRUGates(GatedCell):
    """Reset and update gates."""

    @property
    def _gate_names(self) -> Sequence[str]:
        return ("_r", "_z", "_o")

    def _combine(self, from_input: Any, from_state: Any, states: Sequence[Any], name: str) -> tuple[Any, list[Any]]:
        inputs = sym.SliceChannel(from_input, num_outputs=3, **self._channels, name=f"{name}_i2h_slice")
        hidden = sym.SliceChannel(from_state, num_outputs=3, **self._channels, name=f"{name}_h2h_slice")
        reset = sym.Activation(inputs[0] + hidden[0], act_type="sigmoid", name=f"{name}_r_act")
        update = sym.Activation(inputs[1] + hidden[1], act_type="sigmoid", name=f"{name}_z_act")
        candidate = activate(inputs[2] + reset * hidden[2], self._activation, name=f"{name}_h_act")
        output = sym._internal._plus((1.0 - update) * candidate, update * states[0], name=f"{name}out")
        return output, [output]
