"""`CreateAugmenter`: the usual augmenters of classification, from a few numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from autohybrid import ndarray as nd
from autohybrid.image.augmenters import (
    Augmenter,
    CastAug,
    CenterCropAug,
    HorizontalFlipAug,
    RandomCropAug,
    RandomSizedCropAug,
    ResizeAug,
)
from autohybrid.image.colour_augmenters import (
    ColorJitterAug,
    ColorNormalizeAug,
    HueJitterAug,
    LightingAug,
    RandomGrayAug,
)
from autohybrid.ndarray import NDArray

#: Means and deviations of the colours of ImageNet, and the axes along which they vary.
IMAGENET_MEAN = (123.68, 116.28, 103.53)
IMAGENET_STD = (58.395, 57.12, 57.375)
_EIGVAL = (55.46, 4.794, 1.148)
_EIGVEC = ((-0.5675, 0.7192, 0.4009), (-0.5808, -0.0045, -0.8140), (-0.5836, -0.6948, 0.4203))


def CreateAugmenter(
    data_shape: tuple[int, int, int],
    resize: int = 0,
    rand_crop: bool = False,
    rand_resize: bool = False,
    rand_mirror: bool = False,
    mean: Any = None,
    std: Any = None,
    brightness: float = 0,
    contrast: float = 0,
    saturation: float = 0,
    hue: float = 0,
    pca_noise: float = 0,
    rand_gray: float = 0,
    inter_method: int = 2,
) -> list[Augmenter]:
    """Augmenters that make images of `data_shape` (channels, height, width): resize, crop, mirror, cast, colours.

    `mean` and `std` are arrays of 1 or 3 values, or True for ImageNet's. `inter_method` is 0 to 4, 9 (by the change of
    size) or 10 (any). Raises AssertionError for `rand_resize` without `rand_crop`, or another `mean` or `std`.
    """
    if rand_resize and not rand_crop:
        raise AssertionError("rand_resize needs rand_crop=True")
    size = (data_shape[2], data_shape[1])
    made: list[Augmenter] = [ResizeAug(resize, inter_method)] if resize > 0 else []
    if rand_resize:
        made.append(RandomSizedCropAug(size, 0.08, (3.0 / 4.0, 4.0 / 3.0), inter_method))
    else:
        made.append((RandomCropAug if rand_crop else CenterCropAug)(size, inter_method))
    if rand_mirror:
        made.append(HorizontalFlipAug(0.5))
    made.append(CastAug())
    made += colour_augmenters(brightness, contrast, saturation, hue, pca_noise, rand_gray)
    if mean is not None or std is not None:
        made.append(ColorNormalizeAug(colours("mean", mean, IMAGENET_MEAN), colours("std", std, IMAGENET_STD)))
    return made


def colour_augmenters(
    brightness: float, contrast: float, saturation: float, hue: float, pca_noise: float, rand_gray: float
) -> list[Augmenter]:
    """The augmenters of colour for these amounts, without the ones whose amount is 0."""
    made: list[Augmenter] = []
    if brightness or contrast or saturation:
        made.append(ColorJitterAug(brightness, contrast, saturation))
    if hue:
        made.append(HueJitterAug(hue))
    if pca_noise > 0:
        made.append(LightingAug(pca_noise, np.array(_EIGVAL), np.array(_EIGVEC)))
    if rand_gray > 0:
        made.append(RandomGrayAug(rand_gray))
    return made


def colours(name: str, given: Any, usual: tuple[float, ...]) -> Any:
    """The array that `mean` or `std` stands for."""
    if given is True:
        return nd.array(usual)
    if given is not None and not (isinstance(given, (np.ndarray, NDArray)) and given.shape[0] in (1, 3)):
        raise AssertionError(f"{name} must be True or an array of 1 or 3 values, not {given!r}")
    return given
