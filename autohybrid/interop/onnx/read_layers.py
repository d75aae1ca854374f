"""How the layers of ONNX are read: convolutions, pooling, normalization, activations, resizing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autohybrid import symbol as sym
from autohybrid.interop.onnx.read_shaping import padded
from autohybrid.interop.onnx.reader import OnnxCall, Reading

Pads = list[tuple[int, int]]
_LOWEST = float(np.finfo("float32").min)


# -- windows -----------------------------------------------------------------------------------------------------------
def _pads(call: OnnxCall, kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]) -> Pads:
    """Padding before and after, for each spatial axis."""
    mode = call.option("auto_pad", b"NOTSET").decode()
    axes = len(kernel)
    if mode == "NOTSET":
        given = call.option("pads") or [0] * 2 * axes
        return list(zip(given[:axes], given[axes:]))
    if mode == "VALID":
        return [(0, 0)] * axes
    pairs = []
    for extent, size, stride, dilation in zip(call.shape(start=2), kernel, strides, dilations):
        total = max((-(-extent // stride) - 1) * stride + (size - 1) * dilation + 1 - extent, 0)
        less = total // 2
        pairs.append((less, total - less) if mode == "SAME_UPPER" else (total - less, less))
    return pairs


def _is_even(pairs: Pads) -> bool:
    return all(before == after for before, after in pairs)


def _convolution(call: OnnxCall) -> Any:
    weight = call.shape(1)
    kernel = tuple(weight[2:])
    strides = tuple(call.option("strides") or (1,) * len(kernel))
    dilations = tuple(call.option("dilations") or (1,) * len(kernel))
    pairs = _pads(call, kernel, strides, dilations)
    data, pad = call.data(), tuple(before for before, _ in pairs)
    if not _is_even(pairs):
        data, pad = padded(data, [(0, 0), (0, 0), *pairs]), (0,) * len(kernel)
    return sym.Convolution(
        data, *call.operands()[1:], kernel=kernel, stride=strides, dilate=dilations, pad=pad, num_filter=weight[0],
        num_group=call.option("group", 1), no_bias=not call.has(2),
    )  # fmt: skip


def _transposed_convolution(call: OnnxCall) -> Any:
    """Uneven padding is cut off the result of none."""
    weight, group = call.shape(1), call.option("group", 1)
    kernel = tuple(weight[2:])
    axes = len(kernel)
    strides = tuple(call.option("strides") or (1,) * axes)
    dilations = tuple(call.option("dilations") or (1,) * axes)
    if call.option("output_shape") or call.option("auto_pad", b"NOTSET") not in (b"NOTSET", b"VALID"):
        raise call.refuse("its padding follows from the shape of its result")
    pairs = _pads(call, kernel, strides, dilations)
    adjust = tuple(call.option("output_padding") or (0,) * axes)
    even = _is_even(pairs)
    result = sym.Deconvolution(
        *call.operands(), kernel=kernel, stride=strides, dilate=dilations, num_filter=weight[1] * group,
        pad=tuple(before for before, _ in pairs) if even else (0,) * axes, adj=adjust, num_group=group,
        no_bias=not call.has(2),
    )  # fmt: skip
    for axis, (before, after) in enumerate(() if even else pairs, 2):
        if before or after:
            result = sym.slice_axis(result, axis=axis, begin=before, end=-after or None)
    return result


def _pool_window(call: OnnxCall) -> tuple[tuple[int, ...], tuple[int, ...], Pads, Pads]:
    """Kernel, strides, the padding, and what must be added to its end for windows that begin before the end."""
    kernel = tuple(call.option("kernel_shape"))
    strides = tuple(call.option("strides") or (1,) * len(kernel))
    if set(call.option("dilations") or [1]) != {1}:
        raise call.refuse("its window is dilated")
    pairs = _pads(call, kernel, strides, (1,) * len(kernel))
    beyond = [(0, 0)] * len(kernel)
    if call.option("ceil_mode", 0):
        for axis, (extent, size, stride, (before, after)) in enumerate(
            zip(call.shape(start=2), kernel, strides, pairs)
        ):
            count = -(-(extent + before + after - size) // stride) + 1
            if (count - 1) * stride >= extent + before:
                count -= 1  # a window that would begin in the padding at the end
            beyond[axis] = (0, max((count - 1) * stride + size - extent - before - after, 0))
    return kernel, strides, pairs, beyond


def _max_pool(call: OnnxCall) -> Any:
    if len(call.outputs) > 1 and call.outputs[1]:
        raise call.refuse("it gives the places of the largest elements too")
    kernel, strides, pairs, beyond = _pool_window(call)
    data, pad = call.data(), tuple(before for before, _ in pairs)
    whole = [(first, last + more) for (first, last), (_, more) in zip(pairs, beyond)]
    if not _is_even(whole):
        data, pad = padded(data, [(0, 0), (0, 0), *whole], value=_LOWEST), (0,) * len(kernel)
    return sym.Pooling(data, kernel=kernel, stride=strides, pad=pad, pool_type="max")


def _average_pool(call: OnnxCall) -> Any:
    kernel, strides, pairs, beyond = _pool_window(call)
    counted = bool(call.option("count_include_pad", 0))
    window = {"kernel": kernel, "stride": strides, "pool_type": "avg"}
    if _is_even(pairs) and not any(more for _, more in beyond):
        pad = tuple(before for before, _ in pairs)
        return sym.Pooling(call.data(), pad=pad, count_include_pad=counted, **window)
    # sums over the padded data, over how many elements count in each window
    edges: Pads = [(0, 0), (0, 0)]
    ones = padded(sym.ones_like(call.data()), [*edges, *pairs], value=float(counted))
    data = padded(padded(call.data(), [*edges, *pairs]), [*edges, *beyond])
    share = sym.Pooling(padded(ones, [*edges, *beyond]), **window)
    return sym.broadcast_div(sym.Pooling(data, **window), share)


def _global_pool(kind: str) -> Reading:
    def read(call: OnnxCall) -> Any:
        axes = call.rank() - 2
        if axes > 3:
            raise call.refuse(f"it has {axes} spatial axes")
        return sym.Pooling(call.data(), kernel=(1,) * axes, global_pool=True, pool_type=kind)

    return read


# -- normalization -----------------------------------------------------------------------------------------------------
def _batch_norm(call: OnnxCall) -> Any:
    for index in (3, 4):
        call.require(index, "statistics")
    if call.option("spatial", 1) != 1:
        raise call.refuse("it has statistics for each element (spatial=0)")
    return sym.BatchNorm(
        *call.operands()[:5], eps=call.option("epsilon", 1e-5), momentum=call.option("momentum", 0.9),
        fix_gamma=False,
    )[0]  # fmt: skip


def _normalized(x: Any, axes: tuple[int, ...], eps: float) -> Any:
    centred = sym.broadcast_sub(x, sym.mean(x, axis=axes, keepdims=True))
    return sym.broadcast_mul(centred, sym.rsqrt(sym.mean(sym.square(centred), axis=axes, keepdims=True) + eps))


def _layer_norm(call: OnnxCall) -> Any:
    if sum(1 for each in call.outputs if each) > 1:
        raise call.refuse("it gives its mean and deviation too")
    rank, eps = call.rank(), call.option("epsilon", 1e-5)
    axis = call.option("axis", -1) % rank
    if axis == rank - 1:
        shift = call.data(2) if call.has(2) else call.constant("beta", np.zeros(call.shape(1)))
        return sym.LayerNorm(call.data(), call.data(1), shift, axis=-1, eps=eps)
    scaled = sym.broadcast_mul(_normalized(call.data(), tuple(range(axis, rank)), eps), call.data(1))
    return sym.broadcast_add(scaled, call.data(2)) if call.has(2) else scaled


def _instance_norm(call: OnnxCall) -> Any:
    return sym.InstanceNorm(*call.operands(), eps=call.option("epsilon", 1e-5))


def _group_norm(call: OnnxCall) -> Any:
    rank, groups = call.rank(), call.option("num_groups")
    if call.shape(1) == (groups,) and call.opset < 21:
        raise call.refuse("it scales groups, as only operator sets 18 to 20 do")
    parts = sym.reshape(call.data(), shape=(0, -4, groups, -1, -2))
    whole = _normalized(parts, tuple(range(2, rank + 1)), call.option("epsilon", 1e-5))
    scale, shift = (sym.reshape(call.data(i), shape=(1, -1) + (1,) * (rank - 2)) for i in (1, 2))
    return sym.broadcast_add(sym.broadcast_mul(sym.reshape(whole, shape=(0, -3, -2)), scale), shift)


def _lrn(call: OnnxCall) -> Any:
    return sym.LRN(
        call.data(), nsize=call.option("size"), alpha=call.option("alpha", 1e-4), beta=call.option("beta", 0.75),
        knorm=call.option("bias", 1.0),
    )  # fmt: skip


# -- activations -------------------------------------------------------------------------------------------------------
def _leaky(kind: str, slope: float) -> Reading:
    return lambda call: sym.LeakyReLU(call.data(), act_type=kind, slope=call.option("alpha", slope))


def _selu(call: OnnxCall) -> Any:
    """ONNX lets a model choose the two numbers."""
    alpha, gamma = call.option("alpha", 1.67326319217681884765625), call.option("gamma", 1.05070102214813232421875)
    return sym.LeakyReLU(call.data(), act_type="elu", slope=alpha) * gamma


def _celu(call: OnnxCall) -> Any:
    alpha = call.option("alpha", 1.0)
    return sym.LeakyReLU(call.data() / alpha, act_type="elu", slope=1.0) * alpha


def _prelu(call: OnnxCall) -> Any:
    """The slope may have any shape that fits."""
    negative = sym.broadcast_mul(sym.minimum(call.data(), 0), call.data(1))
    return sym.broadcast_add(sym.relu(call.data()), negative)


def _hard_sigmoid(call: OnnxCall) -> Any:
    return sym.hard_sigmoid(call.data(), alpha=call.option("alpha", 0.2), beta=call.option("beta", 0.5))


def _hard_swish(call: OnnxCall) -> Any:
    return call.data() * sym.hard_sigmoid(call.data(), alpha=1 / 6, beta=0.5)


def _gelu(call: OnnxCall) -> Any:
    x = call.data()
    if call.option("approximate", b"none") == b"none":
        return sym.LeakyReLU(x, act_type="gelu")
    inner = (x + 0.044715 * x**3) * float(np.sqrt(2 / np.pi))
    return 0.5 * x * (1 + sym.tanh(inner))


def _mish(call: OnnxCall) -> Any:
    return call.data() * sym.tanh(sym.Activation(call.data(), act_type="softrelu"))


def _thresholded(call: OnnxCall) -> Any:
    return call.data() * (call.data() > call.option("alpha", 1.0))


def _softmax(name: str) -> Reading:
    def read(call: OnnxCall) -> Any:
        """Before operator set 13 all axes from `axis` on were one."""
        function = getattr(sym, name)
        if call.opset >= 13:
            return function(call.data(), axis=call.option("axis", -1))
        axis = call.option("axis", 1)
        if axis in (-1, call.rank() - 1):
            return function(call.data(), axis=-1)
        flat = sym.reshape(call.data(), shape=(int(np.prod(call.shape()[:axis])), -1))
        return sym.reshape_like(function(flat, axis=-1), call.data())

    return read


def _dropout(call: OnnxCall) -> Any:
    if len(call.outputs) > 1 and call.outputs[1]:
        raise call.refuse("it gives its mask too")
    share = float(call.require(1, "ratio").item()) if call.has(1) else call.option("ratio", 0.5)
    return sym.Dropout(call.data(), p=share)


# -- resizing ----------------------------------------------------------------------------------------------------------
def _resize(call: OnnxCall) -> Any:
    """Rows and columns of pictures: nearest neighbours by whole factors, and linear interpolation."""
    mode = call.option("mode", b"nearest").decode()
    place = call.option("coordinate_transformation_mode", b"half_pixel").decode()
    if call.kind == "Upsample" or call.opset < 11:
        place = "asymmetric"
    if call.option("axes") or call.option("keep_aspect_ratio_policy", b"stretch") != b"stretch":
        raise call.refuse("it has axes or a policy for the ratio of the sides")
    scales = _factors(call)
    if mode == "nearest":
        if any(scale != int(scale) for scale in scales) or place not in ("asymmetric", "half_pixel"):
            raise call.refuse(f"nearest neighbours are repeated by whole numbers, not {place} by {scales}")
        rounding = call.option("nearest_mode", b"round_prefer_floor").decode()
        if call.opset >= 11 and place == "asymmetric" and rounding != "floor":
            raise call.refuse(f"its nearest_mode is {rounding}")
        return _repeated(call.data(), [int(scale) for scale in scales])
    if mode != "linear" or scales[:2] != [1, 1] or len(scales) != 4:
        raise call.refuse(f"its mode is {mode}, by {scales}")
    if place not in ("half_pixel", "pytorch_half_pixel", "align_corners"):
        raise call.refuse(f"its coordinate_transformation_mode is {place}")
    height, width = (round(extent * scale, 3) for extent, scale in zip(call.shape(start=2), scales[2:]))
    return sym.contrib.BilinearResize2D(
        call.data(), height=int(height), width=int(width), align_corners=place == "align_corners"
    )


def _factors(call: OnnxCall) -> list[float]:
    """The factor of each axis. The region of interest came between data and scales in operator set 11."""
    index = 1 if call.kind == "Upsample" or call.opset < 11 else 2
    if index == 2 and call.has(3):
        sizes = call.numbers(3, "sizes")
        return [new / old for new, old in zip(sizes, call.shape())]
    given: Any = call.require(index, "scales").tolist() if call.has(index) else call.option("scales")
    return list(given)


def _repeated(x: Any, scales: list[int]) -> Any:
    if len(scales) == 4 and scales[:2] == [1, 1] and scales[2] == scales[3]:
        return sym.UpSampling(x, scale=scales[2], sample_type="nearest")
    for axis, scale in enumerate(scales):
        x = sym.repeat(x, repeats=scale, axis=axis) if scale != 1 else x
    return x


LAYERS: dict[str, Reading] = {
    "AveragePool": _average_pool,
    "BatchNormalization": _batch_norm,
    "Celu": _celu,
    "Conv": _convolution,
    "ConvTranspose": _transposed_convolution,
    "Dropout": _dropout,
    "Elu": _leaky("elu", 1.0),
    "Gelu": _gelu,
    "GlobalAveragePool": _global_pool("avg"),
    "GlobalMaxPool": _global_pool("max"),
    "GroupNormalization": _group_norm,
    "HardSigmoid": _hard_sigmoid,
    "HardSwish": _hard_swish,
    "InstanceNormalization": _instance_norm,
    "LRN": _lrn,
    "LayerNormalization": _layer_norm,
    "LeakyRelu": _leaky("leaky", 0.01),
    "LogSoftmax": _softmax("log_softmax"),
    "MaxPool": _max_pool,
    "Mish": _mish,
    "PRelu": _prelu,
    "Resize": _resize,
    "Selu": _selu,
    "Softmax": _softmax("softmax"),
    "Softplus": lambda call: sym.Activation(call.data(), act_type="softrelu"),
    "ThresholdedRelu": _thresholded,
    "Upsample": _resize,
}
