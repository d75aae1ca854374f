"""Python's own state that a block's code depends on: module globals, variables of enclosing functions, default
arguments, and sources of randomness.

A graph is only kept while what it was built from is unchanged. Such variables are compared at each call (few functions
read any); code that changes them itself, or draws on `random`, `numpy.random` or the clock, is volatile: it has to run
at every call.
"""

from __future__ import annotations

import gc
import random
import sys
import time
import types
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from autohybrid.tensor.array import NDArray

_PACKAGE = str(Path(__file__).resolve().parent.parent)
_CONSTANTS = (bool, int, float, str, bytes, type(None))
_CONTAINERS = (list, dict, tuple, set)
_CLOCKS = (time.time, time.time_ns, time.perf_counter, time.monotonic, time.process_time)
_GENERATORS = (random.Random, np.random.RandomState, np.random.Generator)
#: What variables are watched for; functions, modules and classes hardly change.
_WATCHED = (*_CONSTANTS, *_CONTAINERS, NDArray)
_DEPTH = 3


class FunctionsUsed:
    """The user's functions that ran while a graph was built, with the variables outside and the defaults they read."""

    def __init__(self) -> None:
        self._functions: set[types.FunctionType] = set()
        self._globals: dict[tuple[int, str], tuple[dict[str, Any], str, Any]] = {}
        self._cells: dict[int, tuple[types.CellType, Any]] = {}
        self._defaults: list[tuple[tuple[Any, ...], Any]] = []

    def enter(self, function: types.FunctionType) -> None:
        """`function` is about to run."""
        if function in self._functions:
            return
        self._functions.add(function)
        namespace = function.__globals__
        for name in _names(function.__code__):
            value = namespace.get(name)
            if name in namespace and isinstance(value, _WATCHED):
                self._globals.setdefault((id(namespace), name), (namespace, name, token(value)))
        for cell in () if self._is_inside(function) else function.__closure__ or ():
            if isinstance(_content(cell), (*_WATCHED, _Unbound)):
                self._cells.setdefault(id(cell), (cell, token(_content(cell))))
        changeable = tuple(v for v in (function.__defaults__ or ()) if isinstance(v, _CONTAINERS))
        if changeable:
            self._defaults.append((changeable, token(changeable)))

    def _is_inside(self, function: types.FunctionType) -> bool:
        """Whether a function was made by one of those that run: its variables are of this call, or known from that."""
        return any(function.__qualname__.startswith(f"{f.__qualname__}.<locals>.") for f in self._functions)

    @property
    def depends_on_state(self) -> bool:
        """Whether there is anything to compare."""
        return bool(self._globals or self._cells or self._defaults)

    def unchanged(self) -> bool:
        """Whether every variable and default has the value it had then."""
        return (
            all(token(space.get(name)) == before for space, name, before in self._globals.values())
            and all(token(_content(cell)) == before for cell, before in self._cells.values())
            and all(token(values) == before for values, before in self._defaults)
        )


class _Unbound:
    """What a variable of an enclosing function holds before it is assigned."""


_UNBOUND = _Unbound()


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _UNBOUND


def token(value: Any, depth: int = _DEPTH) -> Any:
    """Something that differs when `value` does: constants by value, containers by content, the rest by identity."""
    if isinstance(value, _CONSTANTS):
        return (type(value), value)
    if depth and isinstance(value, (list, tuple)):
        return (type(value), *[token(v, depth - 1) for v in value])
    if depth and isinstance(value, dict):
        return (type(value), *[(k, token(v, depth - 1)) for k, v in value.items()])
    if depth and isinstance(value, (set, frozenset)):
        return (type(value), frozenset([token(v, depth - 1) for v in value]))
    return id(value)


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


class RandomnessWatch:
    """Notices calls that draw random numbers or read the clock, outside autohybrid itself."""

    def __init__(self) -> None:
        #: Place and name of the first such call; None when there was none.
        self.found: str | None = None
        self._awake = False

    def pause(self) -> bool:
        """Rest while autohybrid works for itself (a watched call costs several); whether this was awake."""
        if not self._awake:
            return False
        self._awake = False
        sys.setprofile(None)
        return True

    def resume(self) -> None:
        """Watch again, after a `pause` that gave true."""
        self._awake = True
        sys.setprofile(self._profile)

    def _profile(self, frame: types.FrameType, event: str, called: Any) -> None:
        if event != "c_call" or self.found is not None:
            return
        if called in _CLOCKS or isinstance(getattr(called, "__self__", None), _GENERATORS):
            user = _user_frame(frame)
            if user is not None:
                name = getattr(called, "__qualname__", repr(called))
                self.found = f"{user.f_code.co_filename}:{user.f_lineno}: `{name}`"

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch the code inside. Does nothing while a profiler runs: Python can have only one, and cannot put one
        written in C back; the rules of the analysis (frozen randomness) still report what they see in the source."""
        if sys.getprofile() is not None:
            yield
            return
        # Finalizers and the hooks of other libraries on garbage collection read clocks too, in the middle of user code.
        collecting = gc.isenabled()
        gc.disable()
        self.resume()
        try:
            yield
        finally:
            self.pause()
            if collecting:
                gc.enable()


def _user_frame(frame: types.FrameType | None) -> types.FrameType | None:
    """The frame of the user's code that led to a call; None when autohybrid made the call for itself."""
    while frame is not None:
        path = frame.f_code.co_filename
        if path.startswith(_PACKAGE):
            return None
        module = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if module not in sys.stdlib_module_names and module != "numpy":
            return frame
        frame = frame.f_back
    return None
