"""Quantized layers of images and sums: quantized_pooling, quantized_conv, quantized_batch_norm, quantized_elemwise_add.

Every quantized input has two ranges of one element (see quantization.py), and every output comes with them. What is
rounded when, and to which top a range counts, is that of MXNet 1.9.1's CPU build with MKL-DNN.
"""

from __future__ import annotations

import math
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.convolution import convolve
from autohybrid.tensor.opdef import Dtypes, OpDef, Sample, Shapes
from autohybrid.tensor.ops import batch_norm, convolution, pooling
from autohybrid.tensor.ops.quantization import absolute_range, range_dtypes, saturate
from autohybrid.tensor.pooling import window_max, window_sizes, window_sum
from autohybrid.tensor.shapes import unify

_INT32_TOP = 2**31 - 1
_STEPS = {"int8": 127.5, "uint8": 255.5, "int32": 2.0**31}
_OUTPUTS = ("output", "min_output", "max_output")
_CALIBRATION = (Attr("min_calib_range", "float?", None), Attr("max_calib_range", "float?", None))
_ENDS = {1: [-2.0], 2: [3.0]}


def _require_bytes(names: tuple[str, ...], dtypes: Dtypes, allowed: tuple[str, ...] = ("int8", "uint8")) -> None:
    for name, dtype in zip(names, dtypes):
        if dtype not in (None, *allowed):
            raise MXNetError(f"`{name}` must be of dtype {' or '.join(allowed)}, got {dtype}")


def _calibrated(attrs: Attrs) -> bool:
    return attrs.min_calib_range is not None and attrs.max_calib_range is not None


# -- pooling ---------------------------------------------------------------------------------------------------------
def _pooling_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    data = ins[0]
    if attrs.pool_type not in ("avg", "max"):
        raise MXNetError(f"`pool_type` must be 'avg' or 'max' for quantized data, got {attrs.pool_type!r}")
    if attrs.layout is not None and attrs.layout.endswith("C"):
        raise MXNetError(f"`layout` must be 'NCHW' or 'NCDHW' for quantized data, got {attrs.layout!r}")
    if data is None:
        return [data, (1,), (1,)], [outs[0], (1,), (1,)]
    if len(data) not in (4, 5):
        raise MXNetError(f"data must have 4 or 5 dimensions (n, channel, spatial...), got shape {data}")
    output = unify((*data[:2], *pooling.pool_of(attrs, data).positions), outs[0])
    return [data, (1,), (1,)], [output, (1,), (1,)]


def _pooling_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    dtype = ins[0] or outs[0]
    _require_bytes(("data",), [dtype])
    return [dtype, *range_dtypes(ins[1:])], [dtype, "float32", "float32"]


def _pooling(xp: Any, attrs: Attrs, data: Any, low: Any, high: Any) -> Any:
    pool = pooling.pool_of(attrs, data.shape)
    if attrs.pool_type == "max":
        result = saturate(xp, window_max(xp, data.astype("float32"), pool), str(data.dtype))
    else:
        # Unlike those of floating-point data, averages that count the padding count all that is outside the data.
        whole, float32 = xp.float32(math.prod(pool.kernel)), xp.dtype("float32")
        sizes = xp.maximum(window_sizes(xp, pool, False, float32), 1) if attrs.count_include_pad is False else whole
        result = saturate(xp, window_sum(xp, data.astype("float32"), pool) / sizes, str(data.dtype))
    return result, low.astype("float32"), high.astype("float32")


# -- convolution -----------------------------------------------------------------------------------------------------
def _conv_inputs(attrs: Attrs) -> tuple[str, ...]:
    arrays = ("data", "weight") if attrs.no_bias else ("data", "weight", "bias")
    return (*arrays, *(f"{end}_{array}" for array in arrays for end in ("min", "max")))


def _conv_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    if attrs.num_group != 1:
        raise MXNetError(f"`num_group` must be 1 for quantized data, got {attrs.num_group}")
    if len(attrs.kernel) not in (2, 3):
        raise MXNetError(f"`kernel` must have 2 or 3 entries for quantized data, got {attrs.kernel}")
    if attrs.layout is not None and attrs.layout.endswith("C"):
        raise MXNetError(f"`layout` must be 'NCHW' or 'NCDHW' for quantized data, got {attrs.layout!r}")
    count = 2 if attrs.no_bias else 3
    arrays, outputs = convolution.infer_shape(attrs, ins[:count], outs[:1])
    return [*arrays, *((1,) for _ in range(2 * count))], [outputs[0], (1,), (1,)]


def _conv_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    count = 2 if attrs.no_bias else 3
    _require_bytes(("data",), ins[:1])
    _require_bytes(("weight", "bias"), ins[1:count], ("int8",))
    known: Dtypes = [ins[0], *("int8" for _ in range(count - 1)), *range_dtypes(ins[count:])]
    return known, ["int32", "float32", "float32"]


