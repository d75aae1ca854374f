"""Cells with convolutions as projections: ConvRNNCell, ConvLSTMCell, ConvGRUCell."""

from __future__ import annotations

from functools import partial
from typing import Any

from autohybrid import symbol as sym
from autohybrid.rnn.base import RNNParams
from autohybrid.rnn.gates import GatedCell, GRUGates, LSTMGates, PlainGates

Pair = tuple[int, int]
_LEAKY = partial(sym.LeakyReLU, act_type="leaky", slope=0.2)


class BaseConvRNNCell(GatedCell):
    """Base of the convolutional cells. `input_shape` includes the batch; `h2h_kernel` must be odd, to keep the size."""

    _states = 1
    _default_prefix = ""

    def __init__(
        self,
        input_shape: tuple[int, ...],
        num_hidden: int,
        h2h_kernel: Pair = (3, 3),
        h2h_dilate: Pair = (1, 1),
        i2h_kernel: Pair = (3, 3),
        i2h_stride: Pair = (1, 1),
        i2h_pad: Pair = (1, 1),
        i2h_dilate: Pair = (1, 1),
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        activation: Any = _LEAKY,
        prefix: str | None = None,
        params: RNNParams | None = None,
        conv_layout: str = "NCHW",
    ) -> None:
        super().__init__(prefix=self._default_prefix if prefix is None else prefix, params=params)
        if any(extent % 2 == 0 for extent in h2h_kernel):
            raise AssertionError(f"h2h_kernel must be odd, so that the state keeps its size, not {h2h_kernel}")
        self._num_hidden = num_hidden
        self._activation = activation
        self._conv_layout = conv_layout
        self._channels = {"axis": conv_layout.find("C")}
        pad = tuple([dilate * (extent - 1) // 2 for extent, dilate in zip(h2h_kernel, h2h_dilate)])
        self._input_conv = {"kernel": i2h_kernel, "stride": i2h_stride, "pad": i2h_pad, "dilate": i2h_dilate}
        self._state_conv = {"kernel": h2h_kernel, "stride": (1, 1), "pad": pad, "dilate": h2h_dilate}
        projected = sym.Convolution(sym.var("data"), num_filter=num_hidden, layout=conv_layout, **self._input_conv)
        self._state_shape = (0, *projected.infer_shape(data=input_shape)[1][0][1:])
        self._iW = self.params.get("i2h_weight", init=i2h_weight_initializer)
        self._hW = self.params.get("h2h_weight", init=h2h_weight_initializer)
        self._iB = self.params.get("i2h_bias", init=i2h_bias_initializer)
        self._hB = self.params.get("h2h_bias", init=h2h_bias_initializer)

    @property
    def state_info(self) -> list[dict[str, Any]]:
        return [{"shape": self._state_shape, "__layout__": self._conv_layout} for _ in range(self._states)]

    def _project(self, inputs: Any, state: Any, name: str) -> tuple[Any, Any]:
        shared = {"num_filter": self._num_hidden * len(self._gate_names), "layout": self._conv_layout}
        return (
            sym.Convolution(inputs, self._iW, self._iB, name=f"{name}i2h", **shared, **self._input_conv),
            sym.Convolution(state, self._hW, self._hB, name=f"{name}h2h", **shared, **self._state_conv),
        )


class ConvRNNCell(BaseConvRNNCell, PlainGates):
    """A plain convolutional recurrent cell."""

    _default_prefix = "ConvRNN_"


class ConvLSTMCell(BaseConvRNNCell, LSTMGates):
    """A convolutional long short-term memory cell."""

    _states = 2
    _default_prefix = "ConvLSTM_"


class ConvGRUCell(BaseConvRNNCell, GRUGates):
    """A convolutional gated recurrent unit."""

    _default_prefix = "ConvGRU_"
