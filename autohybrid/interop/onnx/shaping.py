"""What joins, cuts, turns and reshapes become in ONNX."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from autohybrid.interop.onnx.graph_writer import Call

Converter = Callable[[Call], None]


def _reshape(call: Call) -> None:
    """The codes 0 and -1 mean the same in ONNX; with other codes the sizes of the example shape are written."""
    codes = tuple(call.attrs.shape or ())
    open_codes = codes and all(code >= -1 for code in codes) and not call.attrs.reverse
    call.result("Reshape", call.inputs[0], call.whole(codes if open_codes else call.out_shapes[0]))


def _flatten(call: Call) -> None:
    call.result("Flatten", call.inputs[0], axis=1)


def _transpose(call: Call) -> None:
    axes = call.attrs.axes or tuple(reversed(range(len(call.shapes[0]))))
    call.result("Transpose", call.inputs[0], perm=[axis % len(axes) for axis in axes])


def _swap_axes(call: Call) -> None:
    order = list(range(len(call.shapes[0])))
    first, second = call.attrs.dim1, call.attrs.dim2
    order[first], order[second] = order[second], order[first]
    call.result("Transpose", call.inputs[0], perm=order)


def _concat(call: Call) -> None:
    call.result("Concat", *call.inputs, axis=call.attrs.dim)


def _stack(call: Call) -> None:
    axis = call.attrs.axis % len(call.out_shapes[0])
    parts = [call.add("Unsqueeze", each, call.whole([axis])) for each in call.inputs]
    call.result("Concat", *parts, axis=axis)


def _split(call: Call) -> None:
    attrs = call.attrs
    if not attrs.squeeze_axis:
        call.result("Split", call.inputs[0], axis=attrs.axis)
        return
    for number, output in enumerate(call.outputs):
        index = call.writer.constant(call.node.name, number, "int64")
        call.writer.emit("Gather", [call.inputs[0], index], [output], f"{call.node.name}/{number}", axis=attrs.axis)


def _slice_axis(call: Call) -> None:
    attrs = call.attrs
    end = call.shapes[0][attrs.axis] if attrs.end is None else attrs.end
    call.result("Slice", call.inputs[0], call.whole([attrs.begin]), call.whole([end]), call.whole([attrs.axis]))


def _slice(call: Call) -> None:
    extents = call.shapes[0]
    steps = [step or 1 for step in (*(call.attrs.step or ()), *([None] * len(extents)))][: len(call.attrs.begin)]
    begins = [(extents[i] if s < 0 else 0) if b is None else b for i, (b, s) in enumerate(zip(call.attrs.begin, steps))]
    ends = [(-(2**31) if s < 0 else 2**31) if e is None else e for e, s in zip(call.attrs.end, steps)]
    axes = call.whole(list(range(len(begins))))
    call.result("Slice", call.inputs[0], call.whole(begins), call.whole(ends), axes, call.whole(steps))


def _expand_dims(call: Call) -> None:
    call.result("Unsqueeze", call.inputs[0], call.whole([call.attrs.axis]))


def _squeeze(call: Call) -> None:
    axis = call.attrs.axis
    if axis is None or axis == ():
        call.result("Squeeze", call.inputs[0])
        return
    call.result("Squeeze", call.inputs[0], call.whole([axis] if isinstance(axis, int) else list(axis)))


def _pad(call: Call) -> None:
    widths, mode = call.attrs.pad_width, {"edge": "edge", "reflect": "reflect"}.get(call.attrs.mode, "constant")
    pads = call.whole([*widths[::2], *widths[1::2]])
    more = [call.constant(call.attrs.constant_value)] if mode == "constant" else []
    call.result("Pad", call.inputs[0], pads, *more, mode=mode)


def _tile(call: Call) -> None:
    reps, rank = call.attrs.reps, len(call.shapes[0])
    data = call.inputs[0]
    if len(reps) > rank:
        data = call.add("Unsqueeze", data, call.whole(list(range(len(reps) - rank))))
    call.result("Tile", data, call.whole([1] * (rank - len(reps)) + list(reps)))


def _filled(value: float) -> Converter:
    """An array of one number; its open extents, such as the batch of a first state, follow from what uses it."""

    def convert(call: Call) -> None:
        result = np.full(call.out_shapes[0], value, np.dtype(call.attrs.dtype))
        call.writer.add_initializer(call.outputs[0], result)

    return convert


SHAPING: dict[str, Converter] = {
    "Concat": _concat,
    "Flatten": _flatten,
    "Pad": _pad,
    "Reshape": _reshape,
    "SliceChannel": _split,
    "SwapAxis": _swap_axes,
    "_ones": _filled(1.0),
    "_zeros": _filled(0.0),
    "expand_dims": _expand_dims,
    "slice": _slice,
    "slice_axis": _slice_axis,
    "squeeze": _squeeze,
    "stack": _stack,
    "tile": _tile,
    "transpose": _transpose,
}
