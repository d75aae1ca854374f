"""`mx.image`: reading, resizing, cutting and turning images."""

from __future__ import annotations

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
from autohybrid.image.reading import imdecode, imread, imresize
from autohybrid.image.rotation import imrotate, random_rotate

__all__ = [
    "_get_interp_method",
    "center_crop", "color_normalize", "fixed_crop", "imdecode", "imread", "imresize", "imrotate", "random_crop",
    "random_rotate", "random_size_crop", "resize_short", "scale_down",
]  # fmt: skip
