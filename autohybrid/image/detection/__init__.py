"""`mx.image.detection` (`mx.image.det`): images with boxes, whose labels change with them.

Labels are NumPy arrays (objects, 5 or more): class, left, top, right, bottom, as shares of the image's size.
"""

from __future__ import annotations

from autohybrid.image.detection.augmenter_list import CreateDetAugmenter, CreateMultiRandCropAugmenter
from autohybrid.image.detection.augmenters import (
    DetAugmenter,
    DetBorrowAug,
    DetHorizontalFlipAug,
    DetRandomSelectAug,
)
from autohybrid.image.detection.cropping import DetRandomCropAug
from autohybrid.image.detection.image_det_iter import ImageDetIter
from autohybrid.image.detection.padding import DetRandomPadAug

__all__ = [
    "CreateDetAugmenter", "CreateMultiRandCropAugmenter", "DetAugmenter", "DetBorrowAug", "DetHorizontalFlipAug",
    "DetRandomCropAug", "DetRandomPadAug", "DetRandomSelectAug", "ImageDetIter",
]  # fmt: skip
