"""FusedRNNCell: all layers, directions and steps in one RNN operator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autohybrid import ndarray as nd
from autohybrid import symbol as sym
from autohybrid.ndarray import NDArray
from autohybrid.optim.initializer import FusedRNN
from autohybrid.rnn.base import BaseRNNCell, RNNParams, Sequences, Weights, normalize_sequence
from autohybrid.rnn.dense_cells import GRUCell, LSTMCell, RNNCell
from autohybrid.rnn.stacked_cells import BidirectionalCell, SequentialRNNCell

_GATES = {"rnn_relu": ("",), "rnn_tanh": ("",), "lstm": ("_i", "_f", "_c", "_o"), "gru": ("_r", "_z", "_o")}


class FusedRNNCell(BaseRNNCell):
    """Stacked recurrent layers as one operator. `mode`: 'rnn_relu', 'rnn_tanh', 'lstm' or 'gru'. Only for unrolling.

    All weights are in one vector, `<prefix>parameters`; `unpack_weights` takes it apart, `unfuse` gives equal cells.
    """

    def __init__(
        self,
        num_hidden: int,
        num_layers: int = 1,
        mode: str = "lstm",
        bidirectional: bool = False,
        dropout: float = 0.0,
        get_next_state: bool = False,
        forget_bias: float = 1.0,
        prefix: str | None = None,
        params: RNNParams | None = None,
    ) -> None:
        super().__init__(prefix=f"{mode}_" if prefix is None else prefix, params=params)
        self._num_hidden = num_hidden
        self._num_layers = num_layers
        self._mode = mode
        self._bidirectional = bidirectional
        self._dropout = dropout
        self._get_next_state = get_next_state
        self._directions = ("l", "r") if bidirectional else ("l",)
        self._initializer = FusedRNN(None, num_hidden, num_layers, mode, bidirectional, forget_bias)
        self._parameter = self.params.get("parameters", init=self._initializer)

    @property
    def state_info(self) -> list[dict[str, Any]]:
        shape = (len(self._directions) * self._num_layers, 0, self._num_hidden)
        return [{"shape": shape, "__layout__": "LNC"} for _ in range(2 if self._mode == "lstm" else 1)]

    @property
    def _gate_names(self) -> Sequence[str]:
        return _GATES[self._mode]

    def _views(self, whole: NDArray) -> Weights:
        """The parts of the parameter vector by name, sharing its memory."""
        views, at = {}, 0
        for name, shape in self._initializer._parts(whole.size):
            size = shape[0] * (shape[1] if len(shape) > 1 else 1)
            views[self._prefix + name] = whole[at : at + size].reshape(shape)
            at += size
        return views

    def unpack_weights(self, args: Weights) -> Weights:
        args = dict(args)
        args.update({name: view.copy() for name, view in self._views(args.pop(self._parameter.name)).items()})
        return args

    def pack_weights(self, args: Weights) -> Weights:
        args = dict(args)
        first = args[f"{self._prefix}l0_i2h{self._gate_names[0]}_weight"]
        rows, width = len(self._gate_names) * self._num_hidden, len(self._directions)
        later = (self._num_layers - 1) * (self._num_hidden * (1 + width) + 2)
        total = rows * width * (first.shape[1] + self._num_hidden + 2 + later)
        parts = [args.pop(self._prefix + name) for name, _ in self._initializer._parts(total)]
        args[self._parameter.name] = nd.concatenate([part.reshape((-1,)) for part in parts])
        return args

    def unroll(
        self,
        length: int,
        inputs: Sequences,
        begin_state: Sequence[Any] | None = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
    ) -> tuple[Sequences, list[Any]]:
        self.reset()
        inputs, axis = normalize_sequence(length, inputs, layout, True)
        if axis == 1:
            inputs = sym.swapaxes(inputs, dim1=0, dim2=1)
        states = self.begin_state() if begin_state is None else begin_state
        result = sym.RNN(
            inputs,
            self._parameter,
            state_size=self._num_hidden,
            num_layers=self._num_layers,
            bidirectional=self._bidirectional,
            p=self._dropout,
            state_outputs=self._get_next_state,
            mode=self._mode,
            name=f"{self._prefix}rnn",
            **dict(zip(("state", "state_cell"), states)),
        )
        new: list[Any] = []
        outputs = result
        if self._get_next_state:
            outputs, *new = list(result)
            for state in new:
                state._set_attr(__layout__="LNC")
        if axis == 1:
            outputs = sym.swapaxes(outputs, dim1=0, dim2=1)
        return normalize_sequence(length, outputs, layout, merge_outputs)[0], new

    def unfuse(self) -> SequentialRNNCell:
        """Equal cells that step, with weights named as `unpack_weights` names them."""
        from autohybrid.rnn.modifier_cells import DropoutCell

        stack = SequentialRNNCell()
        for layer in range(self._num_layers):
            cells = [self._single(f"{self._prefix}{direction}{layer}_") for direction in self._directions]
            if self._bidirectional:
                stack.add(BidirectionalCell(cells[0], cells[1], output_prefix=f"{self._prefix}bi_l{layer}_"))
            else:
                stack.add(cells[0])
            if self._dropout > 0 and layer != self._num_layers - 1:
                stack.add(DropoutCell(self._dropout, prefix=f"{self._prefix}_dropout{layer}_"))
        return stack

    def _single(self, prefix: str) -> BaseRNNCell:
        if self._mode == "lstm":
            return LSTMCell(self._num_hidden, prefix=prefix)
        if self._mode == "gru":
            return GRUCell(self._num_hidden, prefix=prefix)
        return RNNCell(self._num_hidden, activation=self._mode.removeprefix("rnn_"), prefix=prefix)
