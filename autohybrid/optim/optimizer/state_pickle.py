"""Optimizer states as bytes (pickles, as MXNet writes them), read back without running anything they name.

Only arrays, plain Python values, NumPy scalars and the classes of optimizers and schedules can be in such a file.
"""

from __future__ import annotations

import io
import pickle
import pickletools
import sys
from typing import Any

import numpy as np

from autohybrid.errors import MXNetError
from autohybrid.ndarray import NDArray
from autohybrid.optim.lr_scheduler import LRScheduler
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
        return _class_of_mxnet(name)
    found = getattr(sys.modules.get(module), name, None)
    if isinstance(found, type) and issubclass(found, (NDArray, Optimizer, LRScheduler)):
        return found
    return None


def _class_of_mxnet(name: str) -> type | None:
    if name == "NDArray":
        return NDArray
    if name.lower() in Optimizer.opt_registry:
        return Optimizer.opt_registry[name.lower()]
    from autohybrid.optim import lr_scheduler

    found = getattr(lr_scheduler, name, None)
    return found if isinstance(found, type) and issubclass(found, LRScheduler) else None


def dump_states(states: Any) -> bytes:
    """`states` (a dict of index -> state, or that and the optimizer) as bytes."""
    return pickle.dumps(states)


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
