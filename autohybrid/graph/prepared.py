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
#: Up to this many bytes, values that only other ones are made from are kept for the next time.
_SMALL = 1 << 14

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
        #: What is needed for `shown`, each after what it is made from; passes add them in that order.
        self._recipes = _needed(recipes, shown)
        self._sources = frozenset(s for r in self._recipes.values() for s, _ in r.inputs) - self._recipes.keys()
        self._seen: dict[Node, _Seen] = {}
        self._values: dict[Node, Any] = {}
        self._lock = threading.Lock()
        #: How many numbers were made from captured arrays up to now.
        self.made = 0
        #: The token at which the values were current, and the values in the order of `shown`.
        self.now: tuple[Any, ...] = (_NEVER,)

    def refresh(self) -> tuple[Any, ...]:
        """`now` after what changed since it was made. Raises what the making of a value raises."""
        with self._lock:
            token = changes.token  # before anything is read: what changes from here on moves it again
            arrays = self._resolve()
            seen = {source: self._look_at(source, arrays) for source in self._sources}
            changed = {source for source, now in seen.items() if not self._is_current(source, now)}
            self._values = self._remade(changed, {source: now.array for source, now in seen.items()})
            self._seen = seen
            shown = [self._values[n] if n in self._recipes else arrays[self._place[n.name]]._data for n in self._shown]
            if any(s.version.shared for s in seen.values()) or any(a.stype != "default" for a in arrays):
                token = _NEVER
            self.now = (token, *shown)
            return self.now

    @property
    def can_last(self) -> bool:
        """Whether values can stay from call to call: no memory that they are made from is open to unnoted writes."""
        return bool(self.now[0] != _NEVER)

    def _look_at(self, source: Node, arrays: Sequence[NDArray]) -> _Seen:
        array = arrays[self._place[source.name]]._data
        known = self._seen.get(source)
        version = known.version if known is not None and known.array is array else watch(array)
        return _Seen(array, version, version.count)

    def _is_current(self, source: Node, now: _Seen) -> bool:
        return source in self._seen and self._seen[source].is_current(now.array)

    def _remade(self, changed: set[Node], arrays: dict[Node, Any]) -> dict[Node, Any]:
        """All values to keep, those anew that depend on `changed`. Large ones that are not shown are not kept."""
        shown = {node for node in self._shown if node in self._recipes}
        stale = set(changed)
        for node, recipe in self._recipes.items():
            if any(source in stale for source, _ in recipe.inputs) or (node in shown and node not in self._values):
                stale.add(node)
        wanted: set[Node] = set()
        for node, recipe in reversed(self._recipes.items()):
            if node in wanted or (node in shown and node in stale):
                wanted.add(node)
                wanted.update(s for s, _ in recipe.inputs if s in stale or s not in self._values)
        values = {**arrays, **self._values}
        for node, recipe in self._recipes.items():
            if node in wanted:
                inputs = [values[source] for source, _ in recipe.inputs]
                values[node] = _aligned(recipe.make(*inputs, *recipe.options), inputs)
                self.made += getattr(values[node], "size", 0)
        return {n: values[n] for n in self._recipes if n in values and (n in shown or _is_small(values[n]))}


def _needed(recipes: Mapping[Node, Recipe], shown: Sequence[Node]) -> dict[Node, Recipe]:
    wanted = set(shown)
    for node, recipe in reversed(list(recipes.items())):
        if node in wanted:
            wanted.update(source for source, _ in recipe.inputs)
    return {node: recipe for node, recipe in recipes.items() if node in wanted}


def _is_small(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.nbytes <= _SMALL


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
