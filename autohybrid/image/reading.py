"""Reading image files into arrays (height, width, channels), and resizing them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from autohybrid import ndarray as nd
from autohybrid import numpy as mx_np
from autohybrid.ndarray import NDArray
from autohybrid.numpy_semantics import is_np_array
from autohybrid.training.image_codec import decode_bgr


def imdecode(buf: Any, flag: int = 1, to_rgb: int = 1, out: NDArray | None = None) -> NDArray:
    """The image in `buf` (bytes, or a uint8 array) as uint8: colour for `flag` 1, grey (one channel) for 0.

    Colours are RGB, or BGR with `to_rgb=0`. Raises ValueError for text, MXNetError for bytes that are no image.
    """
    if isinstance(buf, NDArray):
        buf = buf.asnumpy()
    if not isinstance(buf, (bytes, bytearray, np.ndarray)):
        raise ValueError(f"the image must be given as bytes or a uint8 array, not {type(buf).__name__}")
    pixels = decode_bgr(bytes(buf), 1 if flag else 0)
    if not flag:
        pixels = pixels[:, :, None]
    elif to_rgb:
        pixels = np.ascontiguousarray(pixels[:, :, ::-1])
    image: NDArray = _array(pixels)
    if out is None:
        return image
    out[:] = image
    return out


def imread(filename: str, flag: int = 1, to_rgb: int = 1) -> NDArray:
    """The image in a file; see `imdecode`."""
    return imdecode(Path(filename).read_bytes(), flag, to_rgb)


def imresize(src: NDArray, w: int, h: int, interp: int = 1) -> NDArray:
    """The image scaled to width `w` and height `h`; `interp` 0: nearest, 1: bilinear, 2: cubic, 3: area."""
    resized: NDArray = nd.image.resize(src, size=(w, h), keep_ratio=False, interp=interp)
    return resized


def _array(pixels: np.ndarray[Any, Any]) -> Any:
    make = mx_np.array if is_np_array() else nd.array
    return make(pixels, dtype=pixels.dtype)
