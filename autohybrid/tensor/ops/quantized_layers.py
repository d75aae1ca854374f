"""Layers on quantized arrays: quantized_flatten, quantized_act, quantized_fully_connected, _embedding, _concat.

Every input array has two ranges of one element (see quantization.py), and every output comes with them. Products are
summed in int32, whose range is what the largest int32 stands for.
"""

from __future__ import annotations

import math
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import Dtypes, InferDtype, OpDef, Sample, Shape, Shapes
from autohybrid.tensor.ops.quantization import absolute_range, range_dtypes, saturate
from autohybrid.tensor.shapes import normalize_axis, unify, unify_dim

_INT32_TOP = 2**31 - 1
_TOP = {"int8": 127, "uint8": 255}
_OUTPUTS = ("output", "min_output", "max_output")
_INPUTS = ("data", "min_data", "max_data")
_ENDS = {1: [-2.0], 2: [3.0]}
_BYTES = ("int8", "float32", "float32")


def _keep_dtype(allowed: tuple[str, ...]) -> InferDtype:
    """The output has the dtype of `data`; both ranges are float32."""

    def infer(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
        dtype = ins[0] or outs[0]
        if dtype not in (None, *allowed):
            raise MXNetError(f"`data` must be of dtype {' or '.join(allowed)}, got {dtype}")
        return [dtype, *range_dtypes(ins[1:])], [dtype, "float32", "float32"]

    return infer


def _copies(*ends: Any) -> list[Any]:
    """The range of an output that keeps the range of its input."""
    return [end.astype("float32") for end in ends]


def _same_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    data = unify(ins[0], outs[0])
    return [data, (1,), (1,)], [data, (1,), (1,)]


def _flat_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    data = ins[0]
    if data is None:
        return [data, (1,), (1,)], [outs[0], (1,), (1,)]
    width = -1 if -1 in data[1:] else math.prod(data[1:])
    return [data, (1,), (1,)], [unify((data[0], width), outs[0]), (1,), (1,)]


def _flatten(xp: Any, attrs: Attrs, data: Any, low: Any, high: Any) -> Any:
    return (data.reshape(data.shape[0], math.prod(data.shape[1:])).copy(), *_copies(low, high))


def _act(xp: Any, attrs: Attrs, data: Any, low: Any, high: Any) -> Any:
    return (xp.maximum(data, data.dtype.type(0)), *_copies(low, high))


def _dense_inputs(attrs: Attrs) -> tuple[str, ...]:
    arrays = ("data", "weight") if attrs.no_bias else ("data", "weight", "bias")
    return (*arrays, *(f"{end}_{array}" for array in arrays for end in ("min", "max")))


def _dense_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    units, count = attrs.num_hidden, 2 if attrs.no_bias else 3
    data, weight = ins[0], unify(ins[1], (units, -1))
    output = outs[0]
    if data is not None:
        width = data[1:] if attrs.flatten else data[-1:]
        weight = unify(weight, (units, -1 if -1 in width else math.prod(width)))
        output = unify((data[0], units) if attrs.flatten else (*data[:-1], units), output)
    arrays: list[Shape] = [data, weight] if attrs.no_bias else [data, weight, unify(ins[2], (units,))]
    return [*arrays, *((1,) for _ in range(2 * count))], [output, (1,), (1,)]


def _dense_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    count = 2 if attrs.no_bias else 3
    if ins[0] not in (None, "int8", "uint8"):
        raise MXNetError(f"`data` must be of dtype int8 or uint8, got {ins[0]}")
    if any(dtype not in (None, "int8") for dtype in ins[1:count]):
        raise MXNetError(f"`weight` and `bias` must be of dtype int8, got {ins[1:count]}")
    known: Dtypes = [ins[0], *("int8" for _ in range(count - 1)), *range_dtypes(ins[count:])]
    return known, ["int32", "float32", "float32"]


def _dense(xp: Any, attrs: Attrs, *arrays: Any) -> Any:
    count = 2 if attrs.no_bias else 3
    data, weight = arrays[0], arrays[1]
    data_range, weight_range = (absolute_range(xp, *arrays[k : k + 2]) for k in (count, count + 2))
    rows = data.reshape(data.shape[0], math.prod(data.shape[1:])) if attrs.flatten else data
    # Products of bytes are exact in float64, and BLAS multiplies only floating-point arrays.
    sums = (rows.astype("float64") @ weight.astype("float64").T).astype("int32")
    top = _TOP[str(data.dtype)]
    if not attrs.no_bias:
        levels = xp.float32(top + 0.5) / data_range * (xp.float32(127.5) / weight_range)
        rescale = levels * absolute_range(xp, *arrays[count + 4 :]) / xp.float32(127.5)
        sums = sums + xp.trunc(arrays[2].astype("float32") * rescale).astype("int32")
    high = data_range / xp.float32(top) * (weight_range / xp.float32(127)) * xp.float32(_INT32_TOP)
    return sums, -high, high


def _embedding_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    weight = unify(ins[1], (attrs.input_dim, attrs.output_dim))
    output = outs[0] if ins[0] is None else unify((*ins[0], attrs.output_dim), outs[0])
    return [ins[0], weight, (1,), (1,)], [output, (1,), (1,)]


def _embedding_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    if ins[1] not in (None, "int8"):
        raise MXNetError(f"`weight` must be of dtype int8, got {ins[1]}")
    return [ins[0], "int8", *range_dtypes(ins[2:])], ["int8", "float32", "float32"]


def _embedding(xp: Any, attrs: Attrs, data: Any, weight: Any, low: Any, high: Any) -> Any:
    rows = xp.clip(data.astype("int64"), 0, weight.shape[0] - 1)  # clipped as the operator Embedding does
    return (xp.take(weight, rows, axis=0), *_copies(low, high))


def _concat_inputs(attrs: Attrs) -> tuple[str, ...]:
    count = range(attrs.num_args)
    return (*(f"arg{i}" for i in count), *(f"arg{i}_{end}" for i in count for end in ("min", "max")))


def _concat_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    count = attrs.num_args
    arrays = ins[:count]
    ranges: Shapes = [(1,)] * (2 * count)
    if any(shape is None or -1 in shape for shape in arrays):
        return [*arrays, *ranges], [outs[0], (1,), (1,)]
    first = arrays[0]
    assert first is not None
    axis, joined, others = normalize_axis(attrs.dim, len(first), "dim"), 0, first
    for shape in arrays:
        assert shape is not None
        if len(shape) != len(first):
            raise MXNetError(f"arrays of {len(first)} and {len(shape)} dimensions cannot be joined")
        joined += shape[axis]
        others = tuple(0 if k == axis else unify_dim(a, b, first, shape) for k, (a, b) in enumerate(zip(others, shape)))
    output = (*others[:axis], joined, *others[axis + 1 :])
    return [*arrays, *ranges], [unify(output, outs[0]), (1,), (1,)]


def _concat_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    arrays = ins[: attrs.num_args]
    if any(dtype not in (None, "int8", "uint8") for dtype in arrays):
        raise MXNetError(f"arrays must be of dtype int8 or uint8, got {arrays}")
    joined = "int8" if "int8" in arrays else None if None in arrays else "uint8"
    return [*arrays, *range_dtypes(ins[attrs.num_args :])], [joined, "float32", "float32"]


def _concat(xp: Any, attrs: Attrs, *inputs: Any) -> Any:
    count = attrs.num_args
    arrays, lows, highs = inputs[:count], inputs[count::2], inputs[count + 1 :: 2]
    dtype = "int8" if any(array.dtype == "int8" for array in arrays) else "uint8"
    # The range holds 0 too, so that the ends of ranges in the wrong order count as little as they do in MXNet.
    low = xp.minimum(xp.stack(lows).min(axis=0), 0).astype("float32")
    high = xp.maximum(xp.stack(highs).max(axis=0), 0).astype("float32")
    whole = absolute_range(xp, low, high) / xp.float32(_TOP[dtype] + 0.5)
    parts = []
    for array, array_low, array_high in zip(arrays, lows, highs, strict=True):
        step = absolute_range(xp, array_low, array_high) / xp.float32(_TOP[str(array.dtype)] + 0.5)
        parts.append(saturate(xp, array.astype("float32") * (step / whole), dtype))
    return xp.concatenate(parts, axis=attrs.dim), low, high


def _flatten_samples() -> tuple[Sample, ...]:
    return (
        Sample(((2, 3, 2), (1,), (1,)), dtypes=_BYTES, low=-99.0, high=99.0, values=_ENDS),
        Sample(((3, 2), (1,), (1,)), dtypes=("uint8", *_BYTES[1:]), low=0.0, high=200.0, values=_ENDS),
        Sample(((2, 2), (1,), (1,)), error="MXNetError"),
    )


OPERATORS: tuple[OpDef, ...] = (
    OpDef(
        "_contrib_quantized_flatten",
        _flatten,
        inputs=_INPUTS,
        outputs=_OUTPUTS,
        infer_shape=_flat_shape,
        infer_dtype=_keep_dtype(("int8", "uint8")),
        doc="All axes of a quantized array but the first in one; the range stays.",
        samples=_flatten_samples(),
    ),
    OpDef(
        "_contrib_quantized_act",
        _act,
        inputs=_INPUTS,
        attrs=(Attr("act_type", "enum", choices=("relu",)),),
        outputs=_OUTPUTS,
        infer_shape=_same_shape,
        infer_dtype=_keep_dtype(("int8", "uint8")),
        doc="The activation 'relu' of a quantized array; the range stays.",
        samples=tuple(
            Sample(s.shapes, {"act_type": "relu"}, s.low, s.high, s.dtypes, s.values, error=s.error)
            for s in _flatten_samples()
        ),
    ),
    OpDef(
        "_contrib_quantized_fully_connected",
        _dense,
        inputs=("data", "weight", "bias", "min_data", "max_data", "min_weight", "max_weight", "min_bias", "max_bias"),
        attrs=(Attr("num_hidden", "int"), Attr("no_bias", "bool", False), Attr("flatten", "bool", True)),
        active_inputs=_dense_inputs,
        outputs=_OUTPUTS,
        infer_shape=_dense_shape,
        infer_dtype=_dense_dtype,
        doc="FullyConnected of quantized data and weights, in int32 with its range.",
        samples=(
            Sample(
                ((2, 3), (4, 3), (1,), (1,), (1,), (1,)),
                {"num_hidden": 4, "no_bias": True},
                dtypes=("int8", "int8", "float32", "float32", "float32", "float32"),
                low=-99.0,
                high=99.0,
            ),
            Sample(
                ((2, 3), (4, 3), (4,), (1,), (1,), (1,), (1,), (1,), (1,)),
                {"num_hidden": 4},
                dtypes=("uint8", "int8", "int8", *("float32" for _ in range(6))),
                low=1.0,
                high=99.0,
            ),
        ),
    ),
    OpDef(
        "_contrib_quantized_embedding",
        _embedding,
        inputs=("data", "weight", "min_weight", "max_weight"),
        attrs=(
            Attr("input_dim", "int"),
            Attr("output_dim", "int"),
            Attr("dtype", "dtype", "float32"),
            Attr("sparse_grad", "bool", False),
        ),
        outputs=_OUTPUTS,
        infer_shape=_embedding_shape,
        infer_dtype=_embedding_dtype,
        doc="Rows of a quantized table; the range stays.",
        samples=(
            Sample(
                ((2,), (4, 3), (1,), (1,)),
                {"input_dim": 4, "output_dim": 3},
                dtypes=("float32", "int8", "float32", "float32"),
                low=-3.0,
                high=3.0,
                values={0: [0.0, 3.0]},
            ),
        ),
    ),
    OpDef(
        "_contrib_quantized_concat",
        _concat,
        inputs=(),
        attrs=(Attr("num_args", "int"), Attr("dim", "int", 1)),
        variadic="num_args",
        active_inputs=_concat_inputs,
        outputs=_OUTPUTS,
        infer_shape=_concat_shape,
        infer_dtype=_concat_dtype,
        doc="Quantized arrays joined along `dim`, over the range that holds all theirs.",
        samples=(
            Sample(
                ((2, 3), (2, 1), (1,), (1,), (1,), (1,)),
                {"num_args": 2},
                dtypes=("int8", "uint8", "float32", "float32", "float32", "float32"),
                low=1.0,
                high=99.0,
            ),
        ),
    ),
)
