"""`import mxnet` without MXNet: `autohybrid.compat.install()` lets it, and every submodule, resolve to autohybrid.

Nothing is active before `install()` is called. Modules are the one implementation under a second name, not copies.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from autohybrid.compat.absent import explain_absent_names, explain_absent_path
from autohybrid.compat.legacy_numpy import remove_names, restore_names
from autohybrid.compat.paths import find_module
from autohybrid.compat.private_names import add_private_names
from autohybrid.gluon.hybridize_options import set_default_fallback

__all__ = ["install", "uninstall"]
_ROOT = "mxnet"


class _AliasLoader(Loader):
    """Hands out a module that exists under its own name."""

    def __init__(self, target: str) -> None:
        self.target = target

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self.target)
        add_private_names(module)
        explain_absent_names(module)
        self.own_spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        # The import system has just put the alias's spec on the module; relative imports inside it need its own.
        module.__spec__ = self.own_spec


class _AliasFinder(MetaPathFinder):
    """Finds `mxnet` and `mxnet.*`."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != _ROOT and not fullname.startswith(f"{_ROOT}."):
            return None
        found = find_module(fullname[len(_ROOT) + 1 :])
        if found is None:
            explain_absent_path(fullname[len(_ROOT) + 1 :])
            return None
        return ModuleSpec(fullname, _AliasLoader(found), is_package=True)


_finder = _AliasFinder()
#: The names that `install` gave back to NumPy.
_restored: set[str] = set()


def install(numpy_names: bool = True) -> None:
    """Let `import mxnet` mean autohybrid from now on, in this process.

    Code of MXNet's time uses names that NumPy has dropped since (`np.float`, `np.asscalar`); they are put back on
    `numpy` for the whole process, unless `numpy_names` is False.
    Code written for MXNet is to run as it is, so a block that cannot be a graph then runs imperatively with a
    HybridizeWarning, where autohybrid under its own name raises HybridizeError (`hybridize(fallback=False)`).
    Raises ImportError when a real MXNet was imported already: two implementations in one process cannot be mixed.
    """
    loaded = sys.modules.get(_ROOT)
    if loaded is not None and loaded is not sys.modules.get(find_module("") or ""):
        raise ImportError(
            "a real `mxnet` is already imported in this process; call autohybrid.compat.install() before anything "
            "imports mxnet"
        )
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
    set_default_fallback(True)
    if numpy_names:
        _restored.update(restore_names())


def uninstall() -> None:
    """Undo `install()`, also NumPy's names; modules that were imported stay what they are."""
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)
    set_default_fallback(False)
    remove_names(_restored)
    _restored.clear()
    for name in [n for n in sys.modules if n == _ROOT or n.startswith(f"{_ROOT}.")]:
        del sys.modules[name]
