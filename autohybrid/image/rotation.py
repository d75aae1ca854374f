"""Turning images (channels first) around their centre."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from autohybrid import ndarray as nd
from autohybrid.ndarray import NDArray


def imrotate(src: NDArray, rotation_degrees: Any, zoom_in: bool = False, zoom_out: bool = False) -> NDArray:
    """A float32 image (C, H, W) or batch (N, C, H, W) turned by degrees (one number, or one for each image).

    What comes from outside is 0; `zoom_in` enlarges until nothing does, `zoom_out` shrinks until all is visible.
    Raises TypeError for another dtype, ValueError for another number of dimensions or angles.
    """
    if zoom_in and zoom_out:
        raise ValueError("zoom_in and zoom_out exclude each other")
    if src.dtype is not np.float32:
        raise TypeError(f"imrotate needs float32 images, not {src.dtype.__name__}")
    if src.ndim not in (3, 4):
        raise ValueError(f"imrotate needs an image of 3 dimensions or a batch of 4, not {src.ndim}")
    batch = src.expand_dims(axis=0) if src.ndim == 3 else src
    angles = _angles(rotation_degrees, batch, src.ndim == 3)
    grid = _grid(angles, batch.shape[2], batch.shape[3], zoom_in, zoom_out)
    turned = nd.BilinearSampler(batch, nd.array(grid, ctx=src.context, dtype="float32"))
    return turned[0] if src.ndim == 3 else turned  # type: ignore[no-any-return]


def _angles(degrees: Any, batch: NDArray, single: bool) -> np.ndarray[Any, Any]:
    if isinstance(degrees, numbers.Number):
        return np.full(len(batch), degrees, "float64")
    if single:
        raise TypeError("a single image is turned by one number")
    angles = degrees.asnumpy() if isinstance(degrees, NDArray) else np.asarray(degrees)
    if len(angles) != len(batch):
        raise ValueError(f"there are {len(batch)} images, but {len(angles)} angles")
    return angles.astype("float64")


def _grid(
    degrees: np.ndarray[Any, Any], height: int, width: int, zoom_in: bool, zoom_out: bool
) -> np.ndarray[Any, Any]:
    """Where each output pixel comes from, in -1 to 1: (N, 2, H, W), x first."""
    radians = np.deg2rad(degrees)[:, None, None]
    half_h, half_w = (height - 1) / 2, (width - 1) / 2
    y, x = np.meshgrid(np.arange(height) - half_h, np.arange(width) - half_w, indexing="ij")
    turned_x = (x * np.cos(radians) - y * np.sin(radians)) / half_w
    turned_y = (x * np.sin(radians) + y * np.cos(radians)) / half_h
    grid = np.stack([turned_x, turned_y], axis=1)
    if zoom_in or zoom_out:
        corner = np.arctan2(height, width)
        diagonal = np.hypot(height, width)
        corners = np.stack([corner + np.abs(radians), corner - np.abs(radians)])
        reach_x = np.abs(diagonal * np.cos(corners)).max(axis=0)
        reach_y = np.abs(diagonal * np.sin(corners)).max(axis=0)
        scales = np.stack([reach_x / width, reach_y / height])
        scale = scales.max(axis=0) if zoom_out else (1 / scales).min(axis=0)
        grid = grid * scale[..., None]
    return grid


def random_rotate(
    src: NDArray, angle_limits: tuple[float, float], zoom_in: bool = False, zoom_out: bool = False
) -> NDArray:
    """Turned by an angle (for a batch, one for each image) drawn between `angle_limits` by NumPy's generator."""
    drawn: Any = np.random.uniform(*angle_limits, size=None if src.ndim == 3 else src.shape[0])
    return imrotate(src, drawn, zoom_in, zoom_out)
