"""Lowered functions by the user's function: found, made once, kept.

Lowering happens on first use inside a graph. A function whose source cannot be read is used as it is, with a warning:
its operations are still staged, only Python constructs that a tensor decides are refused.
"""

from __future__ import annotations

import inspect
import sys
import textwrap
import types
import warnings
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

from autohybrid.errors import SourceUnavailableWarning
from autohybrid.tensor.tape import state
from autohybrid.transform.lowered_text import OwnNames

_made: weakref.WeakKeyDictionary[types.FunctionType, Callable[..., Any] | None] = weakref.WeakKeyDictionary()
_FOREIGN = ("autohybrid.", "numpy.", "cupy.")


def lowered_method(block: Any, name: str, owner: type) -> Callable[..., Any]:
    """`block.<name>` with its code lowered; `hybrid_forward` is still called with the namespace first."""
    function = vars(owner)[name]
    while hasattr(function, "__wrapped__") and str(getattr(function, "__module__", "")).startswith(_FOREIGN):
        function = function.__wrapped__  # what the library puts around a method, it does itself in a graph
    if not isinstance(function, types.FunctionType):
        return getattr(block, name)  # type: ignore[no-any-return]
    position = 1 if name == "hybrid_forward" else None
    made = _lowered(function, owner, position)
    if made is None:
        return getattr(block, name)  # type: ignore[no-any-return]
    if position is not None and made.drops_namespace:  # type: ignore[attr-defined]
        return lambda F, *args, **kwargs: made(_runtime(), block, *args, **kwargs)
    return partial(made, _runtime(), block)


def lowered_callable(function: Any) -> Callable[..., Any]:
    """A function or method of the user's with its code lowered; anything else is itself."""
    if not _is_plain(getattr(function, "__func__", function)):
        return function  # type: ignore[no-any-return]
    if isinstance(function, types.MethodType) and isinstance(function.__func__, types.FunctionType):
        bound = function.__self__
        owner = _owner_of(bound if isinstance(bound, type) else type(bound), function.__func__)
        if function.__name__ == "hybrid_forward" and owner is not None:
            return _bound_hybrid_forward(function, owner)
        made = _lowered(function.__func__, owner, None)
        return function if made is None else partial(made, _runtime(), function.__self__)
    if isinstance(function, types.FunctionType):
        made = _lowered(function, None, None)
        return function if made is None else partial(made, _runtime())
    return function  # type: ignore[no-any-return]


def _bound_hybrid_forward(method: types.MethodType, owner: type) -> Callable[..., Any]:
    if owner.__module__.startswith(_FOREIGN):
        return method
    made = _lowered(method.__func__, owner, 1)  # type: ignore[arg-type]
    if made is None:
        return method
    if made.drops_namespace:  # type: ignore[attr-defined]
        return lambda F, *args, **kwargs: made(_runtime(), method.__self__, *args, **kwargs)
    return partial(made, _runtime(), method.__self__)


def is_own_function(function: types.FunctionType, owner: type | None, path: str) -> bool:
    """Whether the dotted name `path`, as code of `function` sees it, is a Python function of the user's."""
    parts = path.split(".")
    if parts[0] in ("self", "cls") and owner is not None:
        if len(parts) != 2:
            return False
        return _is_plain(inspect.getattr_static(owner, parts[1], None))
    value: Any = function.__globals__.get(parts[0], _free_variable(function, parts[0]))
    for part in parts[1:]:
        if not isinstance(value, (types.ModuleType, type)):
            return False
        value = getattr(value, part, None)
    return _is_plain(value)


def _is_plain(value: Any) -> bool:
    value = value.__func__ if isinstance(value, (staticmethod, classmethod)) else value
    if not isinstance(value, types.FunctionType):
        return False
    root = value.__module__.partition(".")[0] if value.__module__ else ""
    return (
        not value.__module__.startswith(_FOREIGN)
        and root not in sys.stdlib_module_names
        and root not in ("autohybrid", "numpy")
    )


def _free_variable(function: types.FunctionType, name: str) -> Any:
    if name in function.__code__.co_freevars and function.__closure__:
        cell = function.__closure__[function.__code__.co_freevars.index(name)]
        try:
            return cell.cell_contents
        except ValueError:
            return None
    return None


def _owner_of(cls: type, function: types.FunctionType) -> type | None:
    for base in cls.__mro__:
        if any(getattr(value, "__func__", value) is function for value in vars(base).values()):
            return base
    return None


def _lowered(
    function: types.FunctionType, owner: type | None, namespace_position: int | None
) -> Callable[..., Any] | None:
    if state.builder is None:
        return _find_lowered(function, owner, namespace_position)
    with state.builder.unwatched():
        state.builder.enter_function(function)
        return _find_lowered(function, owner, namespace_position)


def _find_lowered(
    function: types.FunctionType, owner: type | None, namespace_position: int | None
) -> Callable[..., Any] | None:
    if function not in _made:
        _made[function] = _lower(function, owner, namespace_position)
    return _made[function]


def _lower(
    function: types.FunctionType, owner: type | None, namespace_position: int | None
) -> Callable[..., Any] | None:
    code = function.__code__
    if (
        code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR)
        or code.co_name == "<lambda>"
    ):
        return None
    try:
        lines, first_line = inspect.getsourcelines(code)  # of a function, they would be those of what it wraps
    except (OSError, TypeError):
        warnings.warn(
            f"the source of {function.__qualname__} cannot be read (was it typed at a prompt or made by exec?), so it "
            "is traced as it is: conditions and loops on tensors in it are refused [AH903]",
            SourceUnavailableWarning,
            stacklevel=2,
        )
        return None
    from autohybrid.transform.emit import compile_lowered
    from autohybrid.transform.lowered_cache import lowered_text
    from autohybrid.transform.source_check import is_source_of

    dedented = textwrap.dedent("".join(lines))
    if not is_source_of(dedented, code):
        warnings.warn(
            f"{code.co_filename}:{first_line} is not the source of {function.__qualname__} as it runs (was the file "
            "edited after it was imported?), so the function is traced as it is: conditions and loops on tensors in it "
            "are refused; import it again [AH903]",
            SourceUnavailableWarning,
            stacklevel=2,
        )
        return None
    indent = len(lines[0]) - len(lines[0].lstrip())
    own = OwnNames(partial(is_own_function, function, owner))
    lowered = lowered_text(dedented, namespace_position, own)
    made: Any = compile_lowered(lowered, function, first_line, indent, owner)
    made.drops_namespace = made.__code__.co_argcount < code.co_argcount + 1
    return made  # type: ignore[no-any-return]


def _runtime() -> Any:
    from autohybrid.transform.runtime import runtime

    return runtime
