"""Transforms that change the colours of images (height, width, channels) at random."""

from __future__ import annotations

from typing import Any

from autohybrid.gluon.hybrid_block import HybridBlock
from autohybrid.numpy_semantics import is_np_array


class _RandomFactor(HybridBlock):
    """Draws a factor from `[max(0, 1 - amount), 1 + amount]` for an image operator."""

    def __init__(self, amount: float) -> None:
        super().__init__()
        self._range = {"min_factor": max(0, 1 - amount), "max_factor": 1 + amount}


class RandomBrightness(_RandomFactor):
    """Brighter or darker by up to `brightness`."""

    def __init__(self, brightness: float) -> None:
        super().__init__(brightness)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return (F.npx.image if is_np_array() else F.image).random_brightness(x, **self._range)


class RandomContrast(_RandomFactor):
    """More or less contrast by up to `contrast`."""

    def __init__(self, contrast: float) -> None:
        super().__init__(contrast)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return (F.npx.image if is_np_array() else F.image).random_contrast(x, **self._range)


class RandomSaturation(_RandomFactor):
    """More or less colour by up to `saturation`."""

    def __init__(self, saturation: float) -> None:
        super().__init__(saturation)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return (F.npx.image if is_np_array() else F.image).random_saturation(x, **self._range)


class RandomHue(_RandomFactor):
    """The hues turned by up to `hue`."""

    def __init__(self, hue: float) -> None:
        super().__init__(hue)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return (F.npx.image if is_np_array() else F.image).random_hue(x, **self._range)


class RandomColorJitter(HybridBlock):
    """Brightness, contrast, saturation and hue at random, in random order."""

    def __init__(self, brightness: float = 0, contrast: float = 0, saturation: float = 0, hue: float = 0) -> None:
        super().__init__()
        self._amounts = {"brightness": brightness, "contrast": contrast, "saturation": saturation, "hue": hue}

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return (F.npx.image if is_np_array() else F.image).random_color_jitter(x, **self._amounts)


class RandomLighting(HybridBlock):
    """Noise along the main axes of the colours of ImageNet (AlexNet's), with standard deviation `alpha`."""

    def __init__(self, alpha: float) -> None:
        super().__init__()
        self._alpha = alpha

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return (F.npx.image if is_np_array() else F.image).random_lighting(x, alpha_std=self._alpha)
