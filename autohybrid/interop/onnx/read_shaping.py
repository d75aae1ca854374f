"""How joins, cuts, turns and reshapes of ONNX are read."""

from __future__ import annotations

from typing import Any

import numpy as np

from autohybrid import symbol as sym
from autohybrid.interop.onnx.read_arithmetic import spread
from autohybrid.interop.onnx.reader import OnnxCall, Reading

_OPEN = 2**31 - 1


def _reshape(call: OnnxCall) -> Any:
    """The codes 0 and -1 mean the same in MXNet. The shape was an attribute before operator set 5."""
    target = call.numbers(1, "target shape") if call.has(1) else list(call.option("shape"))
    if call.option("allowzero", 0) and 0 in target:
        raise call.refuse("it makes an axis without elements")
    return sym.reshape(call.data(), shape=tuple(target) or (1,))


def _flatten(call: OnnxCall) -> Any:
    axis = call.option("axis", 1)
    if axis == 1:
        return sym.Flatten(call.data())
    if axis == 0:
        return sym.reshape(call.data(), shape=(1, -1))
    shape = call.shape()
    return sym.reshape(call.data(), shape=(int(np.prod(shape[:axis])), -1))


def _transpose(call: OnnxCall) -> Any:
    order = call.option("perm")
    return sym.transpose(call.data(), axes=tuple(order)) if order else sym.transpose(call.data())


def _concat(call: OnnxCall) -> Any:
    return sym.concat(*call.operands(), dim=call.option("axis", 1))


