"""`CreateDetAugmenter` and `CreateMultiRandCropAugmenter`: the usual augmenters of detection, from a few numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from autohybrid.image.augmenter_list import IMAGENET_MEAN, IMAGENET_STD, colour_augmenters, colours
from autohybrid.image.augmenters import Augmenter, CastAug, ForceResizeAug, ResizeAug
from autohybrid.image.colour_augmenters import ColorNormalizeAug
from autohybrid.image.detection.augmenters import (
    DetAugmenter,
    DetBorrowAug,
    DetHorizontalFlipAug,
    DetRandomSelectAug,
)
from autohybrid.image.detection.cropping import DetRandomCropAug
from autohybrid.image.detection.padding import DetRandomPadAug


def CreateMultiRandCropAugmenter(
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = (0.75, 1.33),
    area_range: Any = (0.05, 1.0),
    min_eject_coverage: Any = 0.3,
    max_attempts: Any = 50,
    skip_prob: float = 0,
) -> DetRandomSelectAug:
    """One of several DetRandomCropAugs at random: a setting that is a list gives one to each, the others are shared.

    Raises AssertionError for lists of different lengths.
    """
    given = [min_object_covered, aspect_ratio_range, area_range, min_eject_coverage, max_attempts]
    lists = [value if isinstance(value, list) else [value] for value in given]
    count = max(len(values) for values in lists)
    if any(len(values) not in (1, count) for values in lists):
        raise AssertionError(f"settings that are lists must have one length, not {[len(v) for v in lists]}")
    settings = zip(*(values * count if len(values) == 1 else values for values in lists))
    return DetRandomSelectAug([DetRandomCropAug(*setting) for setting in settings], skip_prob=skip_prob)


def CreateDetAugmenter(
    data_shape: tuple[int, int, int],
    resize: int = 0,
    rand_crop: float = 0,
    rand_pad: float = 0,
    rand_gray: float = 0,
    rand_mirror: bool = False,
    mean: Any = None,
    std: Any = None,
    brightness: float = 0,
    contrast: float = 0,
    saturation: float = 0,
    pca_noise: float = 0,
    hue: float = 0,
    inter_method: int = 2,
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = (0.75, 1.33),
    area_range: Any = (0.05, 3.0),
    min_eject_coverage: Any = 0.3,
    max_attempts: Any = 50,
    pad_val: Any = (127, 127, 127),
) -> list[DetAugmenter]:
    """Augmenters that make images of `data_shape` (channels, height, width): resize, crop, mirror, pad, cast, colours.

    `rand_crop`, `rand_pad` and `rand_gray` are probabilities; `mean` and `std` are arrays of 1 or 3 values, or True for
    ImageNet's. Raises AssertionError for another `mean` or `std`.
    """
    made: list[DetAugmenter] = [DetBorrowAug(ResizeAug(resize, inter_method))] if resize > 0 else []
    if rand_crop > 0:
        crop = CreateMultiRandCropAugmenter(
            min_object_covered, aspect_ratio_range, area_range, min_eject_coverage, max_attempts, 1 - rand_crop
        )
        made.append(crop)
    if rand_mirror > 0:
        made.append(DetHorizontalFlipAug(0.5))
    if rand_pad > 0:
        pad = DetRandomPadAug(aspect_ratio_range, (1.0, area_range[1]), max_attempts, pad_val)
        made.append(DetRandomSelectAug([pad], 1 - rand_pad))
    rest: list[Augmenter] = [ForceResizeAug((data_shape[2], data_shape[1]), inter_method), CastAug()]
    rest += colour_augmenters(brightness, contrast, saturation, hue, pca_noise, rand_gray)
    if mean is not None or std is not None:
        rest.append(ColorNormalizeAug(_colours("mean", mean, IMAGENET_MEAN), _colours("std", std, IMAGENET_STD)))
    return made + [DetBorrowAug(augmenter) for augmenter in rest]


def _colours(name: str, given: Any, usual: tuple[float, ...]) -> Any:
    return np.array(usual) if given is True else colours(name, given, usual)
