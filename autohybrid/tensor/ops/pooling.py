"""Pooling: maximum, average, sum and p-norm over sliding windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import GradNode, OpDef, Sample, Shape, Shapes
from autohybrid.tensor.pieces import Pieces
from autohybrid.tensor.pooling import (
    Pool,
    elements_between,
    max_from_data,
    max_to_data,
    spread,
    window_max,
    window_sizes,
    window_sum,
)
from autohybrid.tensor.precision import narrow, widen
from autohybrid.tensor.shapes import same_floating, unify
from autohybrid.tensor.templates import is_simple

_LAYOUTS = ("NCW", "NCHW", "NCDHW", "NWC", "NHWC", "NDHWC")
_KERNEL = Attr("kernel", "shape", ())
_TYPE = Attr("pool_type", "enum", "max", ("avg", "lp", "max", "sum"))
_GLOBAL = Attr("global_pool", "bool", False)
_CONVENTION = Attr("pooling_convention", "enum", "valid", ("full", "same", "valid"))
_PLACE = (Attr("stride", "shape", ()), Attr("pad", "shape", ()))
_TAIL = (
    Attr("p_value", "int?", None),
    Attr("count_include_pad", "bool?", None),
    Attr("layout", "enum?", None, _LAYOUTS),
)
ATTRS = (_KERNEL, _TYPE, _GLOBAL, Attr("cudnn_off", "bool", False), _CONVENTION, *_PLACE, *_TAIL)
_V1_ATTRS = (
    _KERNEL,
    replace(_TYPE, choices=("avg", "max", "sum")),
    _GLOBAL,
    replace(_CONVENTION, choices=("full", "valid")),
    *_PLACE,
)


def pool_of(attrs: Attrs, shape: tuple[int, ...]) -> Pool:
    """The windows over data of this shape; unknown extents stay -1. Raises MXNetError for what does not fit."""
    rank = len(shape) - 2
    if rank not in (1, 2, 3):
        raise MXNetError(f"data must have 3, 4 or 5 dimensions (n, channel, spatial...), got shape {shape}")
    layout = getattr(attrs, "layout", None)
    if layout is not None and len(layout) != len(shape):
        raise MXNetError(f"layout {layout} does not fit data of {len(shape)} dimensions")
    first = 1 if layout is not None and layout.endswith("C") else 2
    extents = shape[first : first + rank]
    if attrs.pooling_convention == "same":
        return _same_pool(attrs, first, extents)
    if attrs.global_pool:
        return Pool(first, extents, extents, (1,) * rank, (0,) * rank, (1,) * rank)
    kernel, stride, pad = attrs.kernel, attrs.stride or (1,) * rank, attrs.pad or (0,) * rank
    for name, values, least in (("kernel", kernel, 1), ("stride", stride, 1), ("pad", pad, 0)):
        if len(values) != rank:
            raise MXNetError(f"`{name}` must have {rank} entries for data of shape {shape}, got {values}")
        if min(values) < least:
            raise MXNetError(f"`{name}` must be at least {least} everywhere, got {values}")
    positions = tuple(map(_positions, [attrs.pooling_convention] * rank, extents, kernel, stride, pad))
    return Pool(first, extents, kernel, stride, pad, positions)


def _same_pool(attrs: Attrs, first: int, extents: tuple[int, ...]) -> Pool:
    """The windows of `pooling_convention='same'`: one begins at every stride; those at the end are cut off.

    MXNet has it in one dimension and without padding only, and reads three entries of `pad`.
    """
    if len(extents) != 1:
        raise MXNetError(f"pooling_convention 'same' takes data of 3 dimensions, got {len(extents) + 2}")
    if any(attrs.pad) or len(attrs.pad) not in (0, 1, 3):
        raise MXNetError(f"pooling_convention 'same' takes no padding, got `pad` {attrs.pad}")
    if attrs.global_pool:
        return Pool(first, extents, extents, (1,), (0,), (1,))
    kernel, stride = attrs.kernel[:1], attrs.stride[:1] or (1,)
    if len(kernel) != 1 or min(*kernel, *stride) < 1:
        raise MXNetError(f"`kernel` and `stride` must be at least 1, got {attrs.kernel} and {attrs.stride}")
    positions = -1 if extents[0] == -1 else -(-extents[0] // stride[0])
    return Pool(first, extents, kernel, stride, (0,), (positions,))


def _positions(convention: str, n: int, kernel: int, stride: int, pad: int) -> int:
    if n == -1:
        return -1
    if kernel > n + 2 * pad:
        raise MXNetError(f"`kernel` {kernel} exceeds the {n + 2 * pad} elements of the padded data")
    if pad >= kernel:
        raise MXNetError(f"`pad` {pad} must be less than `kernel` {kernel}")
    room = n + 2 * pad - kernel
    return (-(-room // stride) if convention == "full" else room // stride) + 1


def _infer_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    if attrs.pool_type == "lp" and attrs.p_value is None:
        raise MXNetError("pool_type 'lp' needs `p_value` (1, 2 or 3)")
    if attrs.pool_type == "lp" and attrs.p_value not in (1, 2, 3):
        raise MXNetError(f"`p_value` must be 1, 2 or 3, got {attrs.p_value}")
    if ins[0] is None:
        return ins, outs
    pool = pool_of(attrs, ins[0])
    output = list(ins[0])
    output[pool.first : pool.first + len(pool.positions)] = pool.positions
    return ins, [unify(tuple(output), outs[0])]


def _v1_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    if ins[0] is not None and len(ins[0]) not in (4, 5):
        raise MXNetError(f"data must have 4 or 5 dimensions (n, channel, spatial...), got shape {ins[0]}")
    return _infer_shape(attrs, ins, outs)


def _kernel(xp: Any, attrs: Attrs, data: Any) -> Any:
    pool = pool_of(attrs, data.shape)
    if attrs.pool_type == "max":
        return window_max(xp, data, pool)
    (x,) = widen(xp, data)
    if attrs.pool_type == "lp":
        return narrow(_root(xp, attrs, window_sum(xp, x**attrs.p_value, pool)), data)
    return narrow(_averaged(xp, attrs, window_sum(xp, x, pool), pool), data)


def _root(xp: Any, attrs: Attrs, total: Any) -> Any:
    return total if attrs.p_value == 1 else xp.sqrt(total) if attrs.p_value == 2 else xp.cbrt(total)


def _averaged(xp: Any, attrs: Attrs, total: Any, pool: Pool) -> Any:
    """`total`, a fresh array, divided by the window sizes for an average."""
    if attrs.pool_type == "avg":
        total /= window_sizes(xp, pool, attrs.count_include_pad is not False, total.dtype)
    return total


def _v1_kernel(xp: Any, attrs: Attrs, data: Any) -> Any:
    pool = pool_of(attrs, data.shape)
    if attrs.pool_type == "max":  # unlike in Pooling, the padding counts as zeros
        return window_max(xp, _with_zeros(xp, data, pool), _padded(pool))
    (x,) = widen(xp, data)
    total = window_sum(xp, x, pool)
    if attrs.pool_type == "avg":  # unlike Pooling, always by the size of a whole window
        total /= _volume(pool)
    return narrow(total, data)


def _padded(pool: Pool) -> Pool:
    """The same windows over data that has its padding already."""
    return replace(pool, extents=tuple(n + 2 * p for n, p in zip(pool.extents, pool.pad)), pad=(0,) * len(pool.pad))


def _with_zeros(xp: Any, data: Any, pool: Pool) -> Any:
    return xp.pad(data, ((0, 0),) * pool.first + tuple((p, p) for p in pool.pad)) if any(pool.pad) else data


def _without_padding(data: Any, pool: Pool) -> Any:
    return data[pool.index([slice(p, p + n) for p, n in zip(pool.pad, pool.extents)])].copy()


def _volume(pool: Pool) -> int:
    volume = 1
    for k in pool.kernel:
        volume *= k
    return volume


def _shared(attrs: Attrs, **changed: Any) -> dict[str, Any]:
    kept = {a.name: getattr(attrs, a.name) for a in _PRIVATE if a.name in vars(attrs)}
    return {**kept, **changed}


def _grad(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    (data,), output, head, attrs = node.inputs, node.outputs[0], heads[0], node.attrs
    if attrs.pool_type == "max":
        return F._backward_pool_max(head, data, output, **_shared(attrs))
    if attrs.pool_type != "lp":
        return F._backward_pool_sum(head, data, **_shared(attrs))
    shared = _shared(attrs, pool_type="sum")
    if attrs.p_value == 1:
        return F._backward_pool_sum(head, data, **shared)
    # x**(p-1) * y**(1-p), and 0 where y is 0
    power = output if attrs.p_value == 2 else output * output
    share = head * (power != 0) / (power + (power == 0))
    spread_head = F._backward_pool_sum(share, data, **shared)
    return (data if attrs.p_value == 2 else data * data) * spread_head


def _v1_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    (data,), attrs = node.inputs, node.attrs
    if attrs.pool_type == "max":
        return F._backward_pool_max(heads[0], data, node.outputs[0], **_shared(attrs, whole_windows=True))
    if attrs.pool_type == "sum":
        return F._backward_pool_sum(heads[0], data, **_shared(attrs))
    return F._backward_pool_sum(heads[0], data, **_shared(attrs, whole_windows=True))


def _sum_backward(xp: Any, attrs: Attrs, head: Any, like: Any) -> Any:
    pool = pool_of(attrs, like.shape)
    (h,) = widen(xp, head)
    if attrs.pool_type == "avg":
        include = attrs.count_include_pad is not False
        h = h / (_volume(pool) if attrs.whole_windows else window_sizes(xp, pool, include, h.dtype))
    return narrow(spread(xp, h, pool), head)


def _sum_backward_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    attrs = node.attrs
    if attrs.whole_windows:
        kept = ("kernel", "pool_type", "global_pool", "pooling_convention", "stride", "pad")
        return [F.Pooling_v1(heads[0], **{name: getattr(attrs, name) for name in kept}), None]
    kept_attrs = _shared(attrs)
    del kept_attrs["whole_windows"]
    return [F.Pooling(heads[0], **kept_attrs), None]


def _max_backward(xp: Any, attrs: Attrs, head: Any, data: Any, output: Any) -> Any:
    pool = pool_of(attrs, data.shape)
    if attrs.whole_windows:
        return _without_padding(max_to_data(xp, head, _with_zeros(xp, data, pool), output, _padded(pool)), pool)
    return max_to_data(xp, head, data, output, pool)


def _max_backward_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    _, data, output = node.inputs
    return [F._pool_at_max(heads[0], data, output, **_shared(node.attrs)), None, None]


def _at_max(xp: Any, attrs: Attrs, values: Any, data: Any, output: Any) -> Any:
    pool = pool_of(attrs, data.shape)
    if attrs.whole_windows:
        values, data = _with_zeros(xp, values, pool), _with_zeros(xp, data, pool)
        return max_from_data(xp, values, data, output, _padded(pool))
    return max_from_data(xp, values, data, output, pool)


def _at_max_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    _, data, output = node.inputs
    return [F._backward_pool_max(heads[0], data, output, **_shared(node.attrs)), None, None]


def _fast(call: Any) -> list[str] | None:
    """The largest of every window into memory from the plan of the graph; other kinds have their kernel."""
    if call.attrs.pool_type != "max" or not is_simple(call) or 0 in call.out_shape:
        return None
    shape = call.shapes[0]
    pool, pieces = pool_of(call.attrs, shape), "None"
    size = elements_between(shape, pool)
    if size:
        pieces = f"{call.constant('Pieces', Pieces)}({call.scratch('between', (size,))}, {call.function('empty')})"
    run = call.bound("window_max", window_max)
    return [f"{call.out} = {run}({call.inputs[0]}, {call.constant('pool', pool)}, {call.memory()}, {pieces})"]


def _fast_backward(call: Any) -> list[str] | None:
    if not is_simple(call) or 0 in call.out_shape or call.attrs.whole_windows:
        return None
    run, pool = call.bound("max_to_data", max_to_data), pool_of(call.attrs, call.shapes[1])
    memory = call.memory() if pool.full == pool.extents else None
    return [f"{call.out} = {run}({', '.join(call.inputs)}, {call.constant('pool', pool)}, {memory})"]


def _like(position: int) -> Any:
    def infer(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
        return ins, [unify(ins[position], outs[0])]

    return infer


_PRIVATE = (_KERNEL, _TYPE, _GLOBAL, _CONVENTION, *_PLACE, *_TAIL[1:], Attr("whole_windows", "bool", False))
_PAIRS: tuple[dict[str, Any], ...] = (
    {"kernel": (2, 2), "stride": (2, 2)},
    {"kernel": (3, 2), "stride": (2, 1), "pad": (1, 1)},
    {"kernel": (3, 3), "stride": (2, 2), "pooling_convention": "full"},
    {"global_pool": True},
)


def _samples(kinds: tuple[str, ...]) -> tuple[Sample, ...]:
    return (
        *[Sample(((2, 3, 5, 6),), {**pair, "pool_type": kind}) for pair in _PAIRS for kind in kinds],
        Sample(((1, 1, 1, 1),), {"kernel": (1, 1), "pool_type": kinds[0]}),
        Sample(((1, 2, 4, 3, 3),), {"kernel": (2, 2, 3), "pool_type": kinds[0], "stride": (2, 1, 1)}),
        Sample(((0, 2, 4, 3),), {"kernel": (2, 2), "pool_type": kinds[0]}),
        Sample(((2, 3, 5, 6),), {"kernel": (20, 20)}, error="MXNetError"),
    )


OPERATORS = (
    OpDef(
        "Pooling",
        _kernel,
        attrs=ATTRS,
        stored_outputs=lambda attrs: 2 if attrs.pool_type == "max" else 1,
        infer_shape=_infer_shape,
        infer_dtype=same_floating,
        grad=_grad,
        fast=_fast,
        by_rows=lambda attrs, ins: (0,),
        aliases=("_npx_pooling",),
        doc="""Pools data (n, channel, spatial...), of 1 to 3 spatial axes, over windows of `kernel`.

        Extents are floor((n + 2 pad - kernel) / stride) + 1, rounded up with `pooling_convention='full'`.
        Averages count the padding unless `count_include_pad=False`; 'lp' is sum(x ** p) ** (1 / p), without
        absolute values.""",
        samples=(
            *_samples(("max", "avg", "sum")),
            Sample(((2, 3, 7),), {"kernel": 3, "stride": 2, "pad": 1, "pool_type": "avg", "count_include_pad": False}),
            Sample(
                ((2, 5, 4, 3),),
                {
                    "kernel": (2, 2),
                    "stride": (2, 1),
                    "pad": (1, 1),
                    "layout": "NHWC",
                    "pool_type": "avg",
                    "count_include_pad": False,
                },
            ),
            Sample(((2, 6, 3),), {"kernel": 2, "layout": "NWC"}),
            Sample(((2, 3, 7),), {"kernel": 3, "stride": 2, "pool_type": "avg", "pooling_convention": "same"}),
            Sample(((2, 3, 7),), {"kernel": 2, "stride": 1, "pad": (0, 0, 0), "pooling_convention": "same"}),
            Sample(((2, 3, 7, 7),), {"kernel": (2, 2), "pooling_convention": "same"}, error="MXNetError"),
            *[Sample(((2, 3, 5, 6),), {"kernel": (2, 2), "pool_type": "lp", "p_value": p}, low=0.1) for p in (1, 2, 3)],
        ),
    ),
    OpDef(
        "Pooling_v1",
        _v1_kernel,
        attrs=_V1_ATTRS,
        infer_shape=_v1_shape,
        infer_dtype=same_floating,
        grad=_v1_grad,
        doc="Pooling of old models: 4 or 5 dimensions, averages always divide by the size of a whole window.",
        samples=_samples(("max", "avg", "sum")),
    ),
    OpDef(
        "_backward_pool_sum",
        _sum_backward,
        inputs=("head", "data"),
        attrs=_PRIVATE,
        infer_shape=_like(1),
        grad=_sum_backward_grad,
        doc="The gradient of Pooling for sums and averages (only the shape of `data` matters).",
        samples=(
            Sample(
                ((2, 3, 3, 3), (2, 3, 6, 6)), {"kernel": (3, 3), "stride": (2, 2), "pad": (1, 1), "pool_type": "avg"}
            ),
            Sample(
                ((2, 3, 3, 3), (2, 3, 6, 6)),
                {"kernel": (3, 3), "stride": (2, 2), "pad": (1, 1), "pool_type": "avg", "whole_windows": True},
            ),
        ),
    ),
    OpDef(
        "_backward_pool_max",
        _max_backward,
        inputs=("head", "data", "output"),
        attrs=_PRIVATE,
        infer_shape=_like(1),
        grad=_max_backward_grad,
        fast=_fast_backward,
        doc="The gradient of max pooling: each head goes to the first maximum of its window.",
        samples=(
            Sample(
                ((1, 1, 2), (1, 1, 4), (1, 1, 2)),
                {"kernel": 2, "stride": 2},
                values={1: [[[1, 2, 4, 3]]], 2: [[[2, 4]]]},
                nograd=(1, 2),
            ),
        ),
    ),
    OpDef(
        "_pool_at_max",
        _at_max,
        inputs=("values", "data", "output"),
        attrs=_PRIVATE,
        infer_shape=_like(2),
        grad=_at_max_grad,
        doc="For each window the entry of `values` where `data` has its first maximum.",
        samples=(
            Sample(
                ((1, 1, 4), (1, 1, 4), (1, 1, 2)),
                {"kernel": 2, "stride": 2},
                values={1: [[[1, 2, 4, 3]]], 2: [[[2, 4]]]},
                nograd=(1, 2),
            ),
        ),
    ),
)
