"""Decoding and encoding image files, by OpenCV or Pillow, whichever is installed."""

from __future__ import annotations

import importlib
import io
from typing import Any

import numpy as np

from autohybrid.errors import MXNetError

_REMEDY = "reading and writing image files needs OpenCV or Pillow: `pip install opencv-python-headless` (or `pillow`)"


def decode_rgb(data: bytes, flag: int = 1) -> np.ndarray[Any, Any]:
    """An image file as uint8 (height, width, 3) in RGB order, or (height, width, 1) for `flag` 0 (grey).

    Raises MXNetError when the bytes are no image, or neither library is installed.
    """
    image = decode_bgr(data, 1 if flag else 0)
    return np.ascontiguousarray(image[:, :, ::-1]) if flag else image[:, :, None]


def decode_bgr(data: bytes, iscolor: int = -1) -> np.ndarray[Any, Any]:
    """An image file as OpenCV gives it: BGR for `iscolor` 1, grey without a channel axis for 0, as stored for -1."""
    library = _library()
    if library.__name__ == "cv2":
        image = library.imdecode(np.frombuffer(data, np.uint8), iscolor) if data else None
        if image is None:
            raise MXNetError("the bytes are not an image that can be decoded")
        return image  # type: ignore[no-any-return]
    try:
        picture = library.open(io.BytesIO(data))
        if iscolor >= 0 or picture.mode not in ("L", "RGB", "RGBA"):
            picture = picture.convert("RGB" if iscolor else "L")
        pixels = np.asarray(picture)
    except (OSError, ValueError, SyntaxError) as error:
        raise MXNetError(f"the bytes are not an image that can be decoded: {error}") from error
    if pixels.ndim == 3:
        order = [2, 1, 0, 3][: pixels.shape[2]]
        pixels = pixels[:, :, order]
    return np.ascontiguousarray(pixels)


def encode_bgr(image: Any, quality: int, img_fmt: str) -> bytes:
    """An image (BGR or grey, uint8) as the bytes of a JPEG ('.jpg') or PNG ('.png') file.

    `quality` is JPEG's, up to 100, or PNG's compression, of which 9 is the most: more means 9.
    """
    kind = img_fmt.lower()
    if kind not in (".jpg", ".jpeg", ".png"):
        raise ValueError(f"img_fmt must be '.jpg' or '.png', not {img_fmt!r}")
    quality = min(quality, 9) if kind == ".png" else quality
    library = _library()
    if library.__name__ == "cv2":
        setting = library.IMWRITE_PNG_COMPRESSION if kind == ".png" else library.IMWRITE_JPEG_QUALITY
        done, buffer = library.imencode(kind, image, [setting, quality])
        if not done:
            raise MXNetError("the image could not be encoded")
        return buffer.tobytes()  # type: ignore[no-any-return]
    pixels = np.asarray(image)
    picture = library.fromarray(pixels[:, :, ::-1] if pixels.ndim == 3 else pixels)
    stream = io.BytesIO()
    picture.save(
        stream,
        **({"format": "PNG", "compress_level": quality} if kind == ".png" else {"format": "JPEG", "quality": quality}),
    )
    return stream.getvalue()


def _library() -> Any:
    for name in ("cv2", "PIL.Image"):
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    raise MXNetError(_REMEDY)
