"""Optimizer states as bytes: pickles that MXNet reads and writes too, read without running anything they name.

Only arrays, plain Python values, NumPy scalars and the classes of optimizers and schedules can be in such a file.
"""

from __future__ import annotations

import io
import pickle
import pickletools
import sys
from typing import Any, ClassVar

import numpy as np

from autohybrid.errors import MXNetError
from autohybrid.ndarray import NDArray
from autohybrid.optim import lr_scheduler
from autohybrid.optim.optimizer.base import Optimizer

_PLAIN = {
    ("builtins", name): value
    for name, value in {"set": set, "frozenset": frozenset, "complex": complex, "bytearray": bytearray}.items()
}
#: What pickled NumPy scalars name (a learning rate may be one). NumPy 2 moved the function; either file is read.
_NUMPY = {
    ("numpy", "dtype"): np.dtype,
    **{
        (module, "scalar"): np.float64(0).__reduce__()[0]
        for module in ("numpy.core.multiarray", "numpy._core.multiarray")
    },
}
_SCHEDULES = "mxnet.lr_scheduler"
_OPTIMIZERS = "mxnet.optimizer.optimizer"
_FROM_CONTRIB = "mxnet.optimizer.contrib"
_ARRAYS = {
    "NDArray": "mxnet.ndarray.ndarray",
    "RowSparseNDArray": "mxnet.ndarray.sparse",
    "CSRNDArray": "mxnet.ndarray.sparse",
}


class _StateReader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _PLAIN:
            return _PLAIN[module, name]
        if module == "_codecs" and name == "encode":
            return _latin1_bytes
        if module == "collections" and name == "OrderedDict":
            return dict
        if (module, name) in _NUMPY:
            return _NUMPY[module, name]
        found = _own_class(module, name)
        if found is None:
            raise MXNetError(
                f"the optimizer states name {module}.{name}, which is none of arrays, plain values, registered "
                "optimizers and learning-rate schedules; import the module that defines your optimizer first"
            )
        return found


class _StateWriter(pickle._Pickler):  # the one in Python: its `save_global` can be told other names
    """Names autohybrid's classes as MXNet does, so that MXNet finds its own ones under these names."""

    def save_global(self, obj: Any, name: str | None = None) -> None:
        place = _place_in_mxnet(obj)
        if place is None:
            super().save_global(obj, name)  # type: ignore[misc]
            return
        self.save(place)  # type: ignore[attr-defined]
        self.save(obj.__name__)  # type: ignore[attr-defined]
        self.write(pickle.STACK_GLOBAL)  # type: ignore[attr-defined]
        self.memoize(obj)  # type: ignore[attr-defined]

    dispatch: ClassVar[Any] = {**pickle._Pickler.dispatch, type: save_global}


def _place_in_mxnet(obj: Any) -> str | None:
    """The module in which MXNet has this class; None where it has none."""
    if not isinstance(obj, type) or not obj.__module__.startswith("autohybrid."):
        return None
    if issubclass(obj, NDArray):
        return _ARRAYS.get(obj.__name__)
    if issubclass(obj, lr_scheduler.LRScheduler):
        return _SCHEDULES
    if issubclass(obj, Optimizer):
        return _FROM_CONTRIB if obj.__module__.endswith(".contrib") else _OPTIMIZERS
    return None


def _latin1_bytes(text: str, encoding: str) -> bytes:
    """What protocol 2 pickles of bytes call; `encoding` is always latin1 there."""
    return text.encode("latin1")


def _check_sizes(data: bytes) -> None:
    """Raise ValueError for lengths and memo numbers that the data cannot bear, before memory is taken for them."""
    for count, (opcode, argument, _) in enumerate(pickletools.genops(data)):
        if opcode.name in ("PUT", "BINPUT", "LONG_BINPUT") and (argument or 0) > count:
            raise ValueError(f"memo number {argument} after {count} operations")


def _own_class(module: str, name: str) -> type | None:
    """An array, optimizer or schedule class, also under the module names that MXNet has for it."""
    if module.partition(".")[0] == "mxnet":
        return _class_of_mxnet(module, name)
    found = getattr(sys.modules.get(module), name, None)
    if isinstance(found, type) and issubclass(found, (NDArray, Optimizer, lr_scheduler.LRScheduler)):
        return found
    return None


def _class_of_mxnet(module: str, name: str) -> type | None:
    if _ARRAYS.get(name) == module:
        from autohybrid.ndarray import sparse

        return NDArray if name == "NDArray" else getattr(sparse, name)
    if module.startswith("mxnet.optimizer"):
        return Optimizer.opt_registry.get(name.lower())
    found = getattr(lr_scheduler, name, None) if module == _SCHEDULES else None
    return found if isinstance(found, type) and issubclass(found, lr_scheduler.LRScheduler) else None


def dump_states(states: Any) -> bytes:
    """`states` (a dict of index -> state, or that and the optimizer) as bytes."""
    stream = io.BytesIO()
    _StateWriter(stream, 4).dump(states)
    return stream.getvalue()


def load_states(data: bytes) -> Any:
    """The states in `data`. Raises MXNetError when it is damaged or names anything but states."""
    try:
        _check_sizes(data)
        return _StateReader(io.BytesIO(data)).load()
    except MXNetError:
        raise
    except (
        pickle.UnpicklingError, EOFError, ValueError, KeyError, IndexError, AttributeError, TypeError, ImportError,
        OverflowError, MemoryError, AssertionError,
    ) as error:  # fmt: skip
        raise MXNetError(f"these are not optimizer states, or the file is damaged: {error}") from error
