"""Operators that change images at random, for augmentation: brightness, contrast, saturation, hue, lighting, flips.

One number is drawn for the whole input. They have no gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor import image_color as color
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import OpDef, Sample, Shapes
from autohybrid.tensor.ops.image_transform import check_image
from autohybrid.tensor.shapes import unify

_FACTORS = (Attr("min_factor", "float"), Attr("max_factor", "float"))
_STRENGTHS = tuple(Attr(name, "float") for name in ("brightness", "contrast", "saturation", "hue"))


def _infer(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    shape = unify(ins[0], outs[0])
    check_image(shape)
    return [shape], [shape]


def _infer_color(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    ins, outs = _infer(attrs, ins, outs)
    if ins[0] is not None and ins[0][-1] not in (1, 3, -1):
        raise MXNetError(f"an image has 1 or 3 channels in its last axis, got {ins[0]}")
    return ins, outs


def _between(rng: Any, low: float, high: float) -> Any:
    """One number between `low` and `high`, as an array of one element: it need not come to the host."""
    return rng.random((1,), dtype="float32") * (high - low) + low


def _by_factor(adjust: Callable[..., Any]) -> Callable[..., Any]:
    def kernel(xp: Any, attrs: Attrs, data: Any, *, rng: Any) -> Any:
        if not 0 <= attrs.min_factor <= attrs.max_factor:
            raise MXNetError(
                f"0 <= `min_factor` <= `max_factor` must hold, got {attrs.min_factor} and {attrs.max_factor}"
            )
        return adjust(xp, data, _between(rng, attrs.min_factor, attrs.max_factor))

    return kernel


def _color_jitter(xp: Any, attrs: Attrs, data: Any, *, rng: Any) -> Any:
    steps = [
        (adjust, _between(rng, neutral - strength, neutral + strength), neutral)
        for adjust, strength, neutral in (
            (color.brightness, attrs.brightness, 1.0),
            (color.contrast, attrs.contrast, 1.0),
            (color.saturation, attrs.saturation, 1.0),
            (color.hue, attrs.hue, 0.0),
        )
        if strength > 0
    ]
    if hasattr(rng, "permutation"):  # NumPy's generator: the order is known to the host
        for place in rng.permutation(len(steps)):
            adjust, amount, _ = steps[place]
            data = adjust(xp, data, amount)
        return data
    # A device keeps the order to itself: at each place every step is run, all but one without effect.
    order = xp.argsort(rng.random((len(steps),), dtype="float64"))
    for place in range(len(steps)):
        for step, (adjust, amount, neutral) in enumerate(steps):
            data = adjust(xp, data, xp.where(order[place : place + 1] == step, amount, neutral))
    return data


def _random_lighting(xp: Any, attrs: Attrs, data: Any, *, rng: Any) -> Any:
    return color.lighting(xp, data, rng.standard_normal((3,), dtype="float32") * attrs.alpha_std)


def _adjust_lighting(xp: Any, attrs: Attrs, data: Any) -> Any:
    if len(attrs.alpha) != 3:
        raise MXNetError(f"`alpha` must have 3 values, got {attrs.alpha}")
    return color.lighting(xp, data, attrs.alpha)


def _random_flip(axis: int) -> Callable[..., Any]:
    def kernel(xp: Any, attrs: Attrs, data: Any, *, rng: Any) -> Any:
        return xp.where(rng.random((1,), dtype="float32") < 0.5, xp.flip(data, axis), data)

    return kernel


def _record(name: str, kernel: Any, attrs: tuple[Attr, ...], given: dict[str, Any], doc: str, channels: int) -> OpDef:
    flips = "flip" in name
    return OpDef(
        f"_image_{name}",
        kernel,
        attrs=attrs,
        infer_shape=_infer if flips else _infer_color,
        aliases=(f"_npx__image_{name}",),
        random="random" in name,
        view=name == "random_color_jitter",
        doc=doc,
        samples=(
            Sample(((4, 5, channels),), given, low=0, high=255, dtypes=("uint8",)),
            Sample(((3, 2, channels),), given, low=0, high=255),
            Sample(((1, 1, 1),), given, low=0, high=255),
            Sample(((3, 4),), given, error="MXNetError"),
        ),
    )


_RANGE = {"min_factor": 0.5, "max_factor": 1.5}

OPERATORS: tuple[OpDef, ...] = (
    _record("random_brightness", _by_factor(color.brightness), _FACTORS, _RANGE,
            "An image times a number drawn between `min_factor` and `max_factor`.", 3),
    _record("random_contrast", _by_factor(color.contrast), _FACTORS, _RANGE,
            "An image with its distance from its mean gray times a number drawn from the range.", 3),
    _record("random_saturation", _by_factor(color.saturation), _FACTORS, _RANGE,
            "An image with each pixel moved from or towards its gray at random. (To MXNet only blue is gray.)", 3),
    _record("random_hue", _by_factor(color.hue), _FACTORS, {"min_factor": 0.8, "max_factor": 1.2},
            "An image of values 0 to 255 with its hues turned by a drawn part of the circle (1: not at all).", 3),
    _record("random_color_jitter", _color_jitter, _STRENGTHS,
            {"brightness": 0.2, "contrast": 0.1, "saturation": 0.3, "hue": 0.1},
            "Random brightness, contrast, saturation and hue in random order; 0 leaves one out.", 3),
    _record("random_lighting", _random_lighting, (Attr("alpha_std", "float", 0.05),), {},
            "An image plus noise along the principal components of ImageNet's colours.", 3),
    _record("adjust_lighting", _adjust_lighting, (Attr("alpha", "floats"),), {"alpha": (0.1, -0.2, 0.05)},
            "An image plus `alpha` times the principal components of ImageNet's colours.", 3),
    _record("random_flip_left_right", _random_flip(-2), (), {},
            "An image, or a batch, mirrored left to right with probability one half.", 2),
    _record("random_flip_top_bottom", _random_flip(-3), (), {},
            "An image, or a batch, turned upside down with probability one half.", 2),
)  # fmt: skip
