"""quantize, quantize_v2, dequantize, requantize: between float32 and 8-bit integers with a range.

A quantized array comes with two arrays of one element, the numbers its range goes from and to. Both kinds are
symmetric: a number is the integer times `max(|min|, |max|)` over the top of the range. That top is 127 or 255 in some
operators of MXNet 1.9.1 and 127.5 or 255.5 in others; each operator here has the one of MXNet's CPU build.
"""

from __future__ import annotations

from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import Dtypes, InferDtype, OpDef, Sample, Shapes
from autohybrid.tensor.shapes import unify

_TOP = {"int8": 127, "uint8": 255}
_BOTTOM = {"int8": -128, "uint8": 0}
_INT32_TOP = 2**31 - 1
_OUTPUTS = ("output0", "output1", "output2")
_RANGE = (
    Attr("min_calib_range", "float?", None, doc="the least number to be kept, where it is known ahead"),
    Attr("max_calib_range", "float?", None),
)


def absolute_range(xp: Any, low: Any, high: Any) -> Any:
    """The larger absolute value of the two ends of a range, float32 (1,)."""
    return xp.maximum(xp.abs(low), xp.abs(high)).astype("float32").reshape(1)


def saturate(xp: Any, values: Any, dtype: str) -> Any:
    """Rounds to the nearest integer (halves to even ones) and cuts off what `dtype` cannot hold.

    NaN, which the zeros of an array without a range give, becomes 127 and 0, as in MXNet.
    """
    values = xp.where(xp.isnan(values), 127.0 if dtype == "int8" else 0.0, xp.rint(values))
    return xp.clip(values, _BOTTOM[dtype], _TOP[dtype]).astype(dtype)


def range_dtypes(dtypes: Dtypes) -> Dtypes:
    """The dtypes of ranges, float32 where it is not known; MXNetError for integers."""
    if any(dtype is not None and not dtype.startswith("float") for dtype in dtypes):
        raise MXNetError(f"ranges must be of dtype float32, got {dtypes}")
    return [dtype or "float32" for dtype in dtypes]


def _calibrated(attrs: Attrs) -> bool:
    return attrs.min_calib_range is not None and attrs.max_calib_range is not None


def _chosen_dtype(attrs: Attrs) -> str:
    if attrs.out_type != "auto":
        return str(attrs.out_type)
    return "uint8" if _calibrated(attrs) and attrs.min_calib_range >= 0 else "int8"


def _infer_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    data = unify(ins[0], outs[0])
    return [data, *((1,) for _ in ins[1:])], [data, *((1,) for _ in outs[1:])]


