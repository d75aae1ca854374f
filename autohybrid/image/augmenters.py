"""What can be done to an image before it is put into a batch: the augmenters of `mx.image`, those that move pixels.

Images are arrays (height, width, channels). The random numbers are drawn from `random` and `numpy.random` in the order
of MXNet 1.9.1, so that the same seeds give the same images.
"""

from __future__ import annotations

import json
import random
import warnings
from typing import Any

import numpy as np

from autohybrid import ndarray as nd
from autohybrid.image.cropping import (
    center_crop,
    choose_interpolation,
    random_crop,
    random_size_crop,
    resize_short,
)
from autohybrid.image.reading import imresize
from autohybrid.ndarray import NDArray


def plain_settings(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings with arrays as lists, so that they can be written as JSON."""
    plain = {}
    for name, value in settings.items():
        array = value.asnumpy() if isinstance(value, NDArray) else value
        plain[name] = array.tolist() if isinstance(array, np.ndarray) else value
    return plain


class Augmenter:
    """Base of the augmenters: a callable that takes an image and returns one. Keywords are what `dumps` writes."""

    def __init__(self, **kwargs: Any) -> None:
        self._kwargs = plain_settings(kwargs)

    def dumps(self) -> Any:
        """The name (in lower case) and the settings, as JSON; augmenters made of others give nested lists of them."""
        return json.dumps([type(self).__name__.lower(), self._kwargs])

    def __call__(self, src: NDArray) -> NDArray:
        raise NotImplementedError(f"{type(self).__name__} must define __call__(self, src)")


class _AugmenterList(Augmenter):
    def __init__(self, ts: list[Augmenter]) -> None:
        super().__init__()
        self.ts = ts

    def dumps(self) -> Any:
        """The name and what each member dumps."""
        return [type(self).__name__.lower(), [member.dumps() for member in self.ts]]

    def __call__(self, src: NDArray) -> NDArray:
        for member in self.ts:
            src = member(src)
        return src


class SequentialAug(_AugmenterList):
    """Augmenters one after the other."""


class RandomOrderAug(_AugmenterList):
    """Augmenters one after the other, shuffled for each image."""

    def __call__(self, src: NDArray) -> NDArray:
        random.shuffle(self.ts)
        return super().__call__(src)


class ResizeAug(Augmenter):
    """The shorter side becomes `size` long."""

    def __init__(self, size: int, interp: int = 2) -> None:
        super().__init__(size=size, interp=interp)
        self.size = size
        self.interp = interp

    def __call__(self, src: NDArray) -> NDArray:
        return resize_short(src, self.size, self.interp)


class ForceResizeAug(Augmenter):
    """The image becomes `size` (width, height); its aspect is not kept."""

    def __init__(self, size: tuple[int, int], interp: int = 2) -> None:
        super().__init__(size=size, interp=interp)
        self.size = size
        self.interp = interp

    def __call__(self, src: NDArray) -> NDArray:
        width, height = self.size
        interp = choose_interpolation(self.interp, (src.shape[0], src.shape[1], height, width))
        return imresize(src, width, height, interp=interp)


class RandomCropAug(Augmenter):
    """A part of `size` (width, height) from anywhere."""

    def __init__(self, size: tuple[int, int], interp: int = 2) -> None:
        super().__init__(size=size, interp=interp)
        self.size = size
        self.interp = interp

    def __call__(self, src: NDArray) -> NDArray:
        return random_crop(src, self.size, self.interp)[0]


class RandomSizedCropAug(Augmenter):
    """A part of random area (a share of the image, or its lower bound) and aspect, scaled to `size`."""

    def __init__(
        self, size: tuple[int, int], area: Any, ratio: tuple[float, float], interp: int = 2, **kwargs: Any
    ) -> None:
        super().__init__(size=size, area=area, ratio=ratio, interp=interp)
        self.size = size
        if "min_area" in kwargs:
            warnings.warn("`min_area` is deprecated; use `area`", DeprecationWarning, stacklevel=2)
            area = kwargs.pop("min_area")
        if kwargs:
            raise AssertionError(f"RandomSizedCropAug does not know {', '.join(sorted(kwargs))}")
        self.area = area
        self.ratio = ratio
        self.interp = interp

    def __call__(self, src: NDArray) -> NDArray:
        return random_size_crop(src, self.size, self.area, self.ratio, self.interp)[0]


class CenterCropAug(Augmenter):
    """The middle part of `size` (width, height)."""

    def __init__(self, size: tuple[int, int], interp: int = 2) -> None:
        super().__init__(size=size, interp=interp)
        self.size = size
        self.interp = interp

    def __call__(self, src: NDArray) -> NDArray:
        return center_crop(src, self.size, self.interp)[0]


class HorizontalFlipAug(Augmenter):
    """Left and right exchanged, with probability `p`."""

    def __init__(self, p: float) -> None:
        super().__init__(p=p)
        self.p = p

    def __call__(self, src: NDArray) -> NDArray:
        if random.random() < self.p:
            src = nd.flip(src, axis=1)
        return src


class CastAug(Augmenter):
    """Another dtype, float32 by default."""

    def __init__(self, typ: Any = "float32") -> None:
        super().__init__(type=typ)
        self.typ = typ

    def __call__(self, src: NDArray) -> NDArray:
        cast: NDArray = src.astype(self.typ)
        return cast
