"""Operators under MXNet's names for OpenCV's functions on (height, width, channels): _cvimresize, _cvcopyMakeBorder.

Reading and decoding files is not an operator here; see `autohybrid.image`.
"""

from __future__ import annotations

from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import Dtypes, OpDef, Sample, Shapes
from autohybrid.tensor.ops.image_transform import check_image, resize_image
from autohybrid.tensor.shapes import unify

_BORDERS = {0: "constant", 1: "edge", 2: "symmetric", 3: "wrap", 4: "reflect"}


def _infer_resize(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    check_image(ins[0], (3,))
    if min(attrs.w, attrs.h) < 1:
        raise MXNetError(f"`w` and `h` must be above 0, got {attrs.w} and {attrs.h}")
    if not 0 <= attrs.interp <= 4:
        raise MXNetError(f"`interp` is 0 (nearest), 1 (linear), 2 (cubic), 3 (area) or 4 (Lanczos), got {attrs.interp}")
    channels = -1 if ins[0] is None else ins[0][2]
    return ins, [unify((attrs.h, attrs.w, channels), outs[0])]


def _resize(xp: Any, attrs: Attrs, image: Any) -> Any:
    return resize_image(xp, image, (attrs.h, attrs.w), attrs.interp)


def _pixel_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    if ins[0] not in (None, "uint8", "float32", "float64"):
        raise MXNetError(f"an image of dtype uint8, float32 or float64 is needed, got {ins[0]}")
    return ins, [ins[0]]


def _infer_border(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    check_image(ins[0], (3,))
    sides = (attrs.top, attrs.bot, attrs.left, attrs.right)
    if min(sides) < 0:
        raise MXNetError(f"borders must not be negative, got top, bot, left, right {sides}")
    if attrs.type not in _BORDERS:
        known = ", ".join(f"{number} ({mode})" for number, mode in _BORDERS.items())
        raise MXNetError(f"`type` is one of {known}, got {attrs.type}")
    if ins[0] is None:
        return ins, outs
    height, width, channels = ins[0]
    target = (
        -1 if height == -1 else height + attrs.top + attrs.bot,
        -1 if width == -1 else width + attrs.left + attrs.right,
        channels,
    )
    return ins, [unify(target, outs[0])]


def _border(xp: Any, attrs: Attrs, image: Any) -> Any:
    widths = ((attrs.top, attrs.bot), (attrs.left, attrs.right), (0, 0))
    mode = _BORDERS[attrs.type]
    if mode != "constant":
        return xp.pad(image, widths, mode=mode)
    values = vars(attrs)["values"] or (attrs.value,)  # `attrs.values` is a method
    if len(values) not in (1, image.shape[2]):
        raise MXNetError(f"`values` must have 1 or {image.shape[2]} numbers, got {values}")
    shape = (image.shape[0] + attrs.top + attrs.bot, image.shape[1] + attrs.left + attrs.right, image.shape[2])
    result = xp.empty(shape, dtype=image.dtype)
    if image.dtype.kind in "iu":  # OpenCV rounds, and stops at the ends of the dtype
        limits = xp.iinfo(image.dtype)
        values = xp.clip(xp.rint(xp.asarray(values)), limits.min, limits.max)
    result[...] = xp.asarray(values).astype(image.dtype)
    result[attrs.top : attrs.top + image.shape[0], attrs.left : attrs.left + image.shape[1]] = image
    return result


_SIDES = {"top": 1, "bot": 2, "left": 2, "right": 0}

OPERATORS: tuple[OpDef, ...] = (
    OpDef(
        "_cvimresize",
        _resize,
        inputs=("src",),
        attrs=(Attr("w", "int"), Attr("h", "int"), Attr("interp", "int", 1)),
        infer_shape=_infer_resize,
        infer_dtype=_pixel_dtype,
        aliases=("_npi_cvimresize",),
        doc="An image in width `w` and height `h`; interpolation as in `image.resize`.",
        samples=(
            Sample(((3, 4, 3),), {"w": 2, "h": 5}, low=0, high=255, dtypes=("uint8",)),
            Sample(((1, 1, 1),), {"w": 1, "h": 1}),
            Sample(((3, 4),), {"w": 1, "h": 1}, error="MXNetError"),
        ),
    ),
    OpDef(
        "_cvcopyMakeBorder",
        _border,
        inputs=("src",),
        attrs=(
            Attr("top", "int"),
            Attr("bot", "int"),
            Attr("left", "int"),
            Attr("right", "int"),
            Attr("type", "int", 0, doc="0 constant, 1 edge, 2 mirror, 3 wrap, 4 mirror without the edge"),
            Attr("value", "float", 0.0),
            Attr("values", "floats", (), doc="one constant for each channel"),
        ),
        infer_shape=_infer_border,
        infer_dtype=_pixel_dtype,
        doc="An image with a border around it.",
        samples=(
            Sample(((3, 4, 3),), {**_SIDES, "values": (7, 8, 9)}, low=0, high=255, dtypes=("uint8",)),
            Sample(((3, 4, 1),), {**_SIDES, "type": 2}),
            Sample(((3, 4, 1),), {**_SIDES, "type": 4}),
            Sample(((3, 4, 1),), {**_SIDES, "type": 9}, error="MXNetError"),
        ),
    ),
)
