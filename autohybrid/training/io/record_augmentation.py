"""What ImageRecordIter does to an image: its settings, and the steps in MXNet's order. Images are (H, W, C) in RGB.

The steps that draw are MXNet's, its random numbers are not: the same seed gives other crops.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from autohybrid import ndarray as nd
from autohybrid.errors import MXNetError

Pixels = np.ndarray[Any, Any]
#: The axes along which the colours of ImageNet vary, times their standard deviations.
_PCA = np.array([(-0.5675, 0.7192, 0.4009), (-0.5808, -0.0045, -0.8140), (-0.5836, -0.6948, 0.4203)]) * (
    55.46, 4.794, 1.148,
)  # fmt: skip
_GREY = np.array([0.299, 0.587, 0.114])


@dataclass(frozen=True, slots=True, kw_only=True)
class Augmentation:
    """The settings, under MXNet's names and with its defaults; -1 and None are `none`."""

    data_shape: tuple[int, int, int]
    resize: int = -1
    rand_crop: bool = False
    random_resized_crop: bool = False
    max_rotate_angle: int = 0
    max_aspect_ratio: float = 0.0
    min_aspect_ratio: float | None = None
    max_shear_ratio: float = 0.0
    max_crop_size: int = -1
    min_crop_size: int = -1
    max_random_scale: float = 1.0
    min_random_scale: float = 1.0
    max_random_area: float = 1.0
    min_random_area: float = 1.0
    max_img_size: float = 1e10
    min_img_size: float = 0.0
    brightness: float = 0.0
    contrast: float = 0.0
    saturation: float = 0.0
    pca_noise: float = 0.0
    rotate: int = -1
    fill_value: int = 255
    inter_method: int = 1
    pad: int = 0

    def apply(self, image: Pixels, random: np.random.RandomState) -> Pixels:
        """The image in height and width of `data_shape`."""
        if self.resize > 0:
            height, width = image.shape[:2]
            factor = self.resize / min(height, width)
            image = self._scaled(image, int(width * factor) if height < width else self.resize,
                                 self.resize if height < width else int(height * factor))  # fmt: skip
        if self._is_warped():
            image = self._warped(image, random)
        if self.pad > 0:
            sides = ((self.pad, self.pad), (self.pad, self.pad), (0, 0))
            image = np.pad(image, sides, constant_values=self.fill_value)
        image = self._resized_crop(image, random) if self.random_resized_crop else self._crop(image, random)
        return self._coloured(image, random)

    def _scaled(self, image: Pixels, width: int, height: int) -> Pixels:
        if (height, width) == image.shape[:2]:
            return image
        source = nd.array(image, dtype="uint8")
        scaled: Pixels = nd.image.resize(source, size=(width, height), interp=self._interpolation()).asnumpy()
        return scaled.reshape(height, width, image.shape[2])

    def _interpolation(self) -> int:
        if self.inter_method in (0, 1, 2, 3, 4):
            return self.inter_method
        if self.inter_method in (9, 10):
            return 1
        raise MXNetError(f"inter_method is 0 to 4, 9 or 10, not {self.inter_method}")

    # -- rotation, shear, scale --------------------------------------------------------------------------------------
    def _is_warped(self) -> bool:
        stretched = self.max_aspect_ratio != 0 and not self.random_resized_crop
        scaled = (self.max_random_scale, self.min_random_scale) != (1, 1) and not self.random_resized_crop
        limited = (self.max_img_size, self.min_img_size) != (1e10, 0)
        return (
            self.max_rotate_angle > 0 or self.max_shear_ratio > 0 or self.rotate > 0 or stretched or scaled or limited
        )

    def _warped(self, image: Pixels, random: np.random.RandomState) -> Pixels:
        shear = random.uniform(-self.max_shear_ratio, self.max_shear_ratio)
        angle = self.rotate if self.rotate > 0 else random.randint(-self.max_rotate_angle, self.max_rotate_angle + 1)
        cosine, sine = math.cos(math.radians(angle)), math.sin(math.radians(angle))
        scale = random.uniform(self.min_random_scale, self.max_random_scale)
        ratio = 1 + random.uniform(-self.max_aspect_ratio, self.max_aspect_ratio)
        tall = 2 * scale / (1 + ratio)
        wide = ratio * tall
        height, width = (
            int(max(self.min_img_size, min(self.max_img_size, scale * extent))) for extent in image.shape[:2]
        )
        matrix = np.array(
            [(tall * cosine - shear * sine * wide, tall * sine + shear * cosine * wide), (-sine * wide, cosine * wide)]
        )
        moved = (np.array([width, height]) - matrix @ image.shape[1::-1]) / 2
        return _sampled(image, np.linalg.inv(matrix), moved, height, width, self.fill_value)

    # -- cropping ----------------------------------------------------------------------------------------------------
    def _crop(self, image: Pixels, random: np.random.RandomState) -> Pixels:
        height, width = self.data_shape[1:]
        if self.max_crop_size > 0 or self.min_crop_size > 0:
            side = random.randint(self.min_crop_size, self.max_crop_size + 1)
            if side > min(image.shape[:2]):
                raise MXNetError(f"max_crop_size is {self.max_crop_size}, but an image has the shape {image.shape}")
            return self._scaled(_part(image, side, side, random if self.rand_crop else None), width, height)
        if image.shape[0] < height:
            image = self._scaled(image, int(image.shape[1] * height / image.shape[0]), height)
        if image.shape[1] < width:
            image = self._scaled(image, width, int(image.shape[0] * width / image.shape[1]))
        return _part(image, height, width, random if self.rand_crop else None)

    def _resized_crop(self, image: Pixels, random: np.random.RandomState) -> Pixels:
        height, width = self.data_shape[1:]
        low = self.min_aspect_ratio if self.min_aspect_ratio is not None else 1 - self.max_aspect_ratio
        high = self.max_aspect_ratio if self.min_aspect_ratio is not None else 1 + self.max_aspect_ratio
        for _ in range(10):
            area = random.uniform(self.min_random_area, self.max_random_area) * image.shape[0] * image.shape[1]
            ratio = random.uniform(low, high)
            h, w = round(math.sqrt(area / ratio)), round(math.sqrt(area * ratio))
            if 0 < h <= image.shape[0] and 0 < w <= image.shape[1]:
                return self._scaled(_part(image, h, w, random), width, height)
        side = min(image.shape[:2])
        return self._scaled(_part(image, side, side, None), width, height)

    # -- colours -----------------------------------------------------------------------------------------------------
    def _coloured(self, image: Pixels, random: np.random.RandomState) -> Pixels:
        if not (self.brightness or self.contrast or self.saturation or self.pca_noise):
            return image
        values = image.astype("float32")
        for step in random.permutation(3):
            amount = (self.brightness, self.contrast, self.saturation)[step]
            factor = 1 + random.uniform(-amount, amount)
            if not amount:
                continue
            grey = values @ _GREY if values.shape[2] == 3 else values[..., 0]
            base = (0.0, grey.mean(), grey[..., None])[step]
            values = values * factor + base * (1 - factor)
        if self.pca_noise and values.shape[2] == 3:
            values = values + _PCA @ random.normal(0, self.pca_noise, 3)
        return values.clip(0, 255).astype("uint8")


