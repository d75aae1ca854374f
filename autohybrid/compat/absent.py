"""What MXNet has and autohybrid does not, and what to use in its place: the text of the error.

A name that is asked of a module (`mx.io.ImageDetRecordIter`) raises AttributeError with it.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

#: Module of autohybrid -> name -> what to do.
_ABSENT: dict[str, dict[str, str]] = {
    "autohybrid.training.io": {"ImageDetRecordIter": "use image.ImageDetIter, which reads the same record files"},
}


def explain_absent_names(module: ModuleType) -> None:
    """Make `module` say what exists instead, when it is asked for a name that MXNet's has and it has not."""
    absent = _ABSENT.get(module.__name__)
    if absent is None or "__getattr__" in vars(module):
        return

    def explain(name: str) -> Any:
        remedy = f"; {absent[name]}" if name in absent else ""
        raise AttributeError(f"module '{module.__name__}' has no attribute '{name}'{remedy}", name=name, obj=module)

    vars(module)["__getattr__"] = explain