def _dtypes(source: tuple[str, ...]) -> InferDtype:
    """Inputs of one of these dtypes and their ranges give the chosen dtype and float32 ranges."""

    def infer(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
        data = ins[0]
        if data is not None and data not in source:
            raise MXNetError(f"`data` must be of dtype {' or '.join(source)}, got {data}")
        chosen = "float32" if len(outs) == 1 else _chosen_dtype(attrs)
        return [data, *range_dtypes(ins[1:])], [chosen, *("float32" for _ in outs[1:])]

    return infer


_from_floating = _dtypes(("float32", "float64", "float16"))


def _v2_dtypes(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    if ins[0] in _TOP:
        chosen = ins[0] if attrs.out_type == "auto" else attrs.out_type
        if chosen != ins[0]:
            raise MXNetError(
                f"`data` is quantized as {ins[0]} already; `out_type` must be that or 'auto', got {chosen!r}"
            )
        return ins, [chosen, "float32", "float32"]
    _, results = _from_floating(attrs, ins, outs)
    return ins, list(results)


def _quantize(xp: Any, attrs: Attrs, data: Any, low: Any, high: Any) -> Any:
    top = absolute_range(xp, low, high)
    scaled = saturate(xp, data.astype("float32") * (xp.float32(_TOP[attrs.out_type]) / top), attrs.out_type)
    ends = (-top, top) if attrs.out_type == "int8" else tuple(end.astype("float32").reshape(1) for end in (low, high))
    return (scaled, *ends)


def _quantize_v2(xp: Any, attrs: Attrs, data: Any) -> Any:
    if str(data.dtype) in _TOP:
        ends = (0.0, 255.5) if data.dtype == "uint8" else (-127.5, 127.5)
        if _calibrated(attrs):
            ends = (attrs.min_calib_range, attrs.max_calib_range)
        return (data.copy(), *(xp.full(1, end, dtype="float32") for end in ends))
    dtype, data = _chosen_dtype(attrs), data.astype("float32")
    if _calibrated(attrs):
        low = xp.full(1, attrs.min_calib_range, dtype="float32")
        high = xp.full(1, attrs.max_calib_range, dtype="float32")
    elif not data.size:
        raise MXNetError("data without elements has no range; give `min_calib_range` and `max_calib_range`")
    else:
        low, high = data.min().reshape(1), data.max().reshape(1)
    top = absolute_range(xp, low, high)
    scaled = saturate(xp, data * (xp.float32(_TOP[dtype] + 0.5) / top), dtype)
    return (scaled, -top, top) if dtype == "int8" else (scaled, low, high)


def _dequantize(xp: Any, attrs: Attrs, data: Any, low: Any, high: Any) -> Any:
    return data.astype("float32") * (absolute_range(xp, low, high) / xp.float32(_TOP[str(data.dtype)] + 0.5))


def _requantize(xp: Any, attrs: Attrs, data: Any, low: Any, high: Any) -> Any:
    dtype = _chosen_dtype(attrs)
    step = absolute_range(xp, low, high) / xp.float32(_INT32_TOP)
    if _calibrated(attrs):
        top = xp.full(1, max(abs(attrs.min_calib_range), abs(attrs.max_calib_range)), dtype="float32")
    elif not data.size:
        raise MXNetError("data without elements has no range; give `min_calib_range` and `max_calib_range`")
    else:
        top = xp.abs(data.astype("float32")).max().reshape(1) * step
    scaled = saturate(xp, data.astype("float32") * (step * (xp.float32(_TOP[dtype]) / top)), dtype)
    return scaled, (-top if dtype == "int8" else xp.zeros_like(top)), top


_ENDS = {1: [-2.0], 2: [3.0]}

OPERATORS: tuple[OpDef, ...] = (
    OpDef(
        "_contrib_quantize",
        _quantize,
        inputs=("data", "min_range", "max_range"),
        attrs=(Attr("out_type", "enum", "uint8", choices=("int8", "uint8")),),
        outputs=_OUTPUTS,
        infer_shape=_infer_shape,
        infer_dtype=_from_floating,
        doc="float32 `data` as 8-bit integers over the range from `min_range` to `max_range`, and the range they have.",
        samples=(
            Sample(((2, 3), (1,), (1,)), {"out_type": "int8"}, values=_ENDS),
            Sample(((5,), (1,), (1,)), low=0.0, values=_ENDS),
            Sample(((0, 2), (1,), (1,)), values=_ENDS),
            Sample(((2,), (1,), (1,)), dtypes=("int8", "float32", "float32"), error="MXNetError"),
        ),
    ),
    OpDef(
        "_contrib_quantize_v2",
        _quantize_v2,
        attrs=(Attr("out_type", "enum", "int8", choices=("auto", "int8", "uint8")), *_RANGE),
        outputs=_OUTPUTS,
        infer_shape=_infer_shape,
        infer_dtype=_v2_dtypes,
        doc="float32 `data` as 8-bit integers over the given range or its own; 'auto' is uint8 for ranges from 0 on.",
        samples=(
            Sample(((2, 3),)),
            Sample(((2, 3),), {"out_type": "uint8"}, low=0.0),
            Sample(((4,),), {"out_type": "auto", "min_calib_range": 0.0, "max_calib_range": 0.5}),
            Sample(((2, 3),), dtypes=("int8",), low=-100.0, high=100.0),
            Sample(((0, 2),), error="MXNetError"),
        ),
    ),
    OpDef(
        "_contrib_dequantize",
        _dequantize,
        inputs=("data", "min_range", "max_range"),
        attrs=(Attr("out_type", "enum", "float32", choices=("float32",)),),
        infer_shape=_infer_shape,
        infer_dtype=_dtypes(("int8", "uint8")),
        doc="The float32 numbers that 8-bit integers with a range stand for.",
        samples=(
            Sample(((2, 3), (1,), (1,)), dtypes=("int8", "float32", "float32"), low=-99.0, high=99.0, values=_ENDS),
            Sample(((5,), (1,), (1,)), dtypes=("uint8", "float32", "float32"), low=0.0, high=200.0, values=_ENDS),
            Sample(((2,), (1,), (1,)), error="MXNetError"),
        ),
    ),
    OpDef(
        "_contrib_requantize",
        _requantize,
        inputs=("data", "min_range", "max_range"),
        attrs=(Attr("out_type", "enum", "int8", choices=("auto", "int8", "uint8")), *_RANGE),
        outputs=_OUTPUTS,
        infer_shape=_infer_shape,
        infer_dtype=_dtypes(("int32",)),
        doc="int32 sums with a range as 8-bit integers over the given range, or over the largest sum there is.",
        samples=(
            Sample(((2, 3), (1,), (1,)), dtypes=("int32", "float32", "float32"), low=-1e9, high=1e9, values=_ENDS),
            Sample(
                ((4,), (1,), (1,)),
                {"out_type": "auto", "min_calib_range": 0.0, "max_calib_range": 0.5},
                dtypes=("int32", "float32", "float32"),
                low=-1e9,
                high=1e9,
                values=_ENDS,
            ),
            Sample(((2,), (1,), (1,)), error="MXNetError"),
        ),
    ),
)
