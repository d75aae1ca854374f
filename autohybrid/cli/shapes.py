"""Shapes of inputs as they are given on the command line."""

from __future__ import annotations

from collections.abc import Sequence

from autohybrid.config import SettingsError

Shape = tuple[int, ...]


def parse_shapes(texts: Sequence[str]) -> dict[str, Shape]:
    """Shapes by name, from texts such as `data=1x3x224x224`. Raises SettingsError for another form."""
    found = {}
    for text in texts:
        name, _, extents = text.rpartition("=")
        try:
            shape = tuple(int(part) for part in extents.lower().replace(",", "x").split("x"))
        except ValueError:
            shape = ()
        if not name or not shape or min(shape) < 1:
            raise SettingsError(f"`{text}` is not of the form NAME=SHAPE, such as data=1x3x224x224")
        found[name] = shape
    return found
