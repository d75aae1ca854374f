"""Recurrent cells that convolve instead of multiplying: plain, LSTM and GRU, over one, two and three dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from autohybrid.gluon.nn.convolution import Ints, as_tuple
from autohybrid.gluon.parameter_dict import ParameterDict
from autohybrid.gluon.rnn.recurrent import HybridRecurrentCell

__all__ = [
    "Conv1DGRUCell", "Conv1DLSTMCell", "Conv1DRNNCell", "Conv2DGRUCell", "Conv2DLSTMCell", "Conv2DRNNCell",
    "Conv3DGRUCell", "Conv3DLSTMCell", "Conv3DRNNCell",
]  # fmt: skip


class _ConvCell(HybridRecurrentCell):
    """What the cells share. Inputs are `(batch,) + input_shape`, with `input_shape` in `conv_layout` without N.

    The convolution of the state is padded so that its extents stay, hence `h2h_kernel` must be odd. Raises
    AssertionError otherwise.
    """

    _rank: ClassVar[int]
    _gate_names: ClassVar[Sequence[str]]
    _state_count: ClassVar[int] = 1
    i2h_weight: Any
    h2h_weight: Any
    i2h_bias: Any
    h2h_bias: Any

    def __init__(
        self,
        input_shape: tuple[int, ...],
        hidden_channels: int,
        i2h_kernel: Ints,
        h2h_kernel: Ints,
        i2h_pad: Ints = 0,
        i2h_dilate: Ints = 1,
        h2h_dilate: Ints = 1,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        conv_layout: str | None = None,
        activation: Any = "tanh",
        prefix: str | None = None,
        params: ParameterDict | None = None,
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        rank = self._rank
        self._hidden_channels = hidden_channels
        self._input_shape = input_shape
        self._conv_layout = conv_layout or ("NCW", "NCHW", "NCDHW")[rank - 1]
        self._activation = activation
        self._i2h_kernel = _spatial(i2h_kernel, rank)
        self._h2h_kernel = _spatial(h2h_kernel, rank)
        self._i2h_pad = _spatial(i2h_pad, rank)
        self._i2h_dilate = _spatial(i2h_dilate, rank)
        self._h2h_dilate = _spatial(h2h_dilate, rank)
        self._stride = (1,) * rank
        if any(extent % 2 == 0 for extent in self._h2h_kernel):
            raise AssertionError(f"the extents of `h2h_kernel` must be odd, but it is {h2h_kernel}")
        self._h2h_pad = tuple(d * (k - 1) // 2 for d, k in zip(self._h2h_dilate, self._h2h_kernel))
        self._channel_axis = self._conv_layout.find("C")
        self._in_channels = input_shape[self._channel_axis - 1]
        self._state_shape = self._shape_of(hidden_channels, self._output_extents())
        total = hidden_channels * len(self._gate_names)
        shapes = {
            "i2h_weight": (total, *self._shape_of(self._in_channels, self._i2h_kernel)),
            "h2h_weight": (total, *self._shape_of(hidden_channels, self._h2h_kernel)),
            "i2h_bias": (total,),
            "h2h_bias": (total,),
        }
        inits = i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer
        for (name, shape), init in zip(shapes.items(), inits):
            setattr(self, name, self.params.get(name, shape=shape, init=init, allow_deferred_init=True))

    def _shape_of(self, channels: int, extents: tuple[int, ...]) -> tuple[int, ...]:
        return (channels, *extents) if self._channel_axis == 1 else (*extents, channels)

    def _output_extents(self) -> tuple[int, ...]:
        extents = self._input_shape[1:] if self._channel_axis == 1 else self._input_shape[:-1]
        return tuple(
            x + 2 * p - d * (k - 1) if x else 0
            for x, k, p, d in zip(extents, self._i2h_kernel, self._i2h_pad, self._i2h_dilate)
        )

    def __repr__(self) -> str:
        shape = self.i2h_weight.shape
        in_channels = shape[1 if self._channel_axis == 1 else -1]
        return f"{type(self).__name__}({in_channels or None} -> {shape[0]}, {self._activation}, {self._conv_layout})"

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """The states, each `(batch,) + ` channels and extents of the output."""
        shape = (batch_size, *self._state_shape)
        return [{"shape": shape, "__layout__": self._conv_layout} for _ in range(self._state_count)]

    def _convolve(
        self, F: Any, inputs: Any, state: Any, i2h_weight: Any, h2h_weight: Any, i2h_bias: Any, h2h_bias: Any
    ) -> tuple[Any, Any, str]:
        """What comes from the input, what comes from the state, and the prefix for names at this step."""
        step = f"t{self._counter}_"
        shared = {
            "num_filter": self._hidden_channels * len(self._gate_names), "stride": self._stride,
            "layout": self._conv_layout,
        }  # fmt: skip
        i2h = F.Convolution(
            data=inputs, weight=i2h_weight, bias=i2h_bias, kernel=self._i2h_kernel, pad=self._i2h_pad,
            dilate=self._i2h_dilate, name=step + "i2h", **shared,
        )  # fmt: skip
        h2h = F.Convolution(
            data=state, weight=h2h_weight, bias=h2h_bias, kernel=self._h2h_kernel, pad=self._h2h_pad,
            dilate=self._h2h_dilate, name=step + "h2h", **shared,
        )  # fmt: skip
        return i2h, h2h, step


class _ConvRNNCell(_ConvCell):
    _gate_names = ("",)

    def _alias(self) -> str:
        return "conv_rnn"

    def hybrid_forward(
        self, F: Any, inputs: Any, states: Any, i2h_weight: Any, h2h_weight: Any, i2h_bias: Any, h2h_bias: Any
    ) -> Any:
        i2h, h2h, step = self._convolve(F, inputs, states[0], i2h_weight, h2h_weight, i2h_bias, h2h_bias)
        output = self._get_activation(F, i2h + h2h, self._activation, name=step + "out")
        return output, [output]


class _ConvLSTMCell(_ConvCell):
    _gate_names = ("_i", "_f", "_c", "_o")
    _state_count = 2

    def _alias(self) -> str:
        return "conv_lstm"

    def hybrid_forward(
        self, F: Any, inputs: Any, states: Any, i2h_weight: Any, h2h_weight: Any, i2h_bias: Any, h2h_bias: Any
    ) -> Any:
        i2h, h2h, step = self._convolve(F, inputs, states[0], i2h_weight, h2h_weight, i2h_bias, h2h_bias)
        gates = F.SliceChannel(i2h + h2h, num_outputs=4, name=step + "slice", axis=self._channel_axis)
        in_gate = F.Activation(gates[0], act_type="sigmoid", name=step + "i")
        forget_gate = F.Activation(gates[1], act_type="sigmoid", name=step + "f")
        in_transform = self._get_activation(F, gates[2], self._activation, name=step + "c")
        out_gate = F.Activation(gates[3], act_type="sigmoid", name=step + "o")
        next_c = F.elemwise_add(forget_gate * states[1], in_gate * in_transform, name=step + "state")
        next_h = F.elemwise_mul(out_gate, self._get_activation(F, next_c, self._activation), name=step + "out")
        return next_h, [next_h, next_c]


class _ConvGRUCell(_ConvCell):
    _gate_names = ("_r", "_z", "_o")

    def _alias(self) -> str:
        return "conv_gru"

    def hybrid_forward(
        self, F: Any, inputs: Any, states: Any, i2h_weight: Any, h2h_weight: Any, i2h_bias: Any, h2h_bias: Any
    ) -> Any:
        i2h, h2h, step = self._convolve(F, inputs, states[0], i2h_weight, h2h_weight, i2h_bias, h2h_bias)
        axis = self._channel_axis
        i2h_r, i2h_z, i2h_n = F.SliceChannel(i2h, num_outputs=3, name=step + "i2h_slice", axis=axis)
        h2h_r, h2h_z, h2h_n = F.SliceChannel(h2h, num_outputs=3, name=step + "h2h_slice", axis=axis)
        reset = F.Activation(i2h_r + h2h_r, act_type="sigmoid", name=step + "r_act")
        update = F.Activation(i2h_z + h2h_z, act_type="sigmoid", name=step + "z_act")
        proposal = self._get_activation(F, i2h_n + reset * h2h_n, self._activation, name=step + "h_act")
        next_h = F.elemwise_add((1.0 - update) * proposal, update * states[0], name=step + "out")
        return next_h, [next_h]


class Conv1DRNNCell(_ConvRNNCell):
    """Plain recurrent cell over `(N, C, W)`."""

    _rank = 1


class Conv2DRNNCell(_ConvRNNCell):
    """Plain recurrent cell over `(N, C, H, W)`."""

    _rank = 2


class Conv3DRNNCell(_ConvRNNCell):
    """Plain recurrent cell over `(N, C, D, H, W)`."""

    _rank = 3


class Conv1DLSTMCell(_ConvLSTMCell):
    """LSTM cell over `(N, C, W)`; states are `[h, c]`."""

    _rank = 1


class Conv2DLSTMCell(_ConvLSTMCell):
    """LSTM cell over `(N, C, H, W)`; states are `[h, c]`."""

    _rank = 2


class Conv3DLSTMCell(_ConvLSTMCell):
    """LSTM cell over `(N, C, D, H, W)`; states are `[h, c]`."""

    _rank = 3


class Conv1DGRUCell(_ConvGRUCell):
    """GRU cell over `(N, C, W)`."""

    _rank = 1


class Conv2DGRUCell(_ConvGRUCell):
    """GRU cell over `(N, C, H, W)`."""

    _rank = 2


class Conv3DGRUCell(_ConvGRUCell):
    """GRU cell over `(N, C, D, H, W)`."""

    _rank = 3


def _spatial(value: Ints, rank: int) -> tuple[int, ...]:
    given = as_tuple(value, rank)
    if len(given) != rank:
        raise AssertionError(f"settings of a {rank}D convolution are one number or {rank}, not {value}")
    return tuple(given)
