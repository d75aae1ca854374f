"""Lists of images with their labels: `.lst` files, and lists in memory."""

from __future__ import annotations

from numbers import Number
from pathlib import Path
from typing import Any

from autohybrid import ndarray as nd
from autohybrid.errors import MXNetError
from autohybrid.ndarray import NDArray

Entries = dict[Any, tuple[NDArray, str]]


def read_image_list(path: str, dtype: str = "float32") -> Entries:
    """A `.lst` file (lines of index, one or more labels and a path, separated by tabs): index -> labels and path.

    Raises MXNetError that names the line for anything else.
    """
    entries: Entries = {}
    for number, line in enumerate(Path(path).read_text().splitlines(), 1):
        first, *labels, name = line.strip().split("\t") if "\t" in line else ("", line)
        try:
            entries[int(first)] = nd.array([float(label) for label in labels], dtype=dtype), name
        except ValueError as error:
            raise MXNetError(f"{path}:{number} is not `index, labels, path` separated by tabs: {error}") from error
    return entries


def take_image_list(images: list[Any], dtype: str = "float32") -> Entries:
    """A list of [label, path], [[labels...], path] or [label, ..., path]: position from '1' on -> labels and path."""
    return {str(position): (_labels(image, dtype), image[-1]) for position, image in enumerate(images, 1)}


def _labels(image: Any, dtype: str) -> NDArray:
    if len(image) > 2:
        values = image[:-1]
    elif isinstance(image[0], Number):
        values = [image[0]]
    else:
        values = image[0]
    return nd.array(values, dtype=dtype)
