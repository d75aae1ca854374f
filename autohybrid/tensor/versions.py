"""Versions of memory: whether an array still holds what something was computed from.

Compiled calls keep values that they made from parameters: packed weights, for example. Every write into an array's
memory is noted here (`note_write`), under the array that owns the memory, so that all views share one count. Memory
that others can write into without telling (a NumPy array that `from_numpy` shares, a DLPack capsule) counts as changed
always. One token for the whole process moves with every such change; a compiled call compares only that.
"""

from __future__ import annotations

import itertools
import weakref
from typing import Any

import numpy as np

_tokens = itertools.count(1)


class _Changes:
    """The token of the latest change to anything that compiled calls keep values of. Tokens are never used twice."""

    __slots__ = ("token",)

    def __init__(self) -> None:
        self.token = 0

    def move(self) -> None:
        """Something may have changed."""
        self.token = next(_tokens)


changes = _Changes()


class MemoryVersion:
    """The count of writes into one piece of memory. `shared`: it is open to writes that are not noted."""

    __slots__ = ("count", "owner", "shared")

    def __init__(self, owner: Any = None, shared: bool = False) -> None:
        self.count = 0
        self.shared = shared
        #: Kept alive so that the entry goes when the owner does.
        self.owner: Any = owner


#: Versions of memory that is watched, by the id of the array that owns it.
_watched: dict[int, MemoryVersion] = {}


def note_write(array: Any) -> None:
    """The memory of a raw array was written, or the array was replaced by another. To be called after the write."""
    if _watched and type(array) is np.ndarray:
        version = _watched.get(id(array if array.base is None else owner_of(array)))
        if version is not None:
            version.count += 1
            changes.token = next(_tokens)


def watch(array: Any) -> MemoryVersion:
    """The version of the array's memory; from now on every write into it moves `changes`."""
    owner = owner_of(array)
    if type(owner) is not np.ndarray or owner.base is not None:
        return MemoryVersion(shared=True)  # the memory is not NumPy's own
    version = _watched.get(id(owner))
    if version is None:
        key = id(owner)
        version = MemoryVersion(weakref.ref(owner, lambda _: _watched.pop(key, None)))
        _watched[key] = version
    return version


def note_sharing(array: Any) -> None:
    """From now on the memory of a raw array can be written by others."""
    watch(array).shared = True
    changes.move()


def owner_of(array: Any) -> Any:
    """The array that a chain of views ends at; something else where the memory is not an array's."""
    while isinstance(array, np.ndarray) and isinstance(array.base, np.ndarray):
        array = array.base
    return array
