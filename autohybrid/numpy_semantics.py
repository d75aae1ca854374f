"""The two switches of MXNet's numpy mode: np-shape (scalars and empty arrays exist) and np-array (`mx.np` arrays).

`set_np()` switches for the whole process, the scopes only inside their `with` and thread. Everything here is what
`mx.util` and `mx.npx` offer under the same names.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable
from typing import Any, Literal


class _Process:
    shape = False
    array = False


class _Thread(threading.local):
    shape: bool | None = None
    array: bool | None = None


_process = _Process()
_thread = _Thread()


def is_np_shape() -> bool:
    """Whether shapes have numpy's meaning: `()` is a scalar and 0 an empty axis."""
    return _process.shape if _thread.shape is None else _thread.shape


def shape_semantics() -> Literal["classic", "numpy", "both"]:
    """What files may hold here: 'both' while numpy mode is on for the process, 'numpy' inside a scope only."""
    if not is_np_shape():
        return "classic"
    return "both" if _process.shape else "numpy"


def is_np_array() -> bool:
    """Whether Gluon hands out `mx.np` arrays."""
    return _process.array if _thread.array is None else _thread.array


def set_np_shape(active: bool) -> bool:
    """Switch np-shape in this thread; returns the previous state."""
    previous, _thread.shape = is_np_shape(), bool(active)
    return previous


def set_np(shape: bool = True, array: bool = True) -> None:
    """Switch numpy mode for the process. Raises ValueError for arrays without shapes, which cannot be."""
    if array and not shape:
        raise ValueError("NumPy arrays need NumPy shapes: set_np(shape=False, array=True) is not possible")
    _process.shape, _process.array = bool(shape), bool(array)
    _thread.shape = _thread.array = None


def reset_np() -> None:
    """Back to classic shapes and arrays."""
    set_np(shape=False, array=False)


class _Scope:
    """One switch inside a `with`; also a decorator."""

    def __init__(self, switch: str, active: bool) -> None:
        self._switch, self._active = switch, active
        self._saved: list[bool | None] = []

    def __enter__(self) -> _Scope:
        self._saved.append(getattr(_thread, self._switch))
        setattr(_thread, self._switch, self._active)
        return self

    def __exit__(self, *exc: Any) -> None:
        setattr(_thread, self._switch, self._saved.pop())

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with _Scope(self._switch, self._active):
                return function(*args, **kwargs)

        return inside


def np_shape(active: bool = True) -> _Scope:
    """Numpy shapes inside a `with`, in this thread."""
    return _Scope("shape", bool(active))


def np_array(active: bool = True) -> _Scope:
    """Numpy arrays inside a `with`, in this thread."""
    return _Scope("array", bool(active))


def use_np_shape(target: Any) -> Any:
    """Decorate a function, or all methods of a class, to run with numpy shapes."""
    return _decorated(target, np_shape())


def use_np_array(target: Any) -> Any:
    """Decorate a function, or all methods of a class, to run with numpy arrays."""
    return _decorated(target, np_array())


def use_np(target: Any) -> Any:
    """Decorate a function, or all methods of a class, to run in numpy mode."""
    return use_np_shape(use_np_array(target))


def _decorated(target: Any, scope: _Scope) -> Any:
    if not isinstance(target, type):
        return scope(target)
    for name in dir(target):
        member = inspect.getattr_static(target, name)
        if inspect.isfunction(member):
            setattr(target, name, scope(member))
        elif isinstance(member, (staticmethod, classmethod)) and inspect.isfunction(member.__func__):
            setattr(target, name, type(member)(scope(member.__func__)))
        elif isinstance(member, property):
            get, put, drop = (f and scope(f) for f in (member.fget, member.fset, member.fdel))
            setattr(target, name, property(get, put, drop, member.__doc__))
    return target
