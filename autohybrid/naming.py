"""Names: the manager that numbers nodes (`dense0_fwd`, `_plus0`), and attribute scopes. MXNet's public spelling.

`NameManager` and `Prefix` are what `mx.name` offers, `AttrScope` is `mx.AttrScope`. `NameManager.current` and
`AttrScope.current` are those in force in this thread and context.
"""

from __future__ import annotations

from contextvars import ContextVar, Token
from types import TracebackType
from typing import Any

from autohybrid.current import HasCurrent


class NameManager(metaclass=HasCurrent):
    """Gives a node without a name the next free one: hint + counter. Use it as a context to start counting afresh."""

    def __init__(self) -> None:
        self._counter: dict[str, int] = {}
        self._tokens: list[Token[NameManager]] = []

    def get(self, name: str | None, hint: str) -> str:
        """`name` if given, else the next name for `hint`."""
        if name:
            return name
        count = self._counter.get(hint, 0)
        self._counter[hint] = count + 1
        return f"{hint}{count}"

    def __enter__(self) -> NameManager:
        self._tokens.append(_current.set(self))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _current.reset(self._tokens.pop())


class Prefix(NameManager):
    """A NameManager that puts `prefix` before every name, given names included."""

    def __init__(self, prefix: str) -> None:
        super().__init__()
        self._prefix = prefix

    def get(self, name: str | None, hint: str) -> str:
        return self._prefix + super().get(name, hint)


_current: ContextVar[NameManager] = ContextVar("name_manager", default=NameManager())  # noqa: B039 - one shared counter, as in MXNet
NameManager._variable = _current


class AttrScope(metaclass=HasCurrent):
    """Attributes put on every Symbol node made inside the scope (`with mx.AttrScope(ctx_group='stage1'):`)."""

    def __init__(self, **attrs: str) -> None:
        for value in attrs.values():
            if not isinstance(value, str):
                raise ValueError("attributes of an AttrScope are text")
        self._attr = attrs
        self._tokens: list[Token[AttrScope]] = []

    def get(self, attr: dict[str, str] | None) -> dict[str, str]:
        """The scope's attributes with `attr` on top."""
        return {**self._attr, **(attr or {})}

    def __enter__(self) -> AttrScope:
        merged = AttrScope(**{**_scope.get()._attr, **self._attr})
        self._tokens.append(_scope.set(merged))
        return self

    def __exit__(self, *exc: Any) -> None:
        _scope.reset(self._tokens.pop())


_scope: ContextVar[AttrScope] = ContextVar("attr_scope", default=AttrScope())  # noqa: B039 - never mutated
AttrScope._variable = _scope
