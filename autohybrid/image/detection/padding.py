"""DetRandomPadAug: the image somewhere on a larger canvas."""

from __future__ import annotations

import random
import warnings
from math import sqrt
from numbers import Number
from typing import Any

from autohybrid import ndarray as nd
from autohybrid.image.detection.augmenters import DetAugmenter, Label, as_range
from autohybrid.ndarray import NDArray

#: Just below half a pixel: the smallest height whose width still rounds to one that the image fits into.
_HALF = 0.499999


class DetRandomPadAug(DetAugmenter):
    """The image on a canvas of `pad_val` (one value for each channel) with an aspect and area within the ranges.

    Areas are multiples of the image's. Canvases that add less than two pixels at a side are drawn anew, at most
    `max_attempts` times. A range that is empty switches it off, with a warning.
    """

    def __init__(
        self,
        aspect_ratio_range: Any = (0.75, 1.33),
        area_range: Any = (1.0, 3.0),
        max_attempts: int = 50,
        pad_val: Any = (128, 128, 128),
    ) -> None:
        if not isinstance(pad_val, (list, tuple)) and not isinstance(pad_val, Number):
            raise AssertionError(f"pad_val must be a number or one for each channel, not {pad_val!r}")
        aspect_ratio_range, area_range = as_range(aspect_ratio_range), as_range(area_range)
        super().__init__(
            aspect_ratio_range=aspect_ratio_range, area_range=area_range, max_attempts=max_attempts, pad_val=pad_val
        )
        self.pad_val = pad_val
        self.aspect_ratio_range = aspect_ratio_range
        self.area_range = area_range
        self.max_attempts = max_attempts
        self.enabled = False
        if area_range[1] <= 1.0 or area_range[0] > area_range[1]:
            warnings.warn(f"DetRandomPadAug does nothing: area_range {area_range} has no larger area", stacklevel=2)
        elif aspect_ratio_range[0] <= 0 or aspect_ratio_range[0] > aspect_ratio_range[1]:
            message = f"DetRandomPadAug does nothing: aspect_ratio_range {aspect_ratio_range} is empty"
            warnings.warn(message, stacklevel=2)
        else:
            self.enabled = True

    def __call__(self, src: NDArray, label: Label) -> tuple[NDArray, Label]:
        height, width, channels = src.shape
        if not self.enabled or height <= 0 or width <= 0:
            return src, label
        for _ in range(self.max_attempts):
            w, h = self._draw_size(height, width)
            if h - height < 2 or w - width < 2:
                continue
            y, x = random.randint(0, max(0, h - height)), random.randint(0, max(0, w - width))
            moved = label.copy()
            moved[:, [1, 3]] = (moved[:, [1, 3]] * width + x) / w
            moved[:, [2, 4]] = (moved[:, [2, 4]] * height + y) / h
            values = (self.pad_val,) * channels if isinstance(self.pad_val, Number) else self.pad_val
            canvas = nd._internal._cvcopyMakeBorder(src, y, h - y - height, x, w - x - width, values=values)
            return canvas, moved
        return src, label

    def _draw_size(self, height: int, width: int) -> tuple[int, int]:
        """The width and height of a canvas; (0, 0) for none."""
        smallest, largest = (factor * height * width for factor in self.area_range)
        aspect = random.uniform(*self.aspect_ratio_range)
        if aspect <= 0:
            return 0, 0
        highest = round(sqrt(largest / aspect))
        h = round(sqrt(smallest / aspect))
        if round(h * aspect) < width:
            h = int((width + _HALF) / aspect)
        h = min(max(h, height), highest)
        if h < highest:
            h = random.randint(h, highest)
        return round(h * aspect), h
