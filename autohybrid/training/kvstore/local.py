"""KVStore: arrays by key in this process, added up over devices and optionally updated by an optimizer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from autohybrid import ndarray as nd
from autohybrid.errors import MXNetError
from autohybrid.files import write_atomically
from autohybrid.ndarray import NDArray
from autohybrid.optim.optimizer import Optimizer, get_updater
from autohybrid.tensor import autograd
from autohybrid.training.kvstore.base import KVStoreBase, is_known_capability

Key = int | str


class KVStore(KVStoreBase):
    """The store behind `mx.kv.create('local')` and `'device'`: one process, any number of devices.

    Keys are ints or text, one kind in a store. A value is an array, or a list with one for each device; where `key` is
    a list, `value` holds one such entry for each key.
    """

    def __init__(self, kind: str = "local") -> None:
        self._kind = kind
        self._stored: dict[Key, NDArray] = {}
        self._key_type: type | None = None
        self._updater: Any = None

    @property
    def type(self) -> str:
        return self._kind

    @property
    def rank(self) -> int:
        return 0

    @property
    def num_workers(self) -> int:
        return 1

    def is_capable(self, capability: str) -> bool:
        return is_known_capability(capability)

    # -- values ------------------------------------------------------------------------------------------------------
    def init(self, key: Any, value: Any) -> None:
        """Set the first value of each key. Raises MXNetError for a key that is set already."""
        for name, arrays in self._grouped(key, value):
            if name in self._stored:
                raise MXNetError(f"key {name!r} of the key-value store is initialized already")
            self._stored[name] = arrays[0].copy()

    def push(self, key: Any, value: Any, priority: int = 0) -> None:
        """Add up each key's arrays; the updater combines the sum with the stored array, else the sum replaces it."""
        for name, arrays in self._grouped(key, value):
            stored = self._get(name)
            with autograd.pause(train_mode=autograd.is_training()):
                total = _sum(arrays)
                if self._updater is None:
                    self._stored[name] = total if total.stype == stored.stype else total.tostype(stored.stype)
                else:
                    self._updater(name, total, stored)

    def pull(self, key: Any, out: Any = None, priority: int = 0, ignore_sparse: bool = True) -> None:
        """Copy each key's array to `out`. Outputs that are not dense are left alone, unless `ignore_sparse=False`."""
        if out is None:
            raise AssertionError("pull needs `out`, the array or arrays to write to")
        for name, targets in self._grouped(key, out):
            stored = self._get(name)
            if ignore_sparse and stored.stype != "default":
                continue
            for target in targets:
                if not ignore_sparse or target.stype == "default":
                    _write(target, stored)

    def pushpull(self, key: Any, value: Any, out: Any = None, priority: int = 0) -> None:
        self.push(key, value, priority)
        self.pull(key, value if out is None else out, priority)

    def broadcast(self, key: Any, value: Any, out: Any, priority: int = 0) -> None:
        self.init(key, value)
        self.pull(key, out, priority)

    def row_sparse_pull(self, key: Any, out: Any = None, priority: int = 0, row_ids: Any = None) -> None:
        """Copy the rows `row_ids` of each key's array to row_sparse outputs; other rows become zero.

        Raises MXNetError for outputs that are not row_sparse.
        """
        if out is None or row_ids is None:
            raise AssertionError("row_sparse_pull needs `out` and `row_ids`")
        rows = [row_ids] if isinstance(row_ids, NDArray) else row_ids
        if isinstance(out, list) and len(rows) == 1 and isinstance(rows[0], NDArray):
            rows = rows * len(out)
        listed = [rows] if not isinstance(key, (list, tuple)) else rows
        for (name, targets), ids in zip(self._grouped(key, out), listed):
            stored = self._get(name)
            for target, wanted in zip(targets, [ids] * len(targets) if isinstance(ids, NDArray) else ids):
                if target.stype != "row_sparse":
                    raise MXNetError(
                        f"row_sparse_pull needs row_sparse outputs, and one for key {name!r} is {target.stype}"
                    )
                source = stored.tostype("row_sparse").as_in_context(target.context)
                distinct = nd.array(sorted(set(wanted.asnumpy().ravel().astype("int64"))), target.context, "int64")
                _write(target, nd.sparse.retain(source, distinct))

    def _get(self, key: Key) -> NDArray:
        if key not in self._stored:
            raise MXNetError(f"key {key!r} of the key-value store was not initialized; call `init` first")
        return self._stored[key]

    def _grouped(self, key: Any, value: Any) -> Iterator[tuple[Key, list[NDArray]]]:
        """(key, its arrays) in order; a repeated key collects the arrays of all its places."""
        keys = list(key) if isinstance(key, (list, tuple)) else [key]
        values = list(value) if isinstance(key, (list, tuple)) else [value]
        if len(keys) != len(values):
            raise AssertionError(f"{len(keys)} keys, but {len(values)} values")
        groups: dict[Key, list[NDArray]] = {}
        for name, entry in zip(keys, values):
            self._check_key(name)
            groups.setdefault(name, []).extend([entry] if isinstance(entry, NDArray) else entry)
        return iter(groups.items())

    def _check_key(self, key: Any) -> None:
        if not isinstance(key, (int, str)):
            raise AssertionError(f"a key must be an int or text, not {type(key).__name__}")
        kind = str if isinstance(key, str) else int
        if self._key_type not in (None, kind):
            raise MXNetError(f"the keys of this store are {self._key_type.__name__}, and {key!r} is not")
        self._key_type = kind

    # -- the optimizer -----------------------------------------------------------------------------------------------
    def set_optimizer(self, optimizer: Optimizer) -> None:
        self._set_updater(get_updater(optimizer))

    def set_updater(self, updater: Callable[[Key, NDArray, NDArray], None]) -> None:
        """Combine what is pushed with what is stored by `updater(key, pushed, stored)`, which changes `stored`."""
        self._updater = updater

    _set_updater = set_updater

    def save_optimizer_states(self, fname: str, dump_optimizer: bool = False) -> None:
        write_atomically(fname, self._require_updater("save").get_states(dump_optimizer))

    def load_optimizer_states(self, fname: str) -> None:
        self._require_updater("load").set_states(Path(fname).read_bytes())

    def _require_updater(self, verb: str) -> Any:
        if self._updater is None:
            raise AssertionError(f"there are no optimizer states to {verb}: call `set_optimizer` first")
        return self._updater

    def set_gradient_compression(self, compression_params: dict[str, Any]) -> None:
        """Refused: compression serves slow networks, and this store is within one process."""
        raise MXNetError(
            f"gradient compression ({compression_params}) is not offered: this store is within one process, "
            "where it would only lose precision; leave out compression_params"
        )


def _sum(arrays: list[NDArray]) -> NDArray:
    """The sum of the devices' arrays, on the device of the first; fresh."""
    first = arrays[0].context
    moved = [array.as_in_context(first) for array in arrays]
    total: NDArray = moved[0].copy() if len(moved) == 1 else nd.add_n(*moved)
    return total


def _write(target: NDArray, stored: NDArray) -> None:
    source = stored if target.stype == stored.stype else stored.tostype(target.stype)
    with autograd.pause(train_mode=autograd.is_training()):  # values come and go, whatever is being recorded
        source.as_in_context(target.context).astype(target.dtype, copy=False).copyto(target)