def _conv(xp: Any, attrs: Attrs, *arrays: Any) -> Any:
    count = 2 if attrs.no_bias else 3
    data, weight = (array.astype("float64") for array in arrays[:2])  # products of bytes are exact in float64
    sums = xp.rint(convolve(xp, data, weight, convolution.window_of(attrs), 1)).astype("int32")
    if not attrs.no_bias:  # the bias counts in the steps of the sums, whatever its range says
        sums = sums + arrays[2].astype("int32").reshape((-1, *(1 for _ in sums.shape[2:])))
    steps = [absolute_range(xp, *arrays[k : k + 2]) / xp.float32(127) for k in (count, count + 2)]
    high = steps[0] * steps[1] * xp.float32(_INT32_TOP)
    return sums, -high, high


# -- batch norm ------------------------------------------------------------------------------------------------------
def _norm_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    data = unify(ins[0], outs[0])
    if not _calibrated(attrs):
        raise MXNetError("give `min_calib_range` and `max_calib_range`, the range of the result")
    if data is None:
        return [data, *ins[1:5], (1,), (1,)], [data, (1,), (1,)]
    if len(data) < 2 or attrs.axis not in (1, 1 - len(data)):
        raise MXNetError(f"the channels of quantized data must be axis 1, got `axis` {attrs.axis} of shape {data}")
    channel = unify((data[1],), ins[1])
    for other in ins[2:5]:
        channel = unify(channel, other)
    return [data, channel, channel, channel, channel, (1,), (1,)], [data, (1,), (1,)]


def _norm_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    _require_bytes(("data",), ins)
    return [ins[0], *range_dtypes(ins[1:])], ["int8", "float32", "float32"]


def _norm(
    xp: Any, attrs: Attrs, data: Any, gamma: Any, beta: Any, mean: Any, variance: Any, low: Any, high: Any
) -> Any:
    if data.dtype == "uint8":
        data = saturate(xp, data.astype("float32") * xp.float32(127.5 / 255.5), "int8")
    ends = [xp.full(1, end, dtype="float32") for end in (attrs.min_calib_range, attrs.max_calib_range)]
    top = absolute_range(xp, *ends)
    factor = gamma / xp.sqrt(variance + xp.float32(attrs.eps))  # `fix_gamma` is not heeded, as in MXNet
    scale, shift = factor * absolute_range(xp, low, high) / top, (beta - mean * factor) * xp.float32(127.5) / top
    scale = scale / xp.sqrt(xp.float32(1) + xp.float32(attrs.eps))  # `eps` counts twice: there is a variance of 1
    channels = (-1, *(1 for _ in data.shape[2:]))
    result = data.astype("float32") * scale.reshape(channels) + shift.reshape(channels)
    return (saturate(xp, result, "int8"), *ends)


# -- sums of two -----------------------------------------------------------------------------------------------------
def _add_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    data = unify(unify(ins[0], ins[1]), outs[0])
    return [data, data, (1,), (1,), (1,), (1,)], [data, (1,), (1,)]


def _add_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    _require_bytes(("lhs", "rhs"), ins)
    left, right = ins[:2]
    result: str | None = "int32"
    if _calibrated(attrs):
        result = "int8" if "int8" in (left, right) else None if None in (left, right) else "uint8"
    return [left, right, *range_dtypes(ins[2:])], [result, "float32", "float32"]


def _add(
    xp: Any, attrs: Attrs, left: Any, right: Any, left_low: Any, left_high: Any, right_low: Any, right_high: Any
) -> Any:
    tops = [absolute_range(xp, left_low, left_high), absolute_range(xp, right_low, right_high)]
    arrays, mixed = [left, right], left.dtype != right.dtype
    if _calibrated(attrs):
        result = "int8" if mixed else str(left.dtype)
        low, high = (xp.full(1, end, dtype="float32") for end in (attrs.min_calib_range, attrs.max_calib_range))
    else:
        result, high = "int32", tops[0] + tops[1]
        low = -high
    steps, whole = xp.float32(_STEPS[result]), absolute_range(xp, low, high)
    total = xp.zeros(left.shape, dtype="float32")
    for array, top in zip(arrays, tops):
        own = xp.float32(_STEPS[str(array.dtype)])  # float32 rounds the two forms of one number differently
        part = array.astype("float32") * (
            (steps / whole) / (own / top) if _calibrated(attrs) else top * steps / (whole * own)
        )
        if mixed and result == "int8" and array.dtype == "uint8":  # brought to int8 before they are added
            part = saturate(xp, part, "int8").astype("float32")
        total += part
    if result != "int32":
        return saturate(xp, total, result), low, high
    return xp.clip(xp.rint(total.astype("float64")), -(2.0**31), _INT32_TOP).astype("int32"), low, high


