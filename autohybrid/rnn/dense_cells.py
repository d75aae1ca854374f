"""Cells with fully connected projections: RNNCell, LSTMCell, GRUCell."""

from __future__ import annotations

from typing import Any

from autohybrid import symbol as sym
from autohybrid.optim.initializer import LSTMBias
from autohybrid.rnn.base import RNNParams
from autohybrid.rnn.gates import GatedCell, GRUGates, LSTMGates, PlainGates


class _DenseCell(GatedCell):
    _states = 1
    _infix = ""

    def __init__(self, num_hidden: int, prefix: str, params: RNNParams | None, bias_init: Any = None) -> None:
        super().__init__(prefix=prefix, params=params)
        self._num_hidden = num_hidden
        bias = {} if bias_init is None else {"init": bias_init}
        self._iW, self._iB = self.params.get("i2h_weight"), self.params.get("i2h_bias", **bias)
        self._hW, self._hB = self.params.get("h2h_weight"), self.params.get("h2h_bias")

    @property
    def state_info(self) -> list[dict[str, Any]]:
        return [{"shape": (0, self._num_hidden), "__layout__": "NC"} for _ in range(self._states)]

    def _project(self, inputs: Any, state: Any, name: str) -> tuple[Any, Any]:
        size = self._num_hidden * len(self._gate_names)
        return (
            sym.FullyConnected(inputs, self._iW, self._iB, num_hidden=size, name=f"{name}{self._infix}i2h"),
            sym.FullyConnected(state, self._hW, self._hB, num_hidden=size, name=f"{name}{self._infix}h2h"),
        )


class RNNCell(_DenseCell, PlainGates):
    """A plain recurrent cell."""

    def __init__(
        self, num_hidden: int, activation: Any = "tanh", prefix: str = "rnn_", params: RNNParams | None = None
    ) -> None:
        super().__init__(num_hidden, prefix, params)
        self._activation = activation


class LSTMCell(_DenseCell, LSTMGates):
    """A long short-term memory cell; the bias of its forget gate begins at `forget_bias`."""

    _states = 2

    def __init__(
        self, num_hidden: int, prefix: str = "lstm_", params: RNNParams | None = None, forget_bias: float = 1.0
    ) -> None:
        super().__init__(num_hidden, prefix, params, LSTMBias(forget_bias=forget_bias))


class GRUCell(_DenseCell, GRUGates):
    """A gated recurrent unit."""

    _infix = "_"

    def __init__(self, num_hidden: int, prefix: str = "gru_", params: RNNParams | None = None) -> None:
        super().__init__(num_hidden, prefix, params)
