"""Factories by name (`mx.registry`): classes registered under a base class, made from a name, JSON text or a dict."""

from __future__ import annotations

import difflib
import json
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T", bound=type)

#: Base class -> lower-case name -> class. Filled by the `register` functions made here, and by nothing else.
_TABLES: dict[type, dict[str, type]] = {}


def get_registry(base_class: type) -> dict[str, type]:
    """A copy of what is registered under `base_class`: lower-case name -> class."""
    return dict(_TABLES.setdefault(base_class, {}))


def get_register_func(base_class: type, nickname: str) -> Callable[..., Any]:
    """A `register(klass, name=None)` for subclasses of `base_class`; `nickname` is the word used in messages."""
    table = _TABLES.setdefault(base_class, {})

    def register(klass: T, name: str | None = None) -> T:
        if not issubclass(klass, base_class):
            raise AssertionError(f"only subclasses of {base_class.__name__} can be registered, not {klass.__name__}")
        key = (klass.__name__ if name is None else name).lower()
        if key in table:
            old = table[key]
            warnings.warn(
                f"{nickname} {klass.__module__}.{klass.__name__} takes the name {key!r} from "
                f"{old.__module__}.{old.__name__}",
                UserWarning,
                stacklevel=2,
            )
        table[key] = klass
        return klass

    register.__doc__ = f"Register a {nickname} class under its own name or `name`."
    return register


def get_alias_func(base_class: type, nickname: str) -> Callable[..., Any]:
    """An `alias(*names)` class decorator that registers further names."""
    register = get_register_func(base_class, nickname)

    def alias(*names: str) -> Callable[[T], T]:
        def decorate(klass: T) -> T:
            for name in names:
                register(klass, name)
            return klass

        return decorate

    return alias


def get_create_func(base_class: type, nickname: str) -> Callable[..., Any]:
    """A `create(spec, ...)`: an instance passes through; a name, JSON (`'["xavier", {...}]'`) or dict makes one."""
    table = _TABLES.setdefault(base_class, {})

    def create(*args: Any, **kwargs: Any) -> Any:
        if args:
            spec, args = args[0], args[1:]
        else:
            spec = kwargs.pop(nickname)
        if isinstance(spec, base_class):
            if args or kwargs:
                raise AssertionError(f"{nickname} is an instance already; further arguments have no meaning")
            return spec
        if isinstance(spec, dict):
            return create(**spec)
        if not isinstance(spec, str):
            raise AssertionError(f"{nickname} must be a name or a {base_class.__name__}, not {type(spec).__name__}")
        if spec[:1] in ("[", "{"):
            if args or kwargs:
                raise AssertionError(f"{nickname} is given as JSON; further arguments have no meaning")
            parsed = json.loads(spec)
            return create(parsed[0], **parsed[1]) if isinstance(parsed, list) else create(**parsed)
        name = spec.lower()
        if name not in table:
            close = difflib.get_close_matches(name, table, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"register it with `{nickname}.register` first"
            raise AssertionError(f"no {nickname} is registered as {name!r}; {hint}")
        return table[name](*args, **kwargs)

    create.__doc__ = f"Create a {nickname} from a name, JSON text, a dict, or return the instance given."
    return create
