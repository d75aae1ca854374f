"""Adjusting the colours of images (..., height, width, channels): brightness, contrast, saturation, hue, lighting.

`xp` only. A strength is a number or an array of one element. Results of uint8 images are cut to 0..255 with fractions
dropped, as in MXNet 1.9.1; images of one channel have no saturation, hue or lighting and are returned as they are.
"""

from __future__ import annotations

from typing import Any

_GRAY = (0.299, 0.587, 0.114)
# Principal components of ImageNet's colours, each scaled by the root of its eigenvalue.
_LIGHTING = (
    (55.46 * -0.5675, 4.794 * 0.7192, 1.148 * 0.4009),
    (55.46 * -0.5808, 4.794 * -0.0045, 1.148 * -0.8140),
    (55.46 * -0.5836, 4.794 * -0.6948, 1.148 * 0.4203),
)


def _in_float(image: Any) -> Any:
    return image if image.dtype.name in ("float32", "float64") else image.astype("float32")


def _like(xp: Any, values: Any, image: Any) -> Any:
    if image.dtype.name == "uint8":
        values = xp.clip(values, 0, 255)
    return values.astype(image.dtype, copy=False)


def _gray(xp: Any, values: Any) -> Any:
    return (values * xp.asarray(_GRAY, dtype=values.dtype)).sum(axis=-1, keepdims=True)


def brightness(xp: Any, image: Any, strength: Any) -> Any:
    """Every value times `strength`."""
    return _like(xp, _in_float(image) * strength, image)


def contrast(xp: Any, image: Any, strength: Any) -> Any:
    """Values moved away from the mean gray (`strength` above 1) or towards it."""
    values = _in_float(image)
    gray = _gray(xp, values) if image.shape[-1] == 3 else values
    mean = gray.mean(axis=(-3, -2, -1), keepdims=True)
    return _like(xp, values * strength + (1 - strength) * mean, image)


def saturation(xp: Any, image: Any, strength: Any) -> Any:
    """Values moved away from the gray of their pixel, or towards it."""
    if image.shape[-1] == 1:
        return image.copy()
    values = _in_float(image)
    return _like(xp, values * strength + (1 - strength) * _gray(xp, values), image)


def hue(xp: Any, image: Any, turn: Any) -> Any:
    """Hues turned by `turn` of a full circle; values are in 0..255."""
    if image.shape[-1] == 1:
        return image.copy()
    values = _in_float(image) / 255
    angle, light, strength = _to_hls(xp, values)
    return _like(xp, _from_hls(xp, angle + turn * 6, light, strength) * 255, image)


def _to_hls(xp: Any, rgb: Any) -> tuple[Any, Any, Any]:
    """Hue in sixths of the circle, lightness and saturation."""
    red, green, blue = rgb[..., 0], rgb[..., 1], rgb[..., 2]
    top, bottom = rgb.max(axis=-1), rgb.min(axis=-1)
    span, light = top - bottom, (top + bottom) / 2
    colored = span > 1e-7
    safe = xp.where(colored, span, 1)
    angle = xp.where(
        top == red, (green - blue) / safe, xp.where(top == green, 2 + (blue - red) / safe, 4 + (red - green) / safe)
    )
    rest = xp.where(light < 0.5, top + bottom, 2 - top - bottom)
    strength = span / xp.where(colored, rest, 1)
    return xp.where(colored, angle % 6, 0), light, xp.where(colored, strength, 0)


def _from_hls(xp: Any, angle: Any, light: Any, strength: Any) -> Any:
    top = xp.where(light <= 0.5, light * (1 + strength), light + strength - light * strength)
    bottom = 2 * light - top
    channels = []
    for offset in (2, 0, 4):  # red, green, blue: a trapezium of the hue, one third of the circle apart
        place = (angle + offset) % 6
        rise = xp.clip(xp.minimum(place, 4 - place), 0, 1)
        channels.append(bottom + (top - bottom) * rise)
    return xp.stack(channels, axis=-1)


def lighting(xp: Any, image: Any, alpha: Any) -> Any:
    """Every pixel plus the colour that three strengths `alpha` of the principal components make."""
    if image.shape[-1] == 1:
        return image.copy()
    values = _in_float(image)
    shift = xp.asarray(_LIGHTING, dtype=values.dtype) @ xp.asarray(alpha, dtype=values.dtype)
    return _like(xp, values + shift, image)
