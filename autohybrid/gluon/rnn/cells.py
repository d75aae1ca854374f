"""RNNCell, LSTMCell and GRUCell. Weights are stacked gate after gate, in the order that the fused layers use."""

from __future__ import annotations

from typing import Any

from autohybrid.gluon.parameter_dict import ParameterDict
from autohybrid.gluon.rnn.recurrent import HybridRecurrentCell

__all__ = ["GRUCell", "LSTMCell", "RNNCell"]


class _GatedCell(HybridRecurrentCell):
    """A cell with `gates` stacked gates of `hidden_size` units each, and weights from input and from hidden state."""

    _shape_argument = "input_size"
    i2h_weight: Any
    h2h_weight: Any
    i2h_bias: Any
    h2h_bias: Any

    def _add_weights(
        self, gates: int, hidden_size: int, input_size: int, initializers: tuple[Any, Any, Any, Any]
    ) -> None:
        self._hidden_size = hidden_size
        self._input_size = input_size
        rows = gates * hidden_size
        shapes = {
            "i2h_weight": (rows, input_size), "h2h_weight": (rows, hidden_size), "i2h_bias": (rows,),
            "h2h_bias": (rows,),
        }  # fmt: skip
        for (name, shape), init in zip(shapes.items(), initializers):
            setattr(self, name, self.params.get(name, shape=shape, init=init, allow_deferred_init=True))

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """One state, `(batch, hidden_size)`."""
        return [{"shape": (batch_size, self._hidden_size), "__layout__": "NC"}]

    def _mapping(self) -> str:
        rows, columns = self.i2h_weight.shape
        return f"{columns or None} -> {rows}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._mapping()})"


class RNNCell(_GatedCell):
    """`h' = activation(W_i x + b_i + W_h h + b_h)`; the output is the new state."""

    def __init__(
        self,
        hidden_size: int,
        activation: Any = "tanh",
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        input_size: int = 0,
        prefix: str | None = None,
        params: ParameterDict | None = None,
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        self._activation = activation
        initializers = i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer
        self._add_weights(1, hidden_size, input_size, initializers)

    def _alias(self) -> str:
        return "rnn"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._mapping()}, {self._activation})"

    def hybrid_forward(
        self, F: Any, inputs: Any, states: Any, i2h_weight: Any, h2h_weight: Any, i2h_bias: Any, h2h_bias: Any
    ) -> Any:
        step = f"t{self._counter}_"
        size = self._hidden_size
        i2h = F.FullyConnected(data=inputs, weight=i2h_weight, bias=i2h_bias, num_hidden=size, name=step + "i2h")
        h2h = F.FullyConnected(data=states[0], weight=h2h_weight, bias=h2h_bias, num_hidden=size, name=step + "h2h")
        total = F.elemwise_add(i2h, h2h, name=step + "plus0")
        output = self._get_activation(F, total, self._activation, name=step + "out")
        return output, [output]


class LSTMCell(_GatedCell):
    """Long short-term memory: gates i, f, c, o; `c' = f * c + i * c~`, `h' = o * activation(c')`.

    States are `[h, c]`, the output is `h'`.
    """

    def __init__(
        self,
        hidden_size: int,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        input_size: int = 0,
        prefix: str | None = None,
        params: ParameterDict | None = None,
        activation: Any = "tanh",
        recurrent_activation: Any = "sigmoid",
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        self._activation = activation
        self._recurrent_activation = recurrent_activation
        initializers = i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer
        self._add_weights(4, hidden_size, input_size, initializers)

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """Two states, hidden and memory, each `(batch, hidden_size)`."""
        return [{"shape": (batch_size, self._hidden_size), "__layout__": "NC"} for _ in range(2)]

    def _alias(self) -> str:
        return "lstm"

    def hybrid_forward(
        self, F: Any, inputs: Any, states: Any, i2h_weight: Any, h2h_weight: Any, i2h_bias: Any, h2h_bias: Any
    ) -> Any:
        step = f"t{self._counter}_"
        size = 4 * self._hidden_size
        i2h = F.FullyConnected(data=inputs, weight=i2h_weight, bias=i2h_bias, num_hidden=size, name=step + "i2h")
        h2h = F.FullyConnected(data=states[0], weight=h2h_weight, bias=h2h_bias, num_hidden=size, name=step + "h2h")
        gates = F.SliceChannel(F.elemwise_add(i2h, h2h, name=step + "plus0"), num_outputs=4, name=step + "slice")
        in_gate = self._get_activation(F, gates[0], self._recurrent_activation, name=step + "i")
        forget_gate = self._get_activation(F, gates[1], self._recurrent_activation, name=step + "f")
        in_transform = self._get_activation(F, gates[2], self._activation, name=step + "c")
        out_gate = self._get_activation(F, gates[3], self._recurrent_activation, name=step + "o")
        next_c = F.elemwise_add(
            F.elemwise_mul(forget_gate, states[1], name=step + "mul0"),
            F.elemwise_mul(in_gate, in_transform, name=step + "mul1"),
            name=step + "state",
        )
        shown = self._get_activation(F, next_c, self._activation, name=step + "activation0")
        next_h = F.elemwise_mul(out_gate, shown, name=step + "out")
        return next_h, [next_h, next_c]


class GRUCell(_GatedCell):
    """Gated recurrent unit: gates r, z, n; `h' = (1 - z) * n + z * h`. The output is the new state."""

    def __init__(
        self,
        hidden_size: int,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        input_size: int = 0,
        prefix: str | None = None,
        params: ParameterDict | None = None,
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        initializers = i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer
        self._add_weights(3, hidden_size, input_size, initializers)

    def _alias(self) -> str:
        return "gru"

    def hybrid_forward(
        self, F: Any, inputs: Any, states: Any, i2h_weight: Any, h2h_weight: Any, i2h_bias: Any, h2h_bias: Any
    ) -> Any:
        step = f"t{self._counter}_"
        size = 3 * self._hidden_size
        previous = states[0]
        i2h = F.FullyConnected(data=inputs, weight=i2h_weight, bias=i2h_bias, num_hidden=size, name=step + "i2h")
        h2h = F.FullyConnected(data=previous, weight=h2h_weight, bias=h2h_bias, num_hidden=size, name=step + "h2h")
        i2h_r, i2h_z, i2h_n = F.SliceChannel(i2h, num_outputs=3, name=step + "i2h_slice")
        h2h_r, h2h_z, h2h_n = F.SliceChannel(h2h, num_outputs=3, name=step + "h2h_slice")
        reset = F.Activation(F.elemwise_add(i2h_r, h2h_r, name=step + "plus0"), act_type="sigmoid", name=step + "r_act")
        update = F.Activation(
            F.elemwise_add(i2h_z, h2h_z, name=step + "plus1"), act_type="sigmoid", name=step + "z_act"
        )
        masked = F.elemwise_mul(reset, h2h_n, name=step + "mul0")
        proposal = F.Activation(
            F.elemwise_add(i2h_n, masked, name=step + "plus2"), act_type="tanh", name=step + "h_act"
        )
        ones = F.ones_like(update, name=step + "ones_like0")
        kept = F.elemwise_sub(ones, update, name=step + "minus0")
        next_h = F.elemwise_add(
            F.elemwise_mul(kept, proposal, name=step + "mul1"),
            F.elemwise_mul(update, previous, name=step + "mul20"),
            name=step + "out",
        )
        return next_h, [next_h]
