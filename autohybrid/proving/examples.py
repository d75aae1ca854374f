"""Examples: what to call a block with. A function of a module that returns a block and calls, or a class and shapes.

`example()`, or `example(mx)`, returns the block and either a list of calls, each a tuple of arguments, or the
arguments of one call.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from autohybrid import ndarray
from autohybrid.errors import MXNetError
from autohybrid.tensor.array import NDArray

_NAME = re.compile(r"example(_\w+)?\Z")
Call = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Example:
    """A file, a name in it, and for a class the shapes of the arguments as `1x3x8x8` or `4x7:int32`."""

    path: str
    name: str
    shapes: tuple[str, ...] = ()


def find_examples(module: ModuleType) -> list[str]:
    """The names of the example functions that a module defines itself: `example`, `example_small`."""
    own = vars(module).items()
    return [
        name
        for name, value in own
        if _NAME.match(name) and inspect.isfunction(value) and value.__module__ == module.__name__
    ]


def make_example(module: ModuleType, example: Example) -> tuple[Callable[..., Any], list[Call]]:
    """A new block and its calls. Raises MXNetError where the example is not of the form that is asked for."""
    found = getattr(module, example.name, None)
    if found is None:
        raise MXNetError(f"there is no `{example.name}` in {example.path}")
    if example.shapes:
        return found(), [tuple(_draw(shape) for shape in example.shapes)]
    made = found(*_namespace(found))
    if not isinstance(made, tuple) or len(made) != 2 or not callable(made[0]):
        raise MXNetError(f"`{example.name}` does not return a block and its calls")
    return made[0], _calls(made[1])


def _namespace(function: Callable[..., Any]) -> tuple[Any, ...]:
    """autohybrid, for an example that asks for `mx`."""
    needed = [p for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    if not needed:
        return ()
    import autohybrid

    return (autohybrid,)


def _calls(given: Any) -> list[Call]:
    if not isinstance(given, list):
        return [given if isinstance(given, tuple) else (given,)]
    return [call if isinstance(call, tuple) else (call,) for call in given]


def _draw(text: str) -> NDArray:
    """An array of a shape: numbers in [-1, 1), or small whole ones for an integer dtype."""
    shape, _, dtype = text.partition(":")
    try:
        extents = tuple(int(part) for part in shape.lower().split("x"))
        kind = np.dtype(dtype or "float32")
    except (ValueError, TypeError):
        raise MXNetError(f"`{text}` is not a shape such as 1x3x224x224 or 4x7:int32") from None
    whole = np.arange(int(np.prod(extents))).reshape(extents) % 5
    return ndarray.array(np.random.uniform(-1, 1, extents) if kind.kind == "f" else whole, dtype=kind.name)
