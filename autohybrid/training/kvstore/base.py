"""KVStoreBase: what a Trainer needs of a store of parameters, the registry of stores, and a minimal store for tests."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, TypeVar

from autohybrid.ndarray import NDArray

T = TypeVar("T", bound=type)


class KVStoreBase:
    """Base of the stores. A subclass is made available to `create` by `@KVStoreBase.register`."""

    OPTIMIZER = "optimizer"
    kv_registry: ClassVar[dict[str, type[KVStoreBase]]] = {}

    @staticmethod
    def register(klass: T) -> T:
        """Make a store class available to `create` under its name in lower case."""
        name = klass.__name__.lower()
        old = KVStoreBase.kv_registry.get(name)
        if old is not None:
            warnings.warn(
                f"kvstore {klass.__module__}.{klass.__name__} takes the name {name!r} from {old}", stacklevel=2
            )
        KVStoreBase.kv_registry[name] = klass
        return klass

    def broadcast(self, key: Any, value: Any, out: Any, priority: int = 0) -> None:
        """Store the first value and copy it to every array of `out`."""
        raise self._missing("broadcast")

    def pushpull(self, key: Any, value: Any, out: Any = None, priority: int = 0) -> None:
        """Add up `value` over the devices and write the sum to `out` (to `value` itself when it is None)."""
        raise self._missing("pushpull")

    def set_optimizer(self, optimizer: Any) -> None:
        """Let the store update what it holds."""
        raise self._missing("set_optimizer")

    def is_capable(self, capability: str) -> bool:
        """Whether the store can do `capability` ('optimizer': update on the store)."""
        raise self._missing("is_capable")

    def save_optimizer_states(self, fname: str, dump_optimizer: bool = False) -> None:
        """Write the states of the store's optimizer to a file."""
        raise self._missing("save_optimizer_states")

    def load_optimizer_states(self, fname: str) -> None:
        """Read the states of the store's optimizer from a file."""
        raise self._missing("load_optimizer_states")

    @property
    def type(self) -> str:
        """The name the store was created by."""
        raise self._missing("type")

    @property
    def rank(self) -> int:
        """The number of this worker."""
        raise self._missing("rank")

    @property
    def num_workers(self) -> int:
        """How many workers there are."""
        raise self._missing("num_workers")

    def _missing(self, name: str) -> NotImplementedError:
        return NotImplementedError(f"the key-value store {type(self).__name__} does not offer `{name}`")


@KVStoreBase.register
class TestStore(KVStoreBase):
    """Adds and copies, and keeps nothing: for tests of code that takes any store."""

    def broadcast(self, key: Any, value: Any, out: Any, priority: int = 0) -> None:
        for target in out if isinstance(out, list) else [out]:
            target[:] = value

    def pushpull(self, key: Any, value: Any, out: Any = None, priority: int = 0) -> None:
        values = [value] if isinstance(value, NDArray) else value
        first = values[0].context
        total = sum((v.as_in_context(first) for v in values[1:]), values[0])
        targets = values if out is None else out if isinstance(out, list) else [out]
        for target in targets:
            target[:] = total

    @staticmethod
    def is_capable(capability: str) -> bool:
        return not is_known_capability(capability)

    @property
    def type(self) -> str:
        return "teststore"

    @property
    def rank(self) -> int:
        return 0

    @property
    def num_workers(self) -> int:
        return 1


def is_known_capability(capability: str) -> bool:
    """True for 'optimizer'. Raises ValueError for any other capability."""
    if capability.lower() != KVStoreBase.OPTIMIZER:
        raise ValueError(f"unknown capability {capability!r}; the one there is is {KVStoreBase.OPTIMIZER!r}")
    return True
