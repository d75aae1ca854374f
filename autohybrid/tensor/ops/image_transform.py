"""Operators on images that compute the same every time: to_tensor, normalize, flips, crop, resize."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.image_resampling import NEAREST, Taps, make_taps, resample, resample_back, resample_bytes
from autohybrid.tensor.opdef import Dtypes, GradNode, OpDef, Sample, Shape, Shapes
from autohybrid.tensor.shapes import fixed_dtype, unify


def check_image(shape: Shape, ranks: tuple[int, ...] = (3, 4)) -> None:
    """Raise MXNetError unless `shape` is (height, width, channels), or a batch of such."""
    if shape is not None and len(shape) not in ranks:
        forms = {3: "(height, width, channels)", 4: "(n, height, width, channels)"}
        raise MXNetError(f"an image has shape {' or '.join(forms[r] for r in ranks)}, got {shape}")


def _infer_back(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    shape = unify(ins[1], outs[0])
    return [ins[0], shape], [shape]


def _back_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    return ins, [ins[1]]


# -- to_tensor -------------------------------------------------------------------------------------------------------
def _infer_to_tensor(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    check_image(ins[0])
    if ins[0] is None:
        return ins, outs
    *batch, height, width, channels = ins[0]
    return ins, [unify((*batch, channels, height, width), outs[0])]


def _to_tensor(xp: Any, attrs: Attrs, data: Any) -> Any:
    result = xp.moveaxis(data, -1, -3).astype("float32", order="C")
    result /= 255
    return result


def _grad_to_tensor(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return F._backward_image_to_tensor(heads[0], node.inputs[0])


def _backward_to_tensor(xp: Any, attrs: Attrs, head: Any, data: Any) -> Any:
    return (xp.moveaxis(head, -3, -1) / 255).astype(data.dtype)


def _grad_backward_to_tensor(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    return [F._image_to_tensor(heads[0]), None]


# -- normalize -------------------------------------------------------------------------------------------------------
def _infer_normalize(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    shape = unify(ins[0], outs[0])
    if shape is None:
        return ins, outs
    if len(shape) not in (3, 4):
        raise MXNetError(f"normalize takes (channels, height, width), also in a batch, got {shape}")
    channels = shape[-3]
    if channels not in (1, 3, -1):
        raise MXNetError(f"normalize takes 1 or 3 channels in front of height and width, got {channels} in {shape}")
    for name in ("mean", "std"):
        given = getattr(attrs, name)
        if channels != -1 and len(given) not in (1, channels):
            raise MXNetError(f"`{name}` must have 1 or {channels} values for {channels} channels, got {given}")
    return [shape], [shape]


def _normalize(xp: Any, attrs: Attrs, data: Any) -> Any:
    kind = "float64" if data.dtype == "float64" else "float32"
    mean, std = (xp.asarray(v, dtype=kind).reshape(-1, 1, 1) for v in (attrs.mean, attrs.std))
    result = data.astype(kind, copy=False) - mean
    result /= std
    return result.astype(data.dtype, copy=False)


def _grad_normalize(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return F._image_normalize(heads[0], mean=(0.0,), std=node.attrs.std)


# -- flips -----------------------------------------------------------------------------------------------------------
def _infer_flip(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    shape = unify(ins[0], outs[0])
    check_image(shape, (3,))
    return [shape], [shape]


def _flip_left_right(xp: Any, attrs: Attrs, data: Any) -> Any:
    return xp.flip(data, 1)


def _flip_top_bottom(xp: Any, attrs: Attrs, data: Any) -> Any:
    return xp.flip(data, 0)


def _grad_left_right(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return F._image_flip_left_right(heads[0])


def _grad_top_bottom(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return F._image_flip_top_bottom(heads[0])


# -- crop ------------------------------------------------------------------------------------------------------------
def _infer_crop(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    check_image(ins[0])
    if attrs.width < 1 or attrs.height < 1:
        raise MXNetError(f"`width` and `height` must be above 0, got {attrs.width} and {attrs.height}")
    if ins[0] is None:
        return ins, outs
    *batch, height, width, channels = ins[0]
    for name, start, size, extent in (("x", attrs.x, attrs.width, width), ("y", attrs.y, attrs.height, height)):
        if start < 0 or (extent != -1 and start + size > extent):
            raise MXNetError(f"a crop of {size} from `{name}` {start} lies outside the image's extent {extent}")
    return ins, [unify((*batch, attrs.height, attrs.width, channels), outs[0])]


def _window(attrs: Attrs) -> tuple[Any, ...]:
    rows, columns = slice(attrs.y, attrs.y + attrs.height), slice(attrs.x, attrs.x + attrs.width)
    return (Ellipsis, rows, columns, slice(None))


def _crop(xp: Any, attrs: Attrs, data: Any) -> Any:
    return data[_window(attrs)]


def _crop_attrs(attrs: Attrs) -> dict[str, int]:
    return {"x": attrs.x, "y": attrs.y, "width": attrs.width, "height": attrs.height}


def _grad_crop(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return F._backward_image_crop(heads[0], node.inputs[0], **_crop_attrs(node.attrs))


def _backward_crop(xp: Any, attrs: Attrs, head: Any, data: Any) -> Any:
    result = xp.zeros(data.shape, dtype=data.dtype)
    result[_window(attrs)] = head
    return result


def _grad_backward_crop(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    return [F._image_crop(heads[0], **_crop_attrs(node.attrs)), None]


# -- resize ----------------------------------------------------------------------------------------------------------
def _resized(attrs: Attrs, height: int, width: int) -> tuple[int, int]:
    """Target height and width."""
    size = attrs.size
    if len(size) not in (1, 2) or min(size) < 1:
        raise MXNetError(f"`size` is one number or (width, height), above 0, got {size}")
    if len(size) == 2:
        return size[1], size[0]
    if not attrs.keep_ratio:
        return size[0], size[0]
    if -1 in (height, width):
        return -1, -1
    # The shorter edge gets the size, the longer one follows.
    return (height * size[0] // width, size[0]) if height > width else (size[0], width * size[0] // height)


def _infer_resize(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    check_image(ins[0])
    if not 0 <= attrs.interp <= 4:
        raise MXNetError(f"`interp` is 0 (nearest), 1 (linear), 2 (cubic), 3 (area) or 4 (Lanczos), got {attrs.interp}")
    if ins[0] is None:
        return ins, outs
    *batch, height, width, channels = ins[0]
    return ins, [unify((*batch, *_resized(attrs, height, width), channels), outs[0])]


#: What only the nearest pixel can be taken of: OpenCV has no arithmetic for them.
_MOVABLE = ("int8", "int32")


def _resize_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    if ins[0] not in (None, "uint8", "float32", "float64") and not (attrs.interp == NEAREST and ins[0] in _MOVABLE):
        allowed = "uint8, float32 and float64 images, with `interp=0` int8 and int32 ones too"
        raise MXNetError(f"resize takes {allowed}; got {ins[0]}, convert with `astype`")
    return ins, [ins[0]]


def resize_taps(xp: Any, source: tuple[int, int], target: tuple[int, int], method: int) -> tuple[Taps, Taps]:
    """The taps of rows and columns to bring (height, width) `source` to `target`."""
    shrinks = source[0] >= target[0] and source[1] >= target[1]
    rows, columns = [make_taps(xp, s, t, method, shrinks) for s, t in zip(source, target)]
    return rows, columns


def resize_image(xp: Any, data: Any, target: tuple[int, int], method: int) -> Any:
    """`data` (..., height, width, channels) in another size; uint8 stays uint8."""
    source = data.shape[-3:-1]
    if source == target:
        return data.copy()
    rows, columns = resize_taps(xp, source, target, method)
    if method == NEAREST:
        return data.take(rows.index[:, 0], axis=-3).take(columns.index[:, 0], axis=-2)
    if data.dtype == "uint8":
        return resample_bytes(xp, data, rows, columns, method)
    return resample(xp, data, rows, columns)


def _resize(xp: Any, attrs: Attrs, data: Any) -> Any:
    return resize_image(xp, data, _resized(attrs, *data.shape[-3:-1]), attrs.interp)


def _resize_attrs(attrs: Attrs) -> dict[str, Any]:
    return {"size": attrs.size, "keep_ratio": attrs.keep_ratio, "interp": attrs.interp}


def _grad_resize(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return F._backward_image_resize(heads[0], node.inputs[0], **_resize_attrs(node.attrs))


def _backward_resize(xp: Any, attrs: Attrs, head: Any, data: Any) -> Any:
    height, width = data.shape[-3:-1]
    if head.shape == data.shape:
        return head.astype(data.dtype)
    rows, columns = resize_taps(xp, (height, width), head.shape[-3:-1], attrs.interp)
    return resample_back(xp, head, height, width, rows, columns).astype(data.dtype, copy=False)


def _grad_backward_resize(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    return [F._image_resize(heads[0], **_resize_attrs(node.attrs)), None]


_CROP = (Attr("x", "int"), Attr("y", "int"), Attr("width", "int"), Attr("height", "int"))
_RESIZE = (
    Attr("size", "shape", (), doc="one number, or (width, height)"),
    Attr("keep_ratio", "bool", False, doc="with one number: of the shorter edge"),
    Attr("interp", "int", 1, doc="0 nearest, 1 linear, 2 cubic, 3 area, 4 Lanczos"),
)


def _record(name: str, kernel: Any, infer_shape: Any, **fields: Any) -> OpDef:
    aliases = (f"_npx__image_{name}",)
    return OpDef(f"_image_{name}", kernel, infer_shape=infer_shape, aliases=aliases, **fields)


def _back(name: str, kernel: Any, grad: Any, sample: Sample, attrs: tuple[Attr, ...] = ()) -> OpDef:
    return OpDef(
        f"_backward_image_{name}",
        kernel,
        inputs=("head", "data"),
        attrs=attrs,
        infer_shape=_infer_back,
        infer_dtype=_back_dtype,
        grad=grad,
        doc=f"The gradient of `image.{name}`.",
        samples=(sample,),
    )


OPERATORS: tuple[OpDef, ...] = (
    _record(
        "to_tensor",
        _to_tensor,
        _infer_to_tensor,
        infer_dtype=fixed_dtype("float32"),
        grad=_grad_to_tensor,
        doc="An image (height, width, channels) in 0..255 as float32 (channels, height, width) of 0 to 1; or a batch.",
        samples=(
            Sample(((2, 3, 3),), low=0, high=255, dtypes=("uint8",)),
            Sample(((2, 1, 4, 1),), low=0, high=255, dtypes=("uint8",)),
            Sample(((0, 3, 3),), dtypes=("uint8",)),
            Sample(((2, 3),), error="MXNetError"),
        ),
    ),
    _back("to_tensor", _backward_to_tensor, _grad_backward_to_tensor, Sample(((3, 2, 4), (2, 4, 3)), nograd=(0, 1))),
    _record(
        "normalize",
        _normalize,
        _infer_normalize,
        attrs=(Attr("mean", "floats", (0.0,) * 4), Attr("std", "floats", (1.0,) * 4)),
        grad=_grad_normalize,
        doc="(data - mean) / std of (channels, height, width), also a batch; one value, or one for each channel.",
        samples=(
            Sample(((3, 2, 4),), {"mean": (0.1, 0.2, 0.3), "std": (0.5, 0.6, 0.7)}),
            Sample(((2, 1, 2, 3),), {"mean": 0.5, "std": 0.25}),
            Sample(((1, 0, 2),), {"mean": 0.5, "std": 0.25}),
            Sample(((3, 2, 2),), error="MXNetError"),
            Sample(((2, 2),), {"mean": 0.5, "std": 0.25}, error="MXNetError"),
        ),
    ),
    _record(
        "flip_left_right",
        _flip_left_right,
        _infer_flip,
        grad=_grad_left_right,
        view=True,
        doc="An image (height, width, channels) mirrored left to right. (MXNet leaves the middle of odd widths unset.)",
        samples=(
            Sample(((2, 3, 3),)),
            Sample(((1, 4, 1),)),
            Sample(((0, 2, 3),)),
            Sample(((2, 3),), error="MXNetError"),
        ),
    ),
    _record(
        "flip_top_bottom",
        _flip_top_bottom,
        _infer_flip,
        grad=_grad_top_bottom,
        view=True,
        doc="An image (height, width, channels) turned upside down. (MXNet leaves the middle of odd heights unset.)",
        samples=(
            Sample(((3, 2, 3),)),
            Sample(((4, 1, 1),)),
            Sample(((0, 2, 3),)),
            Sample(((2, 3),), error="MXNetError"),
        ),
    ),
    _record(
        "crop",
        _crop,
        _infer_crop,
        attrs=_CROP,
        grad=_grad_crop,
        view=True,
        doc="The part of an image, or of each in a batch, of this width and height whose upper left corner is (x, y).",
        samples=(
            Sample(((4, 5, 3),), {"x": 1, "y": 0, "width": 3, "height": 2}),
            Sample(((2, 4, 5, 1),), {"x": 0, "y": 3, "width": 1, "height": 1}),
            Sample(((4, 5, 0),), {"x": 1, "y": 1, "width": 1, "height": 1}),
            Sample(((4, 5, 3),), {"x": 1, "y": 0, "width": 30, "height": 2}, error="MXNetError"),
        ),
    ),
    _back(
        "crop",
        _backward_crop,
        _grad_backward_crop,
        Sample(((2, 3, 1), (4, 5, 1)), {"x": 1, "y": 0, "width": 3, "height": 2}, nograd=(1,)),
        _CROP,
    ),
    _record(
        "resize",
        _resize,
        _infer_resize,
        attrs=_RESIZE,
        infer_dtype=_resize_dtype,
        grad=_grad_resize,
        doc="An image, or each in a batch, in another size, with OpenCV's interpolation.",
        samples=(
            Sample(((3, 4, 3),), {"size": (6, 2)}),
            Sample(((3, 4, 1),), {"size": 5, "keep_ratio": True, "interp": 2}),
            Sample(((2, 6, 5, 1),), {"size": (2, 3), "interp": 3}),
            Sample(((3, 4, 1),), {"size": (5, 7), "interp": 3}),
            Sample(((3, 4, 1),), {"size": 6, "interp": 4}),
            Sample(((3, 4, 2),), {"size": (8, 6), "interp": 0}),
            Sample(((5, 4, 2),), {"size": 3}, low=0, high=255, dtypes=("uint8",)),
            Sample(((5, 4, 2),), {"size": 3, "interp": 0}, low=-9, high=9, dtypes=("int32",)),
            Sample(((1, 1, 1),), {"size": 1}),
            Sample(((3, 4, 3),), {"size": (0, 2)}, error="MXNetError"),
            Sample(((3, 4, 3),), {"size": (1, 2), "interp": 9}, error="MXNetError"),
        ),
    ),
    _back(
        "resize",
        _backward_resize,
        _grad_backward_resize,
        Sample(((2, 6, 1), (3, 4, 1)), {"size": (6, 2)}, nograd=(1,)),
        _RESIZE,
    ),
)
