"""Convolutions, their transposes, and reflection padding. Layouts name the axes: N batch, C channels, D, H, W space."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

from autohybrid.gluon.hybrid_block import HybridBlock
from autohybrid.gluon.nn.activations import Activation

__all__ = [
    "Conv1D", "Conv1DTranspose", "Conv2D", "Conv2DTranspose", "Conv3D", "Conv3DTranspose", "ReflectionPad2D",
]  # fmt: skip

Ints = int | Sequence[int]


class _Conv(HybridBlock):
    """A convolution of any rank; `kernel_size` is a tuple and gives the rank."""

    _shape_argument = "in_channels"

    def __init__(
        self,
        channels: int,
        kernel_size: Sequence[int],
        strides: Ints,
        padding: Ints,
        dilation: Ints,
        groups: int,
        layout: str,
        in_channels: int = 0,
        activation: str | None = None,
        use_bias: bool = True,
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        op_name: str = "Convolution",
        adj: Sequence[int] | None = None,
        prefix: str | None = None,
        params: Any = None,
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        rank = len(kernel_size)
        self._channels = channels
        self._in_channels = in_channels
        self._op_name = op_name
        self._kwargs = {
            "kernel": kernel_size, "stride": as_tuple(strides, rank), "dilate": as_tuple(dilation, rank),
            "pad": as_tuple(padding, rank), "num_filter": channels, "num_group": groups, "no_bias": not use_bias,
            "layout": layout,
        }  # fmt: skip
        if adj is not None:
            self._kwargs["adj"] = adj
        shape = _weight_shape(op_name, channels, in_channels, groups, tuple(kernel_size), layout)
        with self.name_scope():
            self.weight = self.params.get("weight", shape=shape, init=weight_initializer, allow_deferred_init=True)
            self.bias = None
            if use_bias:
                self.bias = self.params.get("bias", shape=(channels,), init=bias_initializer, allow_deferred_init=True)
            self.act = None if activation is None else Activation(activation, prefix=activation + "_")

    def hybrid_forward(self, F: Any, x: Any, weight: Any, bias: Any = None) -> Any:
        operator = getattr(F, self._op_name)
        if bias is None:
            out = operator(x, weight, name="fwd", **self._kwargs)
        else:
            out = operator(x, weight, bias, name="fwd", **self._kwargs)
        if self.act is not None:
            out = self.act(out)
        return out

    def _alias(self) -> str:
        return "conv"

    def __repr__(self) -> str:
        kwargs = self._kwargs
        rank = len(kwargs["kernel"])
        shape = self.weight.shape or (self._channels, 0)
        parts = [f"{shape[1] or None} -> {shape[0]}", f"kernel_size={kwargs['kernel']}", f"stride={kwargs['stride']}"]
        if kwargs["pad"] != (0,) * rank:
            parts.append(f"padding={kwargs['pad']}")
        if kwargs["dilate"] != (1,) * rank:
            parts.append(f"dilation={kwargs['dilate']}")
        if kwargs["num_group"] != 1:
            parts.append(f"groups={kwargs['num_group']}")
        if self.bias is None:
            parts.append("bias=False")
        if self.act is not None:
            parts.append(repr(self.act))
        return f"{type(self).__name__}({', '.join(parts)})"


class _ConvND(_Conv):
    """A convolution of the rank that the class says."""

    _rank: int
    _layouts: tuple[str, ...]
    _operator = "Convolution"

    def __init__(
        self,
        channels: int,
        kernel_size: Ints,
        strides: Ints = 1,
        padding: Ints = 0,
        dilation: Ints = 1,
        groups: int = 1,
        layout: str | None = None,
        activation: str | None = None,
        use_bias: bool = True,
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        in_channels: int = 0,
        **kwargs: Any,
    ) -> None:
        check_layout(type(self).__name__, layout := layout or self._layouts[0], self._layouts)
        super().__init__(
            channels, checked_tuple(kernel_size, self._rank, "kernel_size"), strides, padding, dilation, groups, layout,
            in_channels, activation, use_bias, weight_initializer, bias_initializer,
            kwargs.pop("op_name", self._operator), **kwargs,
        )  # fmt: skip


class _ConvTransposeND(_ConvND):
    """A transposed convolution of the rank that the class says."""

    _operator = "Deconvolution"

    def __init__(
        self,
        channels: int,
        kernel_size: Ints,
        strides: Ints = 1,
        padding: Ints = 0,
        output_padding: Ints = 0,
        dilation: Ints = 1,
        groups: int = 1,
        layout: str | None = None,
        activation: str | None = None,
        use_bias: bool = True,
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        in_channels: int = 0,
        **kwargs: Any,
    ) -> None:
        self.outpad = checked_tuple(output_padding, self._rank, "output_padding")
        super().__init__(
            channels, kernel_size, strides, padding, dilation, groups, layout, activation, use_bias,
            weight_initializer, bias_initializer, in_channels, adj=self.outpad, **kwargs,
        )  # fmt: skip


class Conv1D(_ConvND):
    """Convolution over `(N, C, W)`: `channels` filters of `kernel_size`."""

    _rank = 1
    _layouts = ("NCW",)


class Conv2D(_ConvND):
    """Convolution over `(N, C, H, W)` or `(N, H, W, C)`: `channels` filters of `kernel_size`.

    `groups` divides input and output channels into as many independent convolutions. `in_channels` is inferred when 0.
    """

    _rank = 2
    _layouts = ("NCHW", "NHWC")


class Conv3D(_ConvND):
    """Convolution over `(N, C, D, H, W)` or `(N, D, H, W, C)`."""

    _rank = 3
    _layouts = ("NCDHW", "NDHWC")


class Conv1DTranspose(_ConvTransposeND):
    """Transposed convolution over `(N, C, W)`; `output_padding` lengthens the output at its end."""

    _rank = 1
    _layouts = ("NCW",)


class Conv2DTranspose(_ConvTransposeND):
    """Transposed convolution over `(N, C, H, W)` or `(N, H, W, C)`."""

    _rank = 2
    _layouts = ("NCHW", "NHWC")


class Conv3DTranspose(_ConvTransposeND):
    """Transposed convolution over `(N, C, D, H, W)` or `(N, D, H, W, C)`."""

    _rank = 3
    _layouts = ("NCDHW", "NDHWC")


class ReflectionPad2D(HybridBlock):
    """Pads `(N, C, H, W)` by mirroring at the edges: by `padding` on all four sides, or eight numbers, two an axis."""

    def __init__(self, padding: Ints = 0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if isinstance(padding, numbers.Number):
            padding = (0, 0, 0, 0, *(padding,) * 4)  # type: ignore[assignment]
        if len(padding) != 8:  # type: ignore[arg-type]
            raise AssertionError(f"`padding` must be one number or eight, not {padding}")
        self._padding = padding

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return F.pad(x, mode="reflect", pad_width=self._padding)


def as_tuple(value: Ints, rank: int) -> Any:
    """A number once for each spatial axis; anything else as it is."""
    return (value,) * rank if isinstance(value, numbers.Number) else value


def checked_tuple(value: Ints, rank: int, name: str) -> Any:
    """`as_tuple`; raises AssertionError for another length."""
    given = as_tuple(value, rank)
    if len(given) != rank:
        raise AssertionError(f"`{name}` must be a number or {rank} numbers, not {value}")
    return given


def check_layout(layer: str, layout: str, known: Sequence[str]) -> None:
    """Raises AssertionError when a layer has no such layout."""
    if layout not in known:
        raise AssertionError(f"`layout` of {layer} must be {' or '.join(repr(k) for k in known)}, not {layout!r}")


def _weight_shape(
    op_name: str, channels: int, in_channels: int, groups: int, kernel: tuple[int, ...], layout: str
) -> tuple[int, ...]:
    """Output channels, input channels a group, then the kernel; a transposed convolution exchanges the two."""
    if op_name.lower() == "deconvolution":
        first, second = in_channels, channels // groups
    else:
        first, second = channels, in_channels // groups
    return (first, second, *kernel) if layout.startswith("NC") else (first, *kernel, second)
