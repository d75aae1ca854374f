"""What `import mxnet` gives after `compat.install()`: autohybrid's names, and the version that MXNet code asks for."""

from __future__ import annotations

import multiprocessing.pool  # noqa: F401 - MXNet loads it, and packages use it without importing it themselves
from types import ModuleType
from typing import Any

import autohybrid
from autohybrid.compat.absent import explain_absent_names
from autohybrid.compat.private_names import add_private_names
from autohybrid.config import closest

#: Packages compare it before they import anything: autohybrid offers the interface of this version.
__version__ = "1.9.1"


def __getattr__(name: str) -> Any:
    try:
        value = getattr(autohybrid, name)
    except AttributeError as error:
        hint = closest(name, [known for known in __dir__() if not known.startswith("_")])
        raise AttributeError(str(error).replace("'autohybrid'", "'mxnet' (autohybrid)") + hint, name=name) from None
    if isinstance(value, ModuleType):
        add_private_names(value)
        explain_absent_names(value)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(autohybrid)})
