"""`mx.kvstore` (`mx.kv`): parameters by key, added up over the devices of this process."""

from __future__ import annotations

from autohybrid.errors import MXNetError
from autohybrid.training.kvstore.base import KVStoreBase
from autohybrid.training.kvstore.local import KVStore

__all__ = ["KVStore", "KVStoreBase", "create"]

_LOCAL = ("local", "local_update_cpu", "local_allreduce_cpu", "device", "local_allreduce_device")


def create(name: str = "local") -> KVStoreBase:
    """A store by name: 'local', 'device', or the name of a registered class.

    Raises MXNetError for an unknown name and for the distributed stores, which autohybrid does not have.
    """
    if not isinstance(name, str):
        raise TypeError(f"the name of a key-value store must be text, not {type(name).__name__}")
    name = name.lower()
    if name in KVStoreBase.kv_registry:
        return KVStoreBase.kv_registry[name]()
    if name in _LOCAL:
        return KVStore(name)
    if name.startswith(("dist", "nccl", "p3", "horovod", "byteps")):
        raise MXNetError(
            f"the key-value store {name!r} is for several machines or NCCL, which autohybrid does not do; use 'device'"
        )
    raise MXNetError(
        f"there is no key-value store {name!r}; known are {', '.join((*_LOCAL, *KVStoreBase.kv_registry))}"
    )