def _part(image: Pixels, height: int, width: int, random: np.random.RandomState | None) -> Pixels:
    """A part of this size from anywhere, or from the middle without `random`."""
    spare_y, spare_x = image.shape[0] - height, image.shape[1] - width
    top, left = (spare_y // 2, spare_x // 2) if random is None else (
        random.randint(spare_y + 1), random.randint(spare_x + 1),
    )  # fmt: skip
    return image[top : top + height, left : left + width]


def _sampled(image: Pixels, inverse: Pixels, moved: Pixels, height: int, width: int, fill: int) -> Pixels:
    """The image under a map: pixel p of the result is, bilinearly, where `inverse @ (p - moved)` lies in the image."""
    y, x = np.mgrid[:height, :width]
    at_x, at_y = inverse @ (np.stack([x.ravel(), y.ravel()]) - moved[:, None])
    left, top = np.floor(at_x).astype(int), np.floor(at_y).astype(int)
    bordered = np.pad(image.astype("float32"), ((1, 1), (1, 1), (0, 0)), constant_values=fill)
    result = np.zeros((height * width, image.shape[2]), "float32")
    for row, weight_y in ((top, 1 - (at_y - top)), (top + 1, at_y - top)):
        for column, weight_x in ((left, 1 - (at_x - left)), (left + 1, at_x - left)):
            inside = bordered[(row + 1).clip(0, image.shape[0] + 1), (column + 1).clip(0, image.shape[1] + 1)]
            result += inside * (weight_y * weight_x)[:, None]
    return result.round().clip(0, 255).astype("uint8").reshape(height, width, image.shape[2])