def _dtypes(*first: str, ranges: int) -> tuple[str, ...]:
    return (*first, *("float32" for _ in range(ranges)))


OPERATORS: tuple[OpDef, ...] = (
    OpDef(
        "_contrib_quantized_pooling",
        _pooling,
        inputs=("data", "min_data", "max_data"),
        attrs=pooling.ATTRS,
        outputs=_OUTPUTS,
        infer_shape=_pooling_shape,
        infer_dtype=_pooling_dtype,
        doc="Averages (rounded, halves to even integers) or maxima of quantized data over windows; the range stays.",
        samples=(
            Sample(
                ((2, 3, 5, 4), (1,), (1,)),
                {"kernel": (3, 2), "stride": (2, 1), "pad": (1, 1), "pool_type": "avg"},
                dtypes=_dtypes("int8", ranges=2),
                low=-99.0,
                high=99.0,
                values=_ENDS,
            ),
            Sample(
                ((1, 1, 3, 3), (1,), (1,)),
                {"kernel": (2, 2)},
                dtypes=_dtypes("uint8", ranges=2),
                low=0.0,
                high=200.0,
                values=_ENDS,
            ),
            Sample(((1, 1, 3, 3), (1,), (1,)), {"kernel": (2, 2)}, error="MXNetError"),
        ),
    ),
    OpDef(
        "_contrib_quantized_conv",
        _conv,
        inputs=("data", "weight", "bias", "min_data", "max_data", "min_weight", "max_weight", "min_bias", "max_bias"),
        attrs=convolution.ATTRS,
        active_inputs=_conv_inputs,
        outputs=_OUTPUTS,
        infer_shape=_conv_shape,
        infer_dtype=_conv_dtype,
        doc="Convolution of quantized data and weights, in int32 with its range.",
        samples=(
            Sample(
                ((2, 3, 4, 4), (4, 3, 2, 2), (1,), (1,), (1,), (1,)),
                {"kernel": (2, 2), "num_filter": 4, "no_bias": True},
                dtypes=_dtypes("uint8", "int8", ranges=4),
                low=0.0,
                high=99.0,
            ),
            Sample(
                ((1, 4, 5, 4), (4, 4, 3, 2), (4,), (1,), (1,), (1,), (1,), (1,), (1,)),
                {"kernel": (3, 2), "num_filter": 4, "stride": (2, 1), "pad": (1, 1)},
                dtypes=_dtypes("uint8", "int8", "int8", ranges=6),
                low=0.0,
                high=99.0,
            ),
        ),
    ),
    OpDef(
        "_contrib_quantized_batch_norm",
        _norm,
        inputs=("data", "gamma", "beta", "moving_mean", "moving_var", "min_data", "max_data"),
        attrs=batch_norm.ATTRS,
        outputs=_OUTPUTS,
        aux=("moving_mean", "moving_var"),
        infer_shape=_norm_shape,
        infer_dtype=_norm_dtype,
        doc="BatchNorm of quantized data by the moving statistics, as int8 over the range that is given.",
        samples=(
            Sample(
                ((2, 3, 2), (3,), (3,), (3,), (3,), (1,), (1,)),
                {"min_calib_range": -3.0, "max_calib_range": 2.0},
                dtypes=_dtypes("int8", ranges=6),
                low=0.2,
                high=2.0,
                values={0: [[[5, -9], [90, 4], [77, 1]], [[3, -3], [-128, 127], [0, 50]]]},
            ),
            Sample(((2, 3), (3,), (3,), (3,), (3,), (1,), (1,)), error="MXNetError"),
        ),
    ),
    OpDef(
        "_contrib_quantized_elemwise_add",
        _add,
        inputs=("lhs", "rhs", "lhs_min", "lhs_max", "rhs_min", "rhs_max"),
        attrs=_CALIBRATION,
        outputs=_OUTPUTS,
        infer_shape=_add_shape,
        infer_dtype=_add_dtype,
        doc="The sum of two quantized arrays: int32 over the sum of their ranges, or bytes over the range given.",
        samples=(
            Sample(
                ((2, 3), (2, 3), (1,), (1,), (1,), (1,)),
                dtypes=_dtypes("int8", "int8", ranges=4),
                low=1.0,
                high=99.0,
            ),
            Sample(
                ((4,), (4,), (1,), (1,), (1,), (1,)),
                {"min_calib_range": -90.0, "max_calib_range": 150.0},
                dtypes=_dtypes("int8", "uint8", ranges=4),
                low=1.0,
                high=99.0,
            ),
        ),
    ),
)
