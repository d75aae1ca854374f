"""`gluon.data.vision.transforms`: blocks that prepare and augment images."""

from __future__ import annotations

from autohybrid.gluon.data.vision.transforms.colour import (
    RandomBrightness,
    RandomColorJitter,
    RandomContrast,
    RandomHue,
    RandomLighting,
    RandomSaturation,
)
from autohybrid.gluon.data.vision.transforms.conversion import Cast, Compose, Normalize, ToTensor
from autohybrid.gluon.data.vision.transforms.geometry import (
    CenterCrop,
    CropResize,
    RandomApply,
    RandomFlipLeftRight,
    RandomFlipTopBottom,
    RandomResizedCrop,
    RandomRotation,
    Resize,
    Rotate,
)

__all__ = [
    "Cast", "CenterCrop", "Compose", "CropResize", "Normalize", "RandomApply", "RandomBrightness", "RandomColorJitter",
    "RandomContrast", "RandomFlipLeftRight", "RandomFlipTopBottom", "RandomHue", "RandomLighting", "RandomResizedCrop",
    "RandomRotation", "RandomSaturation", "Resize", "Rotate", "ToTensor",
]  # fmt: skip
