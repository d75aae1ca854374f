"""The handle that takes a registered hook off again."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from autohybrid.tensor.epoch import epoch

_numbers = itertools.count()


class HookHandle:
    """What `register_forward_hook` and its like return: `detach()` removes the hook; usable as a context."""

    def __init__(self) -> None:
        self._hooks: dict[int, Callable[..., Any]] | None = None
        self._number = -1

    def attach(self, hooks: dict[int, Callable[..., Any]], hook: Callable[..., Any]) -> None:
        """Add `hook` to `hooks`. Raises AssertionError when the handle is in use."""
        if self._hooks is not None:
            raise AssertionError("this handle already holds a hook; detach it first")
        self._number = next(_numbers)
        hooks[self._number] = hook
        epoch.move()
        self._hooks = hooks

    def detach(self) -> None:
        """Remove the hook; a second call does nothing."""
        if self._hooks is not None:
            self._hooks.pop(self._number, None)
            epoch.move()
            self._hooks = None

    def __enter__(self) -> HookHandle:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.detach()
