"""What a generated function knows before it is called: its captured arrays, and values made from those alone.

A pass or a template asks for such a value with a Recipe (a packed weight, a folded bias...). It is computed at the
first call and again only when memory that it was made from was written or replaced (`tensor/versions.py`). A call
compares one token; values are never changed in place, so calls in other threads go on with those they took.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autohybrid.graph.node import Head, Node
from autohybrid.tensor.array import NDArray
from autohybrid.tensor.versions import MemoryVersion, changes, watch

#: Where arrays begin in memory, in bytes: products of matrices that straddle cache lines take half as long again.
_ALIGNMENT = 64
_WORTH_ALIGNING = 1 << 12

#: A token that no change ever has: the values are made anew at each call.
_NEVER = -1


@dataclass(frozen=True, slots=True)
class Recipe:
    """`make(*arrays, *options)` of the raw arrays that `inputs` stand for: captured variables or prepared ones."""

    make: Callable[..., Any]
    inputs: tuple[Head, ...]
    options: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class _Seen:
    """A captured array as values were made from it."""

    array: Any
    version: MemoryVersion
    count: int

    def is_current(self, array: Any) -> bool:
        return array is self.array and self.version.count == self.count and not self.version.shared


class Prepared:
    """The values of `shown` (variables of the graph, captured or with a recipe), current at every call.

    `resolve` gives the captured arrays in the order of `captured`, their names.
    """

    def __init__(
        self,
        resolve: Callable[[], Sequence[NDArray]],
        captured: Sequence[str],
        shown: Sequence[Node],
        recipes: Mapping[Node, Recipe],
    ) -> None:
        self._resolve = resolve
        self._place = {name: i for i, name in enumerate(captured)}
        self._shown = tuple(shown)
        self._recipes = {node: recipes[node] for node in shown if node in recipes}
        self._all_recipes = dict(recipes)
        self._sources = {node: self._captured_below(node) for node in self._recipes}
        self._seen: dict[Node, _Seen] = {}
        self._values: dict[Node, Any] = {}
        self._lock = threading.Lock()
        #: The token at which the values were current, and the values in the order of `shown`.
        self.now: tuple[Any, ...] = (_NEVER,)

    def refresh(self) -> tuple[Any, ...]:
        """`now` after what changed since it was made. Raises what the making of a value raises."""
        with self._lock:
            token = changes.token  # before anything is read: what changes from here on moves it again
            arrays = self._resolve()
            seen = {
                source: self._look_at(source, arrays) for source in frozenset[Node]().union(*self._sources.values())
            }
            made: dict[Node, Any] = {}
            values = {
                node: self._values[node] if self._is_current(node, arrays) else self._make(node, arrays, made)
                for node in self._recipes
            }
            self._seen, self._values = seen, values
            shown = [values[n] if n in values else arrays[self._place[n.name]]._data for n in self._shown]
            if any(s.version.shared for s in seen.values()) or any(a.stype != "default" for a in arrays):
                token = _NEVER
            self.now = (token, *shown)
            return self.now

    def _look_at(self, source: Node, arrays: Sequence[NDArray]) -> _Seen:
        array = arrays[self._place[source.name]]._data
        known = self._seen.get(source)
        version = known.version if known is not None and known.array is array else watch(array)
        return _Seen(array, version, version.count)

    def _is_current(self, node: Node, arrays: Sequence[NDArray]) -> bool:
        return node in self._values and all(
            source in self._seen and self._seen[source].is_current(arrays[self._place[source.name]]._data)
            for source in self._sources[node]
        )

    def _make(self, node: Node, arrays: Sequence[NDArray], made: dict[Node, Any]) -> Any:
        """The value of a variable; `made` holds those of this refresh."""
        recipe = self._all_recipes.get(node)
        if recipe is None:
            return arrays[self._place[node.name]]._data
        if node not in made:
            inputs = [self._make(source, arrays, made) for source, _ in recipe.inputs]
            made[node] = _aligned(recipe.make(*inputs, *recipe.options), inputs)
        return made[node]

    def _captured_below(self, node: Node) -> frozenset[Node]:
        """The captured variables that a value is made from."""
        recipe = self._all_recipes.get(node)
        if recipe is None:
            return frozenset({node})
        return frozenset[Node]().union(*[self._captured_below(source) for source, _ in recipe.inputs])


def _aligned(value: Any, inputs: Sequence[Any]) -> Any:
    """The value with every array of it (in tuples too) at the start of a cache line, but for views of `inputs`."""
    if isinstance(value, tuple):
        parts = [_aligned(part, inputs) for part in value]
        return tuple(parts) if type(value) is tuple else type(value)(*parts)  # named ones keep their names
    if not isinstance(value, np.ndarray) or value.nbytes < _WORTH_ALIGNING or value.ctypes.data % _ALIGNMENT == 0:
        return value
    if any(isinstance(other, np.ndarray) and np.may_share_memory(value, other) for other in inputs):
        return value
    raw = np.empty(value.nbytes + _ALIGNMENT, dtype=np.uint8)
    start = -raw.ctypes.data % _ALIGNMENT
    copy = np.ndarray(value.shape, value.dtype, raw[start : start + value.nbytes])
    copy[...] = value
    return copy
