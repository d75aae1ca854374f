"""Which key-value store a training run uses, and whether the store or the caller updates the parameters."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from typing import Any

from autohybrid.training.kvstore import KVStoreBase, create

#: MXNet 1.9.1: with 'local', parameters of more elements than this are updated by the caller.
_LARGEST_ON_LOCAL_STORE = 16 * 1024 * 1024


def choose_kvstore(kvstore: Any, devices: int, shapes: Iterable[tuple[int, ...]]) -> tuple[KVStoreBase | None, bool]:
    """The store (None for a single device) and whether it updates the parameters. Raises TypeError for other types."""
    on_store = bool(int(os.getenv("MXNET_UPDATE_ON_KVSTORE", "1")))
    if kvstore is None:
        store = None
    elif isinstance(kvstore, KVStoreBase):
        store = kvstore
    elif isinstance(kvstore, str):
        store = None if devices == 1 and "dist" not in kvstore else create(kvstore)
        if kvstore == "local" and max(map(math.prod, shapes), default=0) > _LARGEST_ON_LOCAL_STORE:
            on_store = False
    else:
        raise TypeError(f"kvstore must be a KVStore, text or None, not {type(kvstore).__name__}")
    return store, store is not None and on_store and store.is_capable(KVStoreBase.OPTIMIZER)


def choose_sparse_kvstore(kvstore: Any) -> KVStoreBase:
    """The store for row_sparse parameters, which always live on one. Raises TypeError when there can be none."""
    if isinstance(kvstore, str):
        kvstore = create(kvstore)
    if not isinstance(kvstore, KVStoreBase):
        raise TypeError(f"row_sparse parameters need a kvstore (a KVStore or its name), not {kvstore!r}")
    if not kvstore.is_capable(KVStoreBase.OPTIMIZER):
        raise AssertionError(f"the key-value store {kvstore.type} cannot update row_sparse parameters")
    return kvstore
