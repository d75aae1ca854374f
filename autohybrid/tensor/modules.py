"""Fills the public namespaces (`nd`, `nd.contrib`, `sym.linalg`...) from the records, one function on first use."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any

from autohybrid.tensor.frontend import Dispatch, make_function
from autohybrid.tensor.namespaces import find_public, public_names


def lazy_namespace(
    module: dict[str, Any], namespace: str, shown: str, dispatch: Dispatch
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` for the module whose globals are `module`; `shown` is its name in messages."""

    def get(name: str) -> Any:
        found = find_public(namespace, name)
        if found is None:
            close = difflib.get_close_matches(name, [*public_names()[namespace], *module], n=1)
            hint = f"; did you mean `{close[0]}`?" if close else ""
            raise AttributeError(f"module '{shown}' has no attribute '{name}'{hint}")
        function = make_function(*found, dispatch)
        function.__module__ = shown
        module[name] = function
        return function

    def names() -> list[str]:
        return sorted({*module, *public_names()[namespace]})

    return get, names
