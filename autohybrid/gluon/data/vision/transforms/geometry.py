"""Transforms that crop, resize, rotate and flip images (height, width, channels)."""

from __future__ import annotations

import numbers
import random
from typing import Any

import numpy as np

from autohybrid import image
from autohybrid.gluon.block import Block
from autohybrid.gluon.hybrid_block import HybridBlock
from autohybrid.numpy_semantics import is_np_array


def _pair(size: Any) -> tuple[int, int]:
    return (size, size) if isinstance(size, numbers.Number) else tuple(size)


def _require_float32(x: Any, transform: str) -> None:
    if x.dtype is not np.float32:
        raise TypeError(f"{transform} needs float32 images, not {x.dtype.__name__}; call it after ToTensor")


class Rotate(Block):
    """Turn float32 images (channels first) by degrees; `zoom_in` fills the frame, `zoom_out` shows all of the image."""

    def __init__(self, rotation_degrees: float, zoom_in: bool = False, zoom_out: bool = False) -> None:
        super().__init__()
        self._args = (rotation_degrees, zoom_in, zoom_out)

    def forward(self, x: Any) -> Any:
        _require_float32(x, "Rotate")
        return image.imrotate(x, *self._args)


class RandomRotation(Block):
    """Turn by a random angle between `angle_limits`, with probability `rotate_with_proba`."""

    def __init__(
        self,
        angle_limits: tuple[float, float],
        zoom_in: bool = False,
        zoom_out: bool = False,
        rotate_with_proba: float = 1.0,
    ) -> None:
        super().__init__()
        lower, upper = angle_limits
        if lower >= upper:
            raise ValueError(f"angle_limits must be (lower, upper), not {angle_limits}")
        if not 0 <= rotate_with_proba <= 1:
            raise ValueError(f"rotate_with_proba must be between 0 and 1, not {rotate_with_proba}")
        self._args = (angle_limits, zoom_in, zoom_out)
        self._probability = rotate_with_proba

    def forward(self, x: Any) -> Any:
        if np.random.random() > self._probability:
            return x
        _require_float32(x, "RandomRotation")
        return image.random_rotate(x, *self._args)


class RandomResizedCrop(Block):
    """A random part of the image (area `scale`, aspect `ratio`), resized to `size` (width, height)."""

    def __init__(
        self,
        size: Any,
        scale: tuple[float, float] = (0.08, 1.0),
        ratio: tuple[float, float] = (3.0 / 4.0, 4.0 / 3.0),
        interpolation: int = 1,
    ) -> None:
        super().__init__()
        self._args = (_pair(size), scale, ratio, interpolation)

    def forward(self, x: Any) -> Any:
        return image.random_size_crop(x, *self._args)[0]


class CenterCrop(Block):
    """The middle of the image, `size` (width, height); a smaller image is scaled up first."""

    def __init__(self, size: Any, interpolation: int = 1) -> None:
        super().__init__()
        self._args = (_pair(size), interpolation)

    def forward(self, x: Any) -> Any:
        return image.center_crop(x, *self._args)[0]


class CropResize(HybridBlock):
    """The part at `x`, `y` of `width` by `height`, resized to `size` if that is given; batches too."""

    def __init__(
        self, x: int, y: int, width: int, height: int, size: Any = None, interpolation: int | None = None
    ) -> None:
        super().__init__()
        self._crop = {"x": x, "y": y, "width": width, "height": height}
        self._size = size
        self._interpolation = interpolation

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        images = F.npx.image if is_np_array() else F.image
        out = images.crop(x, **self._crop)
        if self._size:
            how = {} if self._interpolation is None else {"interp": self._interpolation}
            out = images.resize(out, size=self._size, keep_ratio=False, **how)
        return out


class Resize(HybridBlock):
    """To `size` (width, height); with `keep_ratio` and one number, the shorter side to that length; batches too."""

    def __init__(self, size: Any, keep_ratio: bool = False, interpolation: int = 1) -> None:
        super().__init__()
        self._size = size
        self._keep = keep_ratio
        self._interpolation = interpolation

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        images = F.npx.image if is_np_array() else F.image
        return images.resize(x, size=self._size, keep_ratio=self._keep, interp=self._interpolation)


class RandomFlipLeftRight(HybridBlock):
    """Mirrored with probability one half."""

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return F.npx.image.random_flip_left_right(x) if is_np_array() else F.image.random_flip_left_right(x)


class RandomFlipTopBottom(HybridBlock):
    """Turned upside down with probability one half."""

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return F.npx.image.random_flip_top_bottom(x) if is_np_array() else F.image.random_flip_top_bottom(x)


class RandomApply(Block):
    """`transforms` with probability `p`."""

    def __init__(self, transforms: Any, p: float = 0.5) -> None:
        super().__init__()
        self.transforms = transforms
        self.p = p

    def forward(self, x: Any) -> Any:
        return x if self.p < random.random() else self.transforms(x)
