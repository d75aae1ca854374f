"""Names that published packages import from the private corners of MXNet's modules, and what they get here.

They are put on a module when it is imported under MXNet's name, and nowhere else.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

#: Module of autohybrid -> name that packages look for in it -> module (and attribute) it stands for.
_NAMES: dict[str, dict[str, tuple[str, str | None]]] = {
    "autohybrid.base": {"NDArrayHandle": ("ctypes", "c_void_p")},
    "autohybrid.optim.metric": {"ndarray": ("autohybrid.ndarray", None)},
}


def add_private_names(module: ModuleType) -> None:
    """Give `module` the private names that packages look for in it."""
    for name, (source, attribute) in _NAMES.get(module.__name__, {}).items():
        if name not in vars(module):
            found = import_module(source)
            setattr(module, name, found if attribute is None else getattr(found, attribute))
