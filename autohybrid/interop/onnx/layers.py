"""What layers become in ONNX: convolutions, pooling, normalization, activations, dense layers, embeddings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autohybrid.interop.onnx.graph_writer import Call

Converter = Callable[[Call], None]


def _require_channels_first(call: Call) -> None:
    layout = getattr(call.attrs, "layout", None)
    if layout not in (None, "None", "NCW", "NCHW", "NCDHW"):
        raise call.refuse(f"its layout is {layout}; channels come first in ONNX")


def _window(call: Call) -> dict[str, Any]:
    """Kernel, strides and padding, with the defaults of empty tuples."""
    attrs, axes = call.attrs, len(call.attrs.kernel)
    pads = list(attrs.pad or (0,) * axes)
    return {"kernel_shape": list(attrs.kernel), "strides": list(attrs.stride or (1,) * axes), "pads": pads * 2}


def _convolution(call: Call) -> None:
    _require_channels_first(call)
    dilations = list(call.attrs.dilate or (1,) * len(call.attrs.kernel))
    call.result("Conv", *call.inputs, **_window(call), dilations=dilations, group=call.attrs.num_group)


def _deconvolution(call: Call) -> None:
    _require_channels_first(call)
    if call.attrs.target_shape:
        raise call.refuse("`target_shape` decides its padding")
    axes = len(call.attrs.kernel)
    dilations = list(call.attrs.dilate or (1,) * axes)
    adjust = list(call.attrs.adj or (0,) * axes)
    call.result(
        "ConvTranspose", *call.inputs, **_window(call), dilations=dilations, group=call.attrs.num_group,
        output_padding=adjust,
    )  # fmt: skip


def _batch_norm(call: Call) -> None:
    data, gamma, beta, mean, variance = call.inputs
    if call.attrs.axis != 1:
        raise call.refuse(f"its axis is {call.attrs.axis}; ONNX normalizes along axis 1")
    if call.attrs.output_mean_var:
        raise call.refuse("it gives its mean and variance too")
    if call.attrs.fix_gamma:
        gamma = call.constant(np.ones(call.shapes[1]))
    call.result("BatchNormalization", data, gamma, beta, mean, variance, epsilon=call.attrs.eps)


def _layer_norm(call: Call) -> None:
    if call.attrs.axis not in (-1, len(call.shapes[0]) - 1):
        raise call.refuse(f"its axis is {call.attrs.axis}; only the last one can be written")
    if call.attrs.output_mean_var:
        raise call.refuse("it gives its mean and deviation too")
    call.result("LayerNormalization", *call.inputs, axis=-1, epsilon=call.attrs.eps)


def _instance_norm(call: Call) -> None:
    call.result("InstanceNormalization", *call.inputs, epsilon=call.attrs.eps)


def _pooling(call: Call) -> None:
    _require_channels_first(call)
    attrs = call.attrs
    names = {"max": "MaxPool", "avg": "AveragePool"}
    if attrs.pool_type not in names:
        raise call.refuse(f"its pool_type is {attrs.pool_type}")
    kind = names[attrs.pool_type]
    if attrs.global_pool:
        call.result(f"Global{kind}", call.inputs[0])
        return
    window = _window(call)
    if attrs.pooling_convention == "same":
        raise call.refuse("its pooling_convention is 'same'")
    more: dict[str, Any] = {"ceil_mode": int(attrs.pooling_convention == "full" and _is_rounded_up(call, window))}
    if kind == "AveragePool":
        if more["ceil_mode"]:
            raise call.refuse("averages over windows that reach beyond the padding differ")
        more["count_include_pad"] = int(attrs.count_include_pad is not False)
    call.result(kind, call.inputs[0], **window, **more)


def _is_rounded_up(call: Call, window: dict[str, Any]) -> bool:
    axes = zip(call.shapes[0][2:], window["kernel_shape"], window["strides"], window["pads"])
    return any((extent + 2 * pad - kernel) % stride for extent, kernel, stride, pad in axes)


def _fully_connected(call: Call) -> None:
    data, weight, *bias = call.inputs
    if call.attrs.flatten or len(call.shapes[0]) == 2:
        flat = call.add("Flatten", data, axis=1) if len(call.shapes[0]) != 2 else data
        call.result("Gemm", flat, weight, *bias, transB=1)
        return
    turned = call.add("Transpose", weight, perm=[1, 0])
    if not bias:
        call.result("MatMul", data, turned)
        return
    call.result("Add", call.add("MatMul", data, turned), bias[0])


_ACTIVATIONS = {"relu": "Relu", "sigmoid": "Sigmoid", "tanh": "Tanh", "softrelu": "Softplus", "softsign": "Softsign"}


def _activation(call: Call) -> None:
    call.result(_ACTIVATIONS[call.attrs.act_type], call.inputs[0])


def _leaky_relu(call: Call) -> None:
    kind = call.attrs.act_type
    if kind == "leaky":
        call.result("LeakyRelu", call.inputs[0], alpha=call.attrs.slope)
    elif kind == "elu":
        call.result("Elu", call.inputs[0], alpha=call.attrs.slope)
    elif kind == "selu":
        call.result("Selu", call.inputs[0])
    elif kind == "prelu":
        extents = [1, -1] + [1] * (len(call.shapes[0]) - 2)
        slope = call.add("Reshape", call.inputs[1], call.whole(extents[1:] if len(extents) > 1 else [-1]))
        call.result("PRelu", call.inputs[0], slope)
    elif kind == "gelu":
        erf = call.add("Erf", call.add("Mul", call.inputs[0], call.constant(1 / np.sqrt(2))))
        half = call.add("Mul", call.inputs[0], call.constant(0.5))
        call.result("Mul", half, call.add("Add", erf, call.constant(1)))
    else:
        raise call.refuse(f"its act_type is {kind}")


def _softmax(kind: str) -> Converter:
    def convert(call: Call) -> None:
        if getattr(call.attrs, "use_length", False) or getattr(call.attrs, "temperature", None) not in (None, 1.0):
            raise call.refuse("it has a length or a temperature")
        call.result(kind, call.inputs[0], axis=call.attrs.axis)

    return convert


def _softmax_output(call: Call) -> None:
    call.result("Softmax", call.inputs[0], axis=1 if call.attrs.multi_output else -1)


def _dropout(call: Call) -> None:
    if call.attrs.mode == "always":
        raise call.refuse("it drops out when predicting, too")
    call.result("Identity", call.inputs[0])


def _embedding(call: Call) -> None:
    last = call.whole(call.shapes[1][0] - 1)
    index = call.add("Cast", call.inputs[0], to=call.writer.onnx.TensorProto.INT64)
    call.result("Gather", call.inputs[1], call.add("Clip", index, call.whole(0), last), axis=0)


def _lrn(call: Call) -> None:
    attrs = call.attrs
    call.result("LRN", call.inputs[0], size=attrs.nsize, alpha=attrs.alpha, beta=attrs.beta, bias=attrs.knorm)


def _up_sampling(call: Call) -> None:
    if call.attrs.sample_type != "nearest" or len(call.inputs) != 1:
        raise call.refuse("only nearest neighbours of one input can be written")
    scale = call.attrs.scale
    scales = call.writer.constant(call.node.name, [1, 1, scale, scale], np.float32)
    call.result(
        "Resize", call.inputs[0], "", scales, mode="nearest", coordinate_transformation_mode="asymmetric",
        nearest_mode="floor",
    )  # fmt: skip


LAYERS: dict[str, Converter] = {
    "Activation": _activation,
    "BatchNorm": _batch_norm,
    "Convolution": _convolution,
    "Deconvolution": _deconvolution,
    "Dropout": _dropout,
    "Embedding": _embedding,
    "FullyConnected": _fully_connected,
    "InstanceNorm": _instance_norm,
    "LRN": _lrn,
    "LayerNorm": _layer_norm,
    "LeakyReLU": _leaky_relu,
    "Pooling": _pooling,
    "SoftmaxActivation": lambda call: call.result(
        "Softmax", call.inputs[0], axis=1 if call.attrs.mode == "channel" else -1
    ),
    "SoftmaxOutput": _softmax_output,
    "UpSampling": _up_sampling,
    "log_softmax": _softmax("LogSoftmax"),
    "softmax": _softmax("Softmax"),
}
