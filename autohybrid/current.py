"""Classes with a current instance for each thread and context: `NameManager.current`, `AttrScope.current`."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any


class HasCurrent(type):
    """The type of a class whose `current` is the instance in force here; assigning replaces it."""

    _variable: ContextVar[Any]

    @property
    def current(cls) -> Any:
        """The instance in force."""
        return cls._variable.get()

    @current.setter
    def current(cls, instance: Any) -> None:
        cls._variable.set(instance)
