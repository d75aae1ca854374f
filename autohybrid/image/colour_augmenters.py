"""The augmenters of `mx.image` that change colours: images are float32 arrays (height, width, 3) in RGB order.

Several work in place, as MXNet's do; a list made by `CreateAugmenter` casts, and so copies, first.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from autohybrid import ndarray as nd
from autohybrid.image.augmenters import Augmenter, RandomOrderAug
from autohybrid.image.cropping import color_normalize
from autohybrid.ndarray import NDArray

#: The weight of each colour in brightness (ITU-R 601).
_BRIGHTNESS = (0.299, 0.587, 0.114)
#: RGB to YIQ and back: a turn of the last two axes there is a change of hue.
_TO_YIQ = np.array([_BRIGHTNESS, (0.596, -0.274, -0.321), (0.211, -0.523, 0.311)])
_FROM_YIQ = np.array([(1.0, 0.956, 0.621), (1.0, -0.272, -0.647), (1.0, -1.107, 1.705)])
#: The same grey for each channel; RandomGrayAug has weights of its own (ITU-R 709, rounded).
_TO_GREY = ((0.21, 0.21, 0.21), (0.72, 0.72, 0.72), (0.07, 0.07, 0.07))


class BrightnessJitterAug(Augmenter):
    """All values times a factor within 1 +- `brightness`."""

    def __init__(self, brightness: float) -> None:
        super().__init__(brightness=brightness)
        self.brightness = brightness

    def __call__(self, src: NDArray) -> NDArray:
        src *= 1.0 + random.uniform(-self.brightness, self.brightness)
        return src


class ContrastJitterAug(Augmenter):
    """Values moved to or from the mean brightness of the image by a factor within 1 +- `contrast`."""

    def __init__(self, contrast: float) -> None:
        super().__init__(contrast=contrast)
        self.contrast = contrast
        self.coef = nd.array([[_BRIGHTNESS]])

    def __call__(self, src: NDArray) -> NDArray:
        factor = 1.0 + random.uniform(-self.contrast, self.contrast)
        weighted = src * self.coef
        mean = (3.0 * (1.0 - factor) / weighted.size) * nd.sum(weighted)
        src *= factor
        src += mean
        return src


class SaturationJitterAug(Augmenter):
    """Values moved to or from the brightness of each pixel by a factor within 1 +- `saturation`."""

    def __init__(self, saturation: float) -> None:
        super().__init__(saturation=saturation)
        self.saturation = saturation
        self.coef = nd.array([[_BRIGHTNESS]])

    def __call__(self, src: NDArray) -> NDArray:
        factor = 1.0 + random.uniform(-self.saturation, self.saturation)
        grey = nd.sum(src * self.coef, axis=2, keepdims=True)
        grey *= 1.0 - factor
        src *= factor
        src += grey
        return src


class HueJitterAug(Augmenter):
    """Hues turned by an angle within +- `hue` half turns."""

    def __init__(self, hue: float) -> None:
        super().__init__(hue=hue)
        self.hue = hue

    def __call__(self, src: NDArray) -> NDArray:
        angle = random.uniform(-self.hue, self.hue) * np.pi
        turn = np.array([(1.0, 0.0, 0.0), (0.0, np.cos(angle), -np.sin(angle)), (0.0, np.sin(angle), np.cos(angle))])
        matrix = _FROM_YIQ.dot(turn).dot(_TO_YIQ).T
        return nd.dot(src, nd.array(matrix))  # type: ignore[no-any-return]


class ColorJitterAug(RandomOrderAug):
    """Brightness, contrast and saturation, in random order; 0 leaves one out."""

    def __init__(self, brightness: float, contrast: float, saturation: float) -> None:
        kinds = (
            (BrightnessJitterAug, brightness),
            (ContrastJitterAug, contrast),
            (SaturationJitterAug, saturation),
        )
        super().__init__([kind(amount) for kind, amount in kinds if amount > 0])


class LightingAug(Augmenter):
    """The same random colour added to all pixels: normal (deviation `alphastd`) along the axes `eigvec`, `eigval`."""

    def __init__(self, alphastd: float, eigval: Any, eigvec: Any) -> None:
        super().__init__(alphastd=alphastd, eigval=eigval, eigvec=eigvec)
        self.alphastd = alphastd
        self.eigval = eigval
        self.eigvec = eigvec

    def __call__(self, src: NDArray) -> NDArray:
        amounts = np.random.normal(0, self.alphastd, size=(3,))
        src += nd.array(np.dot(self.eigvec * amounts, self.eigval))
        return src


class ColorNormalizeAug(Augmenter):
    """`(image - mean) / std`; None leaves a step out."""

    def __init__(self, mean: Any, std: Any) -> None:
        super().__init__(mean=mean, std=std)
        self.mean = mean if mean is None or isinstance(mean, NDArray) else nd.array(mean)
        self.std = std if std is None or isinstance(std, NDArray) else nd.array(std)

    def __call__(self, src: NDArray) -> NDArray:
        return color_normalize(src, self.mean, self.std)


class RandomGrayAug(Augmenter):
    """Grey, in three equal channels, with probability `p`."""

    def __init__(self, p: float) -> None:
        super().__init__(p=p)
        self.p = p
        self.mat = nd.array(_TO_GREY)

    def __call__(self, src: NDArray) -> NDArray:
        if random.random() < self.p:
            src = nd.dot(src, self.mat)
        return src
