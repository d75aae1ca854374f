"""Crop: a window of the last two axes, of a given size or that of another array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import GradNode, OpDef, Sample, Shape, Shapes
from autohybrid.tensor.shapes import require_known, unify

_PLACE = (Attr("offset", "shape", (0, 0)), Attr("h_w", "shape", (0, 0)), Attr("center_crop", "bool", False))


def _corner(attrs: Attrs, data: tuple[int, ...], height: int, width: int) -> tuple[int, int]:
    """Row and column of the window's corner. Raises MXNetError when the window does not fit."""
    if not (1 <= height <= data[2] and 1 <= width <= data[3]):
        raise MXNetError(
            f"a window of {height} x {width} does not fit into data of {data[2]} x {data[3]}; give `h_w` or a second "
            "input"
        )
    if attrs.center_crop:
        return (data[2] - height) // 2, (data[3] - width) // 2
    top, left = attrs.offset
    if not (0 <= top <= data[2] - height and 0 <= left <= data[3] - width):
        raise MXNetError(f"`offset` {attrs.offset} moves the window of {height} x {width} out of {data[2]} x {data[3]}")
    return top, left


def _infer_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    require_known(("data", "crop_like"), ins)
    for shape in ins:
        assert shape is not None
        if len(shape) != 4:
            raise MXNetError(f"inputs must have 4 dimensions (n, channels, height, width), got {shape}")
    if len(ins) not in (1, 2):
        raise MXNetError(f"Crop takes one or two inputs, got {len(ins)}")
    if len(attrs.offset) != 2 or len(attrs.h_w) != 2:
        raise MXNetError(f"`offset` and `h_w` must have 2 entries, got {attrs.offset} and {attrs.h_w}")
    data = ins[0]
    assert data is not None
    height, width = ins[1][2:] if len(ins) == 2 and ins[1] is not None else attrs.h_w
    if -1 not in (*data[2:], height, width):
        _corner(attrs, data, height, width)
    return ins, [unify((*data[:2], height, width), outs[0])]


def _slices(attrs: Attrs, data: Any, size: tuple[int, int]) -> tuple[Any, ...]:
    top, left = _corner(attrs, data.shape, *size)
    return (slice(None), slice(None), slice(top, top + size[0]), slice(left, left + size[1]))


def _kernel(xp: Any, attrs: Attrs, data: Any, like: Any = None) -> Any:
    return data[_slices(attrs, data, attrs.h_w if like is None else like.shape[2:])].copy()


def _place(attrs: Attrs) -> dict[str, Any]:
    return {"offset": attrs.offset, "center_crop": attrs.center_crop}


def _grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    gradient = F._backward_Crop(heads[0], node.inputs[0], **_place(node.attrs))
    return [gradient] + [None] * (len(node.inputs) - 1)


def _backward(xp: Any, attrs: Attrs, head: Any, data: Any) -> Any:
    result = xp.zeros(data.shape, dtype=head.dtype)
    result[_slices(attrs, data, head.shape[2:])] = head
    return result


def _backward_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    return [F.Crop(heads[0], node.inputs[0], num_args=2, **_place(node.attrs)), None]


OPERATORS = (
    OpDef(
        "Crop",
        _kernel,
        inputs=("data",),
        attrs=(Attr("num_args", "int"), *_PLACE),
        variadic="num_args",
        infer_shape=_infer_shape,
        grad=_grad,
        doc="""Cuts `h_w` rows and columns, or as many as a second input has, out of data (n, channels, height,
        width): from `offset` on, or from the middle with `center_crop`.""",
        samples=(
            Sample(((1, 2, 6, 5),), {"h_w": (3, 4), "offset": (1, 1)}),
            Sample(((1, 2, 6, 5), (1, 1, 3, 4)), {"center_crop": True}, nograd=(1,)),
            Sample(((1, 1, 1, 1),), {"h_w": (1, 1)}),
            Sample(((0, 1, 4, 4),), {"h_w": (2, 3)}),
            Sample(((1, 2, 6, 6),), {"h_w": (7, 7)}, error="MXNetError"),
        ),
    ),
    OpDef(
        "_backward_Crop",
        _backward,
        inputs=("head", "data"),
        attrs=(_PLACE[0], _PLACE[2]),
        infer_shape=lambda attrs, ins, outs: (ins, [unify(ins[1], outs[0])]),
        grad=_backward_grad,
        doc="The gradient of Crop: zeros around the head.",
        samples=(Sample(((1, 2, 3, 4), (1, 2, 6, 5)), {"offset": (2, 1)}),),
    ),
)
