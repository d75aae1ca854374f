"""Deformable convolutions: an ordinary convolution of the input says where each tap of the kernel samples it."""

from __future__ import annotations

from typing import Any

from autohybrid.gluon.hybrid_block import HybridBlock
from autohybrid.gluon.nn.activations import Activation
from autohybrid.gluon.nn.convolution import Ints, as_tuple, check_layout, checked_tuple
from autohybrid.gluon.parameter_dict import ParameterDict

__all__ = ["DeformableConvolution", "ModulatedDeformableConvolution"]

#: Name, shape (None: the layer does without) and initializer of a parameter.
_Weight = tuple[str, tuple[int, ...] | None, Any]


class DeformableConvolution(HybridBlock):
    """Convolution over `(N, C, H, W)` with learnt offsets, two for each tap and deformable group.

    The offsets are computed from the input by a convolution of their own (`offset_weight`, `offset_bias`), zero at
    first. `in_channels` is inferred when 0.
    """

    _shape_argument = "in_channels"
    #: Numbers that the inner convolution computes for each tap.
    _numbers_a_tap = 2
    deformable_conv_weight: Any
    deformable_conv_bias: Any

    def __init__(
        self,
        channels: int,
        kernel_size: Ints = (1, 1),
        strides: Ints = (1, 1),
        padding: Ints = (0, 0),
        dilation: Ints = (1, 1),
        groups: int = 1,
        num_deformable_group: int = 1,
        layout: str = "NCHW",
        use_bias: bool = True,
        in_channels: int = 0,
        activation: str | None = None,
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        offset_weight_initializer: Any = "zeros",
        offset_bias_initializer: Any = "zeros",
        offset_use_bias: bool = True,
        op_name: str | None = None,
        adj: Any = None,
        prefix: str | None = None,
        params: ParameterDict | None = None,
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        check_layout(type(self).__name__, layout, ("NCHW", "NHWC"))
        kernel = tuple(checked_tuple(kernel_size, 2, "kernel_size"))
        self._channels = channels
        self._in_channels = in_channels
        self._op_name = op_name or type(self).__name__
        taps = kernel[0] * kernel[1] * num_deformable_group
        self.offset_split_index = 2 * taps
        shared = {
            "kernel": kernel, "stride": as_tuple(strides, 2), "dilate": as_tuple(dilation, 2),
            "pad": as_tuple(padding, 2), "num_group": groups, "layout": layout, **({"adj": adj} if adj else {}),
        }  # fmt: skip
        outputs = self._numbers_a_tap * taps
        self._kwargs_offset = {**shared, "num_filter": outputs, "no_bias": not offset_use_bias}
        self._kwargs_deformable_conv = {
            **shared, "num_filter": channels, "num_deformable_group": num_deformable_group, "no_bias": not use_bias,
        }  # fmt: skip
        inner = in_channels // groups
        offset_shape = (outputs, inner, *kernel) if layout == "NCHW" else (outputs, *kernel, inner)
        with self.name_scope():
            for name, shape, init in self._weights_in_order(
                [
                    ("offset_weight", offset_shape, offset_weight_initializer),
                    ("offset_bias", (outputs,) if offset_use_bias else None, offset_bias_initializer),
                ],
                [
                    ("deformable_conv_weight", (channels, inner, *kernel), weight_initializer),
                    ("deformable_conv_bias", (channels,) if use_bias else None, bias_initializer),
                ],
            ):
                made = self.params.get(name, shape=shape, init=init, allow_deferred_init=True) if shape else None
                setattr(self, name, made)
            self.act = Activation(activation, prefix=activation + "_") if activation else None

    @staticmethod
    def _weights_in_order(offset: list[_Weight], own: list[_Weight]) -> list[_Weight]:
        """The order in which the parameters are made, which is that of names and initial values."""
        return [*offset, *own]

    def hybrid_forward(
        self,
        F: Any,
        x: Any,
        offset_weight: Any,
        deformable_conv_weight: Any,
        offset_bias: Any = None,
        deformable_conv_bias: Any = None,
    ) -> Any:
        offset = self._convolve(F.Convolution, (x, offset_weight), offset_bias, cudnn_off=True, **self._kwargs_offset)
        inputs = (x, *self._sampling(F, offset), deformable_conv_weight)
        operator = getattr(F.contrib, self._op_name)
        kwargs = self._kwargs_deformable_conv
        out = self._convolve(operator, inputs, deformable_conv_bias, name="fwd", **kwargs)
        return out if self.act is None else self.act(out)

    @staticmethod
    def _convolve(operator: Any, inputs: tuple[Any, ...], bias: Any, **kwargs: Any) -> Any:
        return operator(*inputs, **kwargs) if bias is None else operator(*inputs, bias, **kwargs)

    def _sampling(self, F: Any, offset: Any) -> tuple[Any, ...]:
        """The inputs of the operator that say where to sample."""
        return (offset,)

    def _alias(self) -> str:
        return "deformable_conv"

    def __repr__(self) -> str:
        kwargs = self._kwargs_deformable_conv
        shape = self.deformable_conv_weight.shape
        parts = [f"{shape[1] or None} -> {shape[0]}", f"kernel_size={kwargs['kernel']}", f"stride={kwargs['stride']}"]
        if kwargs["pad"] != (0, 0):
            parts.append(f"padding={kwargs['pad']}")
        if kwargs["dilate"] != (1, 1):
            parts.append(f"dilation={kwargs['dilate']}")
        if kwargs["num_group"] != 1:
            parts.append(f"groups={kwargs['num_group']}")
        if self.deformable_conv_bias is None:
            parts.append("bias=False")
        if self.act is not None:
            parts.append(repr(self.act))
        return f"{type(self).__name__}({', '.join(parts)})"


class ModulatedDeformableConvolution(DeformableConvolution):
    """DeformableConvolution that also weighs every sample, by `2 * sigmoid` of a third number for each tap."""

    _numbers_a_tap = 3

    @staticmethod
    def _weights_in_order(offset: list[_Weight], own: list[_Weight]) -> list[_Weight]:
        return [*own, *offset]

    def _sampling(self, F: Any, offset: Any) -> tuple[Any, ...]:
        split = self.offset_split_index
        mask = F.sigmoid(F.slice_axis(offset, axis=1, begin=split, end=None)) * 2
        return F.slice_axis(offset, axis=1, begin=0, end=split), mask

    def _alias(self) -> str:
        return "modulated_deformable_conv"