def _split(call: OnnxCall) -> list[Any]:
    """Sizes were an attribute before operator set 13; without any, the parts are equal, but for the last."""
    axis, count = call.option("axis", 0), len(call.outputs)
    sizes = call.option("split")
    if call.has(1):
        sizes = call.numbers(1, "sizes")
    if not sizes:
        extent = call.shape()[axis]
        part = -(-extent // count)
        sizes = [part] * (count - 1) + [extent - part * (count - 1)]
    ends = np.cumsum(sizes).tolist()
    return [
        sym.slice_axis(call.data(), axis=axis, begin=end - size, end=end) for size, end in zip(sizes, ends, strict=True)
    ]


def _slice(call: OnnxCall) -> Any:
    """Starts, ends and axes were attributes before operator set 10."""
    rank = call.rank()
    starts = call.numbers(1, "starts") if call.has(1) else list(call.option("starts"))
    ends = call.numbers(2, "ends") if call.has(2) else list(call.option("ends"))
    given = call.numbers(3, "axes") if call.has(3) else call.option("axes")
    axes = [axis % rank for axis in given] if given else list(range(len(starts)))
    steps = call.numbers(4, "steps") if call.has(4) else [1] * len(starts)
    extents = call.values.shape(call.data()) or (-1,) * rank
    begin: list[int | None] = [None] * rank
    end: list[int | None] = [None] * rank
    step: list[int | None] = [None] * rank
    for axis, first, last, stride in zip(axes, starts, ends, steps):
        begin[axis], end[axis] = _bounds(first, last, stride, extents[axis])
        step[axis] = stride
    return sym.slice(call.data(), begin=tuple(begin), end=tuple(end), step=tuple(step) if set(steps) != {1} else ())


def _bounds(first: int, last: int, stride: int, extent: int) -> tuple[int | None, int | None]:
    """Bounds as MXNet takes them, which must lie within the axis; None is the end of it."""
    if extent >= 0:
        low, high, _ = slice(first, None if stride < 0 and last <= -_OPEN else last, stride).indices(extent)
        return low, None if high < 0 else high
    start = None if (first == 0 and stride > 0) or abs(first) >= _OPEN else first
    return start, None if abs(last) >= _OPEN else last


def _squeeze(call: OnnxCall) -> Any:
    axes = call.numbers(1, "axes") if call.has(1) else call.option("axes")
    return sym.squeeze(call.data(), axis=tuple(axes)) if axes else sym.squeeze(call.data())


def _unsqueeze(call: OnnxCall) -> Any:
    axes = call.numbers(1, "axes") if call.has(1) else list(call.option("axes"))
    if min(axes) < 0:
        rank = call.rank() + len(axes)
        axes = [axis % rank for axis in axes]
    result = call.data()
    for axis in sorted(axes):
        result = sym.expand_dims(result, axis=axis)
    return result


def _expand(call: OnnxCall) -> Any:
    """Either side may be the larger one."""
    target = call.numbers(1, "target shape")
    shape = call.values.shape(call.data())
    if shape is None or -1 in shape:
        shape = call.shape()
    return spread(call.data(), shape, tuple(np.broadcast_shapes(shape, tuple(target))))


def _tile(call: OnnxCall) -> Any:
    return sym.tile(call.data(), reps=tuple(call.numbers(1, "repeats")))


def _gather(call: OnnxCall) -> Any:
    axis, index = call.option("axis", 0), call.find(1)
    if index is None:
        return sym.take(call.data(), call.data(1), axis=axis, mode="wrap")
    if index.ndim == 0:
        start = int(index)
        one = sym.slice_axis(call.data(), axis=axis, begin=start, end=None if start == -1 else start + 1)
        return one if call.rank() == 1 else sym.squeeze(one, axis=axis)
    return sym.take(call.data(), call.data(1), axis=axis, mode="wrap")


def _gather_nd(call: OnnxCall) -> Any:
    if call.option("batch_dims", 0):
        raise call.refuse("it has batch_dims")
    order = (call.rank(1) - 1, *range(call.rank(1) - 1))
    return sym.gather_nd(call.data(), sym.transpose(call.data(1), axes=order))


def _gather_elements(call: OnnxCall) -> Any:
    """`pick` takes one element a row, so it is called for each index of the axis."""
    axis, count = call.option("axis", 0), call.shape(1)
    axis %= len(count)
    data, rest = call.shape(0), [each for each in range(len(count)) if each != axis]
    if any(data[each] != count[each] for each in rest):
        raise call.refuse("its indices cover a part of the other axes only")
    picked = [
        sym.pick(call.data(), sym.squeeze(index, axis=axis), axis=axis, keepdims=True, mode="wrap")
        for index in (
            sym.slice_axis(call.data(1), axis=axis, begin=i, end=i + 1) for i in range(count[axis])
        )
    ]  # fmt: skip
    return picked[0] if len(picked) == 1 else sym.concat(*picked, dim=axis)


def _one_hot(call: OnnxCall) -> Any:
    (depth,) = call.numbers(1, "depth")
    off, on = call.require(2, "values").tolist()
    if call.option("axis", -1) not in (-1, call.rank()):
        raise call.refuse("its new axis is not the last one")
    wrapped = sym._internal._mod_scalar(call.data(), scalar=depth)
    return sym.one_hot(wrapped, depth=depth, on_value=on, off_value=off, dtype=call.require(2, "values").dtype.name)


def _pad(call: OnnxCall) -> Any:
    """Widths were an attribute before operator set 11."""
    rank = call.rank()
    widths = call.numbers(1, "widths") if call.has(1) else list(call.option("pads"))
    value = float(call.require(2, "value").item()) if call.has(2) else call.option("value", 0.0)
    mode = call.option("mode", b"constant").decode()
    if mode not in ("constant", "edge", "reflect"):
        raise call.refuse(f"its mode is {mode}")
    axes = [axis % rank for axis in call.numbers(3, "axes")] if call.has(3) else list(range(rank))
    before, after = widths[: len(axes)], widths[len(axes) :]
    result = call.data()
    pairs = [(0, 0)] * rank
    for axis, first, last in zip(axes, before, after):
        result = _cut(result, axis, min(first, 0), min(last, 0))
        pairs[axis] = (max(first, 0), max(last, 0))
    return padded(result, pairs, mode, value)


def _cut(x: Any, axis: int, before: int, after: int) -> Any:
    """Negative widths take away."""
    return sym.slice_axis(x, axis=axis, begin=-before, end=after or None) if before or after else x


def padded(x: Any, pairs: list[tuple[int, int]], mode: str = "constant", value: float = 0.0) -> Any:
    """Any axis made longer. MXNet's `pad` takes four or five axes and leaves the first two as they are."""
    rank = len(pairs)
    if not any(before or after for before, after in pairs):
        return x
    extra = max(4 - rank, 0)
    wide = x
    for _ in range(extra):
        wide = sym.expand_dims(wide, axis=0)
    widths = [(0, 0)] * extra + list(pairs)
    ahead = [axis for axis in (0, 1) if any(widths[axis])]
    wide = _pad_inner(wide, [(0, 0), (0, 0), *widths[2:]], mode, value)
    for axis in ahead:
        turned = sym.swapaxes(wide, axis, len(widths) - 1)
        turned = _pad_inner(turned, [(0, 0)] * (len(widths) - 1) + [widths[axis]], mode, value)
        wide = sym.swapaxes(turned, axis, len(widths) - 1)
    return sym.squeeze(wide, axis=tuple(range(extra))) if extra else wide


def _pad_inner(x: Any, widths: list[tuple[int, int]], mode: str, value: float) -> Any:
    if not any(before or after for before, after in widths):
        return x
    flat = tuple(each for pair in widths for each in pair)
    return sym.pad(x, mode=mode, pad_width=flat, constant_value=value)


def _depth_to_space(call: OnnxCall) -> Any:
    size = call.option("blocksize")
    if call.option("mode", b"DCR") == b"DCR":
        return sym.depth_to_space(call.data(), block_size=size)
    # channels, rows, columns: the order of PixelShuffle
    split = sym.reshape(call.data(), shape=(0, -4, -1, size * size, 0, 0))
    parts = sym.reshape(split, shape=(0, 0, -4, size, size, 0, 0))
    return sym.reshape(sym.transpose(parts, axes=(0, 1, 4, 2, 5, 3)), shape=(0, 0, -3, -3))


def _space_to_depth(call: OnnxCall) -> Any:
    return sym.space_to_depth(call.data(), block_size=call.option("blocksize"))


SHAPING: dict[str, Reading] = {
    "Concat": _concat,
    "DepthToSpace": _depth_to_space,
    "Expand": _expand,
    "Flatten": _flatten,
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "GatherND": _gather_nd,
    "OneHot": _one_hot,
    "Pad": _pad,
    "Reshape": _reshape,
    "Slice": _slice,
    "SpaceToDepth": _space_to_depth,
    "Split": _split,
    "Squeeze": _squeeze,
    "Tile": _tile,
    "Transpose": _transpose,
    "Unsqueeze": _unsqueeze,
}
