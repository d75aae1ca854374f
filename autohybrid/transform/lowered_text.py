"""LoweredText: an emitted function as text, and OwnNames: which names it calls are the user's functions. No LibCST."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

#: (line, column, end line, end column), lines from 1 and columns from 0, in code points.
Range = tuple[int, int, int, int]

#: Builtin functions that lowered code calls through `g.call`: they ask their arguments for a truth or a value.
TENSOR_BUILTINS = frozenset(("max", "min", "any", "all", "bool", "float", "int"))


@dataclass(frozen=True, slots=True)
class LoweredText:
    """The emitted function as text. `places` maps ranges of it to ranges of the (dedented) source."""

    text: str
    name: str
    places: tuple[tuple[Range, Range], ...]


class OwnNames:
    """Whether a dotted name (`helper`, `self.mask`, `layers.attend`) is a function that should be lowered too.

    `answers` holds every name that was asked about.
    """

    def __init__(self, is_own: Callable[[str], bool]) -> None:
        self._is_own = is_own
        self.answers: dict[str, bool] = {}

    def __call__(self, path: str) -> bool:
        if path not in self.answers:
            self.answers[path] = self._is_own(path)
        return self.answers[path]

    def agrees(self, answers: Mapping[str, bool]) -> bool:
        """Whether the same answers would be given here."""
        return all(self(path) == answer for path, answer in answers.items())
