"""RNN, LSTM and GRU: whole layers over whole sequences, in one operator."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from autohybrid import ndarray
from autohybrid.gluon.deferred import shape_of
from autohybrid.gluon.hybrid_block import HybridBlock
from autohybrid.gluon.parameter import Parameter
from autohybrid.gluon.rnn.cells import GRUCell, LSTMCell, RNNCell
from autohybrid.gluon.rnn.modifiers import DropoutCell
from autohybrid.gluon.rnn.sequences import is_tensor
from autohybrid.gluon.rnn.stacks import BidirectionalCell, HybridSequentialRNNCell
from autohybrid.gluon.structure import is_symbol

__all__ = ["GRU", "LSTM", "RNN"]

_GATES = {"rnn_relu": 1, "rnn_tanh": 1, "lstm": 4, "gru": 3}
_PARAMETER = re.compile(r"([lr])(\d+)_(i2h|h2h|h2r)_(weight|bias)\Z")


class _RNNLayer(HybridBlock):
    """`num_layers` recurrent layers of one kind (`mode`), in one or two directions.

    Inputs are `(time, batch, features)` for the layout 'TNC', `(batch, time, features)` for 'NTC'; states are
    `(num_layers * directions, batch, hidden_size)` in both. Called without states it begins with zeros and returns the
    outputs alone, with states it returns outputs and new states. With `use_sequence_length` the call takes
    `sequence_length`, `(batch,)`: steps after the end of a sequence give zeros and change no states.
    """

    _shape_argument = "input_size"

    def __init__(
        self,
        hidden_size: int,
        num_layers: int,
        layout: str,
        dropout: float,
        bidirectional: bool,
        input_size: int,
        i2h_weight_initializer: Any,
        h2h_weight_initializer: Any,
        i2h_bias_initializer: Any,
        h2h_bias_initializer: Any,
        mode: str,
        projection_size: int | None,
        h2r_weight_initializer: Any,
        lstm_state_clip_min: float | None,
        lstm_state_clip_max: float | None,
        lstm_state_clip_nan: bool,
        dtype: Any,
        use_sequence_length: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if layout not in ("TNC", "NTC"):
            raise AssertionError(f"`layout` must be 'TNC' or 'NTC', not {layout!r}")
        self._hidden_size = hidden_size
        self._projection_size = projection_size or None
        self._num_layers = num_layers
        self._mode = mode
        self._layout = layout
        self._dropout = dropout
        self._dir = 2 if bidirectional else 1
        self._input_size = input_size
        self._lstm_state_clip_min = lstm_state_clip_min
        self._lstm_state_clip_max = lstm_state_clip_max
        self._lstm_state_clip_nan = lstm_state_clip_nan
        self._dtype = dtype
        self._use_sequence_length = use_sequence_length
        self._gates = _GATES[mode]
        self._initializers = {
            "i2h_weight": i2h_weight_initializer, "h2h_weight": h2h_weight_initializer,
            "i2h_bias": i2h_bias_initializer, "h2h_bias": h2h_bias_initializer, "h2r_weight": h2r_weight_initializer,
        }  # fmt: skip
        self._add_weights(input_size)

    def _add_weights(self, width: int) -> None:
        rows = self._gates * self._hidden_size
        out = self._projection_size or self._hidden_size
        for layer in range(self._num_layers):
            shapes = {"i2h_weight": (rows, width), "h2h_weight": (rows, out), "i2h_bias": (rows,), "h2h_bias": (rows,)}
            if self._projection_size:
                shapes["h2r_weight"] = (out, self._hidden_size)
            for direction in self._directions():
                for name, shape in shapes.items():
                    self._register_param(f"{direction}{layer}_{name}", shape, self._initializers[name], self._dtype)
            width = out * self._dir

    def _directions(self) -> tuple[str, ...]:
        return ("l", "r")[: self._dir]

    def _register_param(self, name: str, shape: tuple[int, ...], init: Any, dtype: Any) -> Parameter:
        parameter = self.params.get(name, shape=shape, init=init, allow_deferred_init=True, dtype=dtype)
        setattr(self, name, parameter)
        return parameter

    def __repr__(self) -> str:
        rows, columns = self._reg_params["l0_i2h_weight"].shape or (0, 0)
        parts = [f"{columns or None} -> {rows // self._gates}", self._layout]
        if self._num_layers != 1:
            parts.append(f"num_layers={self._num_layers}")
        if self._dropout != 0:
            parts.append(f"dropout={self._dropout}")
        if self._dir == 2:
            parts.append("bidirectional")
        return f"{type(self).__name__}({', '.join(parts)})"

    def _collect_params_with_prefix(self, prefix: str = "") -> dict[str, Parameter]:
        """Structural names are those of the cells it could be unfused into, as files have them."""
        if prefix:
            prefix += "."
        found = {}
        for key, parameter in self._reg_params.items():
            match = _PARAMETER.match(key)
            assert match is not None
            direction, layer, gate, kind = match.groups()
            cell = f"{direction}_cell." if self._dir == 2 else ""
            found[f"{prefix}_unfused.{layer}.{cell}{gate}_{kind}"] = parameter
        return found

    def _unfuse(self) -> HybridSequentialRNNCell:
        """The same network as a stack of cells that share its parameters. Raises AssertionError with projections or
        clipping, which the cells do not have."""
        if self._projection_size or self._lstm_state_clip_min or self._lstm_state_clip_max:
            raise AssertionError("cells have neither projections nor clipping of states; this layer cannot be unfused")
        stack = HybridSequentialRNNCell(prefix=self.prefix, params=self.params)
        with stack.name_scope():
            width = self._input_size
            for layer in range(self._num_layers):
                cells = [self._make_cell(f"{direction}{layer}_", width) for direction in self._directions()]
                stack.add(cells[0] if self._dir == 1 else BidirectionalCell(cells[0], cells[1]))
                if self._dropout > 0 and layer != self._num_layers - 1:
                    stack.add(DropoutCell(self._dropout))
                width = self._hidden_size * self._dir
        return stack

    def _make_cell(self, prefix: str, width: int) -> HybridBlock:
        inits = self._initializers
        kwargs: dict[str, Any] = {f"{n}_initializer": inits[n] for n in inits if n != "h2r_weight"}
        kwargs.update(input_size=width, prefix=prefix)
        if self._mode == "lstm":
            return LSTMCell(self._hidden_size, **kwargs)
        if self._mode == "gru":
            return GRUCell(self._hidden_size, **kwargs)
        return RNNCell(self._hidden_size, activation=self._mode[len("rnn_") :], **kwargs)

    def cast(self, dtype: Any) -> None:
        """Convert to another dtype, the states to begin with included."""
        super().cast(dtype)
        self._dtype = dtype

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """Shape, layout and dtype of each state."""
        sizes = [self._projection_size or self._hidden_size]
        if self._mode == "lstm":
            sizes.append(self._hidden_size)
        layers = self._num_layers * self._dir
        return [{"shape": (layers, batch_size, size), "__layout__": "LNC", "dtype": self._dtype} for size in sizes]

    def begin_state(self, batch_size: int = 0, func: Callable[..., Any] = ndarray.zeros, **kwargs: Any) -> list[Any]:
        """States to begin with, made by `func(name=..., shape=..., **kwargs)` (zeros by default)."""
        return [
            func(name=f"{self.prefix}h0_{number}", **{**info, **kwargs})
            for number, info in enumerate(self.state_info(batch_size))
        ]

    def __call__(self, inputs: Any, states: Any = None, sequence_length: Any = None) -> Any:
        """Outputs, or outputs and new states if `states` are given."""
        if is_tensor(states):
            states = [states]
        self._take_input_size(inputs)
        if self._use_sequence_length:
            return super().__call__(inputs, states, sequence_length)
        return super().__call__(inputs, states)

    def _take_input_size(self, inputs: Any) -> None:
        """The last axis of the inputs tells the one extent that is not known when the layer is made."""
        shape = shape_of(inputs)
        if shape is None:
            return
        for direction in self._directions():
            weight = self._reg_params[f"{direction}0_i2h_weight"]
            if weight.shape is not None and weight.shape[1] == 0:
                weight.shape = (weight.shape[0], shape[-1])
                weight._finish_deferred_init()

    def infer_shape(self, *args: Any) -> None:
        """Set the shapes of its parameters from the inputs."""
        self._take_input_size(args[0])

    def hybrid_forward(  # type: ignore[override]  # MXNet's name for the first input
        self, F: Any, inputs: Any, states: Any = None, sequence_length: Any = None, **kwargs: Any
    ) -> Any:
        batch_axis = self._layout.find("N")
        given = states
        if is_symbol(inputs):
            states = self.begin_state(0, func=F.zeros) if given is None else given
        elif given is None:
            states = self.begin_state(inputs.shape[batch_axis], ctx=inputs.context, dtype=inputs.dtype)
        else:
            states = list(given)
            for state, info in zip(states, self.state_info(inputs.shape[batch_axis])):
                if state.shape != info["shape"]:
                    raise ValueError(f"a state must have the shape {info['shape']}, but has {state.shape}")
        outputs, new_states = self._run(F, inputs, states, sequence_length, kwargs)
        return outputs if given is None else (outputs, new_states)

    def _run(self, F: Any, inputs: Any, states: list[Any], sequence_length: Any, params: dict[str, Any]) -> Any:
        if self._layout == "NTC":
            inputs = F.swapaxes(inputs, dim1=0, dim2=1)
        weights = F._internal._rnn_param_concat(*[params[name].reshape(-1) for name in self._packed_order()], dim=0)
        extra = [sequence_length] if self._use_sequence_length else []
        results = F.RNN(
            inputs,
            weights,
            *states,
            *extra,
            use_sequence_length=self._use_sequence_length,
            state_size=self._hidden_size,
            projection_size=self._projection_size,
            num_layers=self._num_layers,
            bidirectional=self._dir == 2,
            p=self._dropout,
            state_outputs=True,
            mode=self._mode,
            lstm_state_clip_min=self._lstm_state_clip_min,
            lstm_state_clip_max=self._lstm_state_clip_max,
            lstm_state_clip_nan=self._lstm_state_clip_nan,
        )
        outputs, *new_states = results
        if self._layout == "NTC":
            outputs = F.swapaxes(outputs, dim1=0, dim2=1)
        return outputs, new_states

    def _packed_order(self) -> list[str]:
        """The order in which the operator wants its parameters: all weights, then all biases."""
        return [
            f"{direction}{layer}_{gate}_{kind}"
            for kind in ("weight", "bias")
            for layer in range(self._num_layers)
            for direction in self._directions()
            for gate in ("i2h", "h2h", "h2r")
            if gate != "h2r" or (self._projection_size and kind == "weight")
        ]


class RNN(_RNNLayer):
    """Layers of plain recurrent units: `h' = activation(W_i x + b_i + W_h h + b_h)`, `activation` 'relu' or 'tanh'."""

    def __init__(
        self,
        hidden_size: int,
        num_layers: int = 1,
        activation: str = "relu",
        layout: str = "TNC",
        dropout: float = 0,
        bidirectional: bool = False,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        input_size: int = 0,
        dtype: Any = "float32",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            hidden_size, num_layers, layout, dropout, bidirectional, input_size, i2h_weight_initializer,
            h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer, f"rnn_{activation}", None, None, None,
            None, False, dtype, **kwargs,
        )  # fmt: skip


class LSTM(_RNNLayer):
    """Layers of long short-term memory; states are `[h, c]`. `projection_size` makes h narrower (LSTMP)."""

    def __init__(
        self,
        hidden_size: int,
        num_layers: int = 1,
        layout: str = "TNC",
        dropout: float = 0,
        bidirectional: bool = False,
        input_size: int = 0,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        projection_size: int | None = None,
        h2r_weight_initializer: Any = None,
        state_clip_min: float | None = None,
        state_clip_max: float | None = None,
        state_clip_nan: bool = False,
        dtype: Any = "float32",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            hidden_size, num_layers, layout, dropout, bidirectional, input_size, i2h_weight_initializer,
            h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer, "lstm", projection_size,
            h2r_weight_initializer, state_clip_min, state_clip_max, state_clip_nan, dtype, **kwargs,
        )  # fmt: skip


class GRU(_RNNLayer):
    """Layers of gated recurrent units."""

    def __init__(
        self,
        hidden_size: int,
        num_layers: int = 1,
        layout: str = "TNC",
        dropout: float = 0,
        bidirectional: bool = False,
        input_size: int = 0,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        dtype: Any = "float32",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            hidden_size, num_layers, layout, dropout, bidirectional, input_size, i2h_weight_initializer,
            h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer, "gru", None, None, None, None, False,
            dtype, **kwargs,
        )  # fmt: skip
