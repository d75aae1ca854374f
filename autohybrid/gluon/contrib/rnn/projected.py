"""LSTMPCell: an LSTM cell whose hidden state is projected to fewer units."""

from __future__ import annotations

from typing import Any

from autohybrid.gluon.parameter_dict import ParameterDict
from autohybrid.gluon.rnn.recurrent import HybridRecurrentCell

__all__ = ["LSTMPCell"]


class LSTMPCell(HybridRecurrentCell):
    """LSTM with `r = W_r h` (`projection_size` units) in place of `h` as output and state. States are `[r, c]`."""

    _shape_argument = "input_size"

    def __init__(
        self,
        hidden_size: int,
        projection_size: int,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        h2r_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        input_size: int = 0,
        prefix: str | None = None,
        params: ParameterDict | None = None,
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        self._hidden_size = hidden_size
        self._input_size = input_size
        self._projection_size = projection_size
        rows = 4 * hidden_size

        def weight(name: str, shape: tuple[int, ...], init: Any) -> Any:
            return self.params.get(name, shape=shape, init=init, allow_deferred_init=True)

        self.i2h_weight = weight("i2h_weight", (rows, input_size), i2h_weight_initializer)
        self.h2h_weight = weight("h2h_weight", (rows, projection_size), h2h_weight_initializer)
        self.h2r_weight = weight("h2r_weight", (projection_size, hidden_size), h2r_weight_initializer)
        self.i2h_bias = weight("i2h_bias", (rows,), i2h_bias_initializer)
        self.h2h_bias = weight("h2h_bias", (rows,), h2h_bias_initializer)

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """Two states: `(batch, projection_size)` and `(batch, hidden_size)`."""
        return [
            {"shape": (batch_size, size), "__layout__": "NC"} for size in (self._projection_size, self._hidden_size)
        ]

    def _alias(self) -> str:
        return "lstmp"

    def __repr__(self) -> str:
        rows, columns = self.i2h_weight.shape
        return f"{type(self).__name__}({columns or None} -> {rows} -> {self._projection_size})"

    def hybrid_forward(
        self,
        F: Any,
        inputs: Any,
        states: Any,
        i2h_weight: Any,
        h2h_weight: Any,
        h2r_weight: Any,
        i2h_bias: Any,
        h2h_bias: Any,
    ) -> Any:
        step = f"t{self._counter}_"
        size = 4 * self._hidden_size
        i2h = F.FullyConnected(data=inputs, weight=i2h_weight, bias=i2h_bias, num_hidden=size, name=step + "i2h")
        h2h = F.FullyConnected(data=states[0], weight=h2h_weight, bias=h2h_bias, num_hidden=size, name=step + "h2h")
        gates = F.SliceChannel(i2h + h2h, num_outputs=4, name=step + "slice")
        in_gate = F.Activation(gates[0], act_type="sigmoid", name=step + "i")
        forget_gate = F.Activation(gates[1], act_type="sigmoid", name=step + "f")
        in_transform = F.Activation(gates[2], act_type="tanh", name=step + "c")
        out_gate = F.Activation(gates[3], act_type="sigmoid", name=step + "o")
        next_c = F.elemwise_add(forget_gate * states[1], in_gate * in_transform, name=step + "state")
        hidden = F.elemwise_mul(out_gate, F.Activation(next_c, act_type="tanh"), name=step + "hidden")
        next_r = F.FullyConnected(
            data=hidden, num_hidden=self._projection_size, weight=h2r_weight, no_bias=True, name=step + "out"
        )
        return next_r, [next_r, next_c]
