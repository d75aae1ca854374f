"""Cutting parts out of images (height, width, channels) and normalizing colours. Sizes are (width, height)."""

from __future__ import annotations

import math
import random
from typing import Any

from autohybrid.image.reading import imresize
from autohybrid.ndarray import NDArray

Box = tuple[int, int, int, int]
_AUTO, _ANY = 9, 10


def scale_down(src_size: tuple[int, int], size: tuple[int, int]) -> tuple[int, int]:
    """`size` scaled, with its aspect kept, to fit into `src_size`."""
    width, height = float(size[0]), float(size[1])
    if src_size[1] < height:
        width, height = width * src_size[1] / height, src_size[1]
    if src_size[0] < width:
        width, height = src_size[0], height * src_size[0] / width
    return int(width), int(height)


def choose_interpolation(interp: int, sizes: tuple[int, int, int, int] | None = None) -> int:
    """What 9 (by the change of size: old height, old width, new height, new width) and 10 (any) stand for."""
    if interp == _AUTO:
        if sizes is None:
            return 2
        grows = sizes[2] > sizes[0], sizes[3] > sizes[1]
        shrinks = sizes[2] < sizes[0], sizes[3] < sizes[1]
        return 2 if all(grows) else 3 if all(shrinks) else 1
    if interp == _ANY:
        return random.randint(0, 4)
    if interp not in (0, 1, 2, 3, 4):
        raise ValueError(f"interp must be 0 to 4, 9 or 10, not {interp}")
    return interp


def resize_short(src: NDArray, size: int, interp: int = 2) -> NDArray:
    """The image scaled so that its shorter side is `size` long."""
    height, width = src.shape[:2]
    if height > width:
        new = (size * height // width, size)
    else:
        new = (size, size * width // height)
    return imresize(src, new[1], new[0], interp=choose_interpolation(interp, (height, width, *new)))


def fixed_crop(
    src: NDArray, x0: int, y0: int, w: int, h: int, size: tuple[int, int] | None = None, interp: int = 2
) -> NDArray:
    """The part at (x0, y0), `w` wide and `h` high, scaled to `size` if that is given and differs."""
    part = src[y0 : y0 + h, x0 : x0 + w]
    if size is None or (w, h) == tuple(size):
        return part
    return imresize(part, *size, interp=choose_interpolation(interp, (h, w, size[1], size[0])))


def random_crop(src: NDArray, size: tuple[int, int], interp: int = 2) -> tuple[NDArray, Box]:
    """A part of `size` anywhere (smaller images are scaled up), and its box (x, y, width, height)."""
    height, width = src.shape[:2]
    w, h = scale_down((width, height), size)
    x, y = random.randint(0, width - w), random.randint(0, height - h)
    return fixed_crop(src, x, y, w, h, size, interp), (x, y, w, h)


def center_crop(src: NDArray, size: tuple[int, int], interp: int = 2) -> tuple[NDArray, Box]:
    """The middle part of `size` (smaller images are scaled up), and its box (x, y, width, height)."""
    height, width = src.shape[:2]
    w, h = scale_down((width, height), size)
    x, y = (width - w) // 2, (height - h) // 2
    return fixed_crop(src, x, y, w, h, size, interp), (x, y, w, h)


def random_size_crop(
    src: NDArray, size: tuple[int, int], area: Any, ratio: tuple[float, float], interp: int = 2
) -> tuple[NDArray, Box]:
    """A part of random area (a share of the image, or its lower bound) and aspect, scaled to `size`; and its box.

    Takes the middle part when ten draws do not fit.
    """
    height, width = src.shape[:2]
    shares = (area, 1.0) if isinstance(area, (int, float)) else area
    for _ in range(10):
        target = random.uniform(*shares) * height * width
        aspect = math.exp(random.uniform(math.log(ratio[0]), math.log(ratio[1])))
        w, h = round(math.sqrt(target * aspect)), round(math.sqrt(target / aspect))
        if w <= width and h <= height:
            x, y = random.randint(0, width - w), random.randint(0, height - h)
            return fixed_crop(src, x, y, w, h, size, interp), (x, y, w, h)
    return center_crop(src, size, interp)


def color_normalize(src: NDArray, mean: Any, std: Any = None) -> NDArray:
    """`(src - mean) / std`, in place; None leaves a step out."""
    if mean is not None:
        src -= mean
    if std is not None:
        src /= std
    return src
