"""DetRandomCropAug: a random part of the image that holds enough of the objects in it."""

from __future__ import annotations

import random
import warnings
from math import sqrt
from typing import Any

import numpy as np

from autohybrid.image.cropping import fixed_crop
from autohybrid.image.detection.augmenters import DetAugmenter, Label, as_range
from autohybrid.ndarray import NDArray

#: Just below half a pixel: the largest height whose width still rounds to one that fits.
_HALF = 0.4999999


class DetRandomCropAug(DetAugmenter):
    """A part of the image with an aspect and area (shares) within the ranges.

    Of every object that the part touches it holds more than `min_object_covered`; objects of which it holds less than
    `min_eject_coverage` are dropped, boxes are cut at its sides. Without success after `max_attempts` draws the image
    stays whole. A range that is empty switches it off, with a warning.
    """

    def __init__(
        self,
        min_object_covered: float = 0.1,
        aspect_ratio_range: Any = (0.75, 1.33),
        area_range: Any = (0.05, 1.0),
        min_eject_coverage: float = 0.3,
        max_attempts: int = 50,
    ) -> None:
        aspect_ratio_range, area_range = as_range(aspect_ratio_range), as_range(area_range)
        super().__init__(
            min_object_covered=min_object_covered,
            aspect_ratio_range=aspect_ratio_range,
            area_range=area_range,
            min_eject_coverage=min_eject_coverage,
            max_attempts=max_attempts,
        )
        self.min_object_covered = min_object_covered
        self.min_eject_coverage = min_eject_coverage
        self.max_attempts = max_attempts
        self.aspect_ratio_range = aspect_ratio_range
        self.area_range = area_range
        self.enabled = False
        if area_range[1] <= 0 or area_range[0] > area_range[1]:
            warnings.warn(f"DetRandomCropAug does nothing: area_range {area_range} is empty", stacklevel=2)
        elif aspect_ratio_range[0] > aspect_ratio_range[1] or aspect_ratio_range[0] <= 0:
            message = f"DetRandomCropAug does nothing: aspect_ratio_range {aspect_ratio_range} is empty"
            warnings.warn(message, stacklevel=2)
        else:
            self.enabled = True

    def __call__(self, src: NDArray, label: Label) -> tuple[NDArray, Label]:
        height, width = src.shape[:2]
        if not self.enabled or height <= 0 or width <= 0:
            return src, label
        for _ in range(self.max_attempts):
            size = self._draw_size(height, width)
            if size is None:
                continue
            w, h = size
            y, x = random.randint(0, max(0, height - h)), random.randint(0, max(0, width - w))
            if self._holds_enough(label, (x, y, w, h), height, width):
                moved = self._move_label(label, (x / width, y / height, w / width, h / height))
                if len(moved):
                    return fixed_crop(src, x, y, w, h, None), moved
        return src, label

    def _draw_size(self, height: int, width: int) -> tuple[int, int] | None:
        """A width and height within the ranges; None when rounding leaves them."""
        smallest, largest = (share * height * width for share in self.area_range)
        aspect = random.uniform(*self.aspect_ratio_range)
        if aspect <= 0:
            return None
        highest = round(sqrt(largest / aspect))
        if round(highest * aspect) > width:
            highest = int((width + _HALF) / aspect)
        highest = min(highest, height)
        h = min(round(sqrt(smallest / aspect)), highest)
        if h < highest:
            h = random.randint(h, highest)
        w = round(h * aspect)
        if w * h < smallest:
            h += 1
        elif w * h > largest:
            h -= 1
        w = round(h * aspect)
        fits = smallest <= w * h <= largest and 0 <= w <= width and 0 <= h <= height
        return (w, h) if fits else None

    def _holds_enough(self, label: Label, box: tuple[int, int, int, int], height: int, width: int) -> bool:
        """Whether each object that the part touches is covered more than `min_object_covered`."""
        x, y, w, h = box
        if w * h < 2:
            return False
        areas = _areas(label[:, 1:5])
        large = areas * width * height > 2
        left, top = np.maximum(label[large, 1], x / width), np.maximum(label[large, 2], y / height)
        right = np.minimum(label[large, 3], (x + w) / width)
        bottom = np.minimum(label[large, 4], (y + h) / height)
        touched = (left < right) & (top < bottom)
        shares = ((right - left) * (bottom - top) / areas[large])[touched]
        return shares.size > 0 and bool(shares.min() > self.min_object_covered)

    def _move_label(self, label: Label, box: tuple[float, float, float, float]) -> Label:
        """The objects that stay, with their boxes as shares of the part `box` (shares of the image)."""
        x, y, w, h = box
        moved = label.copy()
        moved[:, [1, 3]] = (moved[:, [1, 3]] - x) / w
        moved[:, [2, 4]] = (moved[:, [2, 4]] - y) / h
        moved[:, 1:5] = moved[:, 1:5].clip(0, 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            held = _areas(moved[:, 1:5]) * w * h / _areas(label[:, 1:5])
        stays = (moved[:, 3] > moved[:, 1]) & (moved[:, 4] > moved[:, 2]) & (held > self.min_eject_coverage)
        kept: Label = moved[stays]
        return kept


def _areas(boxes: Label) -> Label:
    sides = np.maximum(0, boxes[:, 2:4] - boxes[:, 0:2])
    return sides[:, 0] * sides[:, 1]  # type: ignore[no-any-return]
