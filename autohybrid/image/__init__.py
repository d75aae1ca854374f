"""`mx.image`: reading, resizing, cutting and turning images; augmenters, and iterators over batches of images."""

from __future__ import annotations

import sys

from autohybrid.image import detection
from autohybrid.image import detection as det
from autohybrid.image.augmenter_list import CreateAugmenter
from autohybrid.image.augmenters import (
    Augmenter,
    CastAug,
    CenterCropAug,
    ForceResizeAug,
    HorizontalFlipAug,
    RandomCropAug,
    RandomOrderAug,
    RandomSizedCropAug,
    ResizeAug,
    SequentialAug,
)
from autohybrid.image.colour_augmenters import (
    BrightnessJitterAug,
    ColorJitterAug,
    ColorNormalizeAug,
    ContrastJitterAug,
    HueJitterAug,
    LightingAug,
    RandomGrayAug,
    SaturationJitterAug,
)
from autohybrid.image.cropping import (
    center_crop,
    color_normalize,
    fixed_crop,
    random_crop,
    random_size_crop,
    resize_short,
    scale_down,
)
from autohybrid.image.cropping import (
    choose_interpolation as _get_interp_method,
)
from autohybrid.image.detection import *  # noqa: F403
from autohybrid.image.detection import __all__ as _detection
from autohybrid.image.image_iter import ImageIter
from autohybrid.image.reading import imdecode, imread, imresize
from autohybrid.image.rotation import imrotate, random_rotate
from autohybrid.ndarray._internal import _cvcopyMakeBorder as copyMakeBorder

#: MXNet keeps all but the detection in `mx.image.image`.
image = sys.modules[__name__]

__all__ = [
    "Augmenter", "BrightnessJitterAug", "CastAug", "CenterCropAug", "ColorJitterAug", "ColorNormalizeAug",
    "ContrastJitterAug", "CreateAugmenter", "ForceResizeAug", "HorizontalFlipAug", "HueJitterAug", "ImageIter",
    "LightingAug", "RandomCropAug", "RandomGrayAug", "RandomOrderAug", "RandomSizedCropAug", "ResizeAug",
    "SaturationJitterAug", "SequentialAug", "_get_interp_method", "center_crop", "color_normalize", "copyMakeBorder",
    "det", "detection", "fixed_crop", "imdecode", "imread", "imresize", "imrotate", "random_crop", "random_rotate",
    "random_size_crop", "resize_short", "scale_down", *_detection,
]  # fmt: skip
