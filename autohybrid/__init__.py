"""autohybrid: Gluon without MXNet. `import autohybrid as mx` is the whole migration.

Everything is imported on first use, so that the command line and the linter never load NumPy.
"""

from __future__ import annotations

import importlib
import os
import sys
import types
from typing import Any

from autohybrid.version import __version__

#: Public name -> (module, attribute in it or None for the module itself).
_PUBLIC: dict[str, tuple[str, str | None]] = {
    "nd": ("autohybrid.ndarray", None),
    "ndarray": ("autohybrid.ndarray", None),
    "sym": ("autohybrid.symbol", None),
    "symbol": ("autohybrid.symbol", None),
    "autograd": ("autohybrid.compat.autograd", None),
    "gluon": ("autohybrid.gluon", None),
    "random": ("autohybrid.tensor.random", None),
    "init": ("autohybrid.optim.initializer", None),
    "initializer": ("autohybrid.optim.initializer", None),
    "np": ("autohybrid.numpy", None),
    "npx": ("autohybrid.numpy_extension", None),
    "operator": ("autohybrid.tensor.custom", None),
    "optimizer": ("autohybrid.optim.optimizer", None),
    "lr_scheduler": ("autohybrid.optim.lr_scheduler", None),
    "metric": ("autohybrid.optim.metric", None),
    "callback": ("autohybrid.training.callback", None),
    "io": ("autohybrid.training.io", None),
    "mod": ("autohybrid.module", None),
    "model": ("autohybrid.training.checkpoint", None),
    "mon": ("autohybrid.training.monitor", None),
    "monitor": ("autohybrid.training.monitor", None),
    "viz": ("autohybrid.training.visualization", None),
    "visualization": ("autohybrid.training.visualization", None),
    "onnx": ("autohybrid.contrib.onnx", None),
    "recordio": ("autohybrid.training.recordio", None),
    "test_utils": ("autohybrid.training.testing", None),
    "kvstore": ("autohybrid.training.kvstore", None),
    "kv": ("autohybrid.training.kvstore", None),
    "img": ("autohybrid.image", None),
    "rnd": ("autohybrid.tensor.random", None),
    "executor": ("autohybrid.graph.executor_api", None),
    "error": ("autohybrid.compat.error", None),
    "executor_manager": ("autohybrid.compat.executor_manager", None),
    "libinfo": ("autohybrid.compat.libinfo", None),
    "library": ("autohybrid.compat.library", None),
    "log": ("autohybrid.compat.log", None),
    "name": ("autohybrid.naming", None),
    "attribute": ("autohybrid.naming", None),
    "context": ("autohybrid.context", None),
    "AttrScope": ("autohybrid.naming", "AttrScope"),
    "Context": ("autohybrid.context", "Context"),
    "check": ("autohybrid.transform.checking", "check"),
    "cpu": ("autohybrid.context", "cpu"),
    "cpu_pinned": ("autohybrid.context", "cpu_pinned"),
    "gpu": ("autohybrid.context", "gpu"),
    "current_context": ("autohybrid.context", "current_context"),
    "is_np_array": ("autohybrid.numpy_semantics", "is_np_array"),
    "is_np_shape": ("autohybrid.numpy_semantics", "is_np_shape"),
    "np_array": ("autohybrid.numpy_semantics", "np_array"),
    "np_shape": ("autohybrid.numpy_semantics", "np_shape"),
    "set_np_shape": ("autohybrid.numpy_semantics", "set_np_shape"),
    "use_np": ("autohybrid.numpy_semantics", "use_np"),
    "use_np_array": ("autohybrid.numpy_semantics", "use_np_array"),
    "use_np_shape": ("autohybrid.numpy_semantics", "use_np_shape"),
    "num_gpus": ("autohybrid.tensor.backend", "num_gpus"),
    "autohybrid": ("autohybrid.gluon.decorator", "autohybrid"),
    "MXNetError": ("autohybrid.errors", "MXNetError"),
    "HybridizeError": ("autohybrid.errors", "HybridizeError"),
    "HybridizeWarning": ("autohybrid.errors", "HybridizeWarning"),
}
__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> Any:
    try:
        module, attribute = _PUBLIC[name]
    except KeyError:
        try:
            return importlib.import_module(f"autohybrid.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"autohybrid.{name}":
                raise
        raise AttributeError(f"module 'autohybrid' has no attribute '{name}'") from None
    value = importlib.import_module(module)
    result = value if attribute is None else getattr(value, attribute)
    globals()[name] = result
    return result


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC})


class _Package(types.ModuleType):
    """Lets the package itself be the decorator: `import autohybrid` and `@autohybrid`."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from autohybrid.gluon.decorator import autohybrid

        return autohybrid(*args, **kwargs)


sys.modules[__name__].__class__ = _Package

if os.environ.get("AUTOHYBRID_LEGACY_NUMPY", "0") not in ("", "0"):
    importlib.import_module("autohybrid.compat.legacy_numpy").restore_names()
