"""`mx.executor_manager`: how batches are shared among devices. Training itself is `mx.mod.Module`'s affair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autohybrid.module.executor_group import DataParallelExecutorGroup

__all__ = ["DataParallelExecutorGroup"]


def _split_input_slice(batch_size: int, work_load_list: Sequence[float]) -> list[slice]:
    """The part of a batch for each device, in proportion to the loads; the last takes what rounding leaves.

    Raises ValueError when a device gets nothing.
    """
    total = sum(work_load_list)
    sizes = [round(load * batch_size / total) for load in work_load_list]
    sizes[-1] += max(batch_size - sum(sizes), 0)
    slices, end = [], 0
    for size in sizes:
        begin, end = min(end, batch_size), min(end + size, batch_size)
        if begin >= end:
            raise ValueError(f"a batch of {batch_size} is too small for {len(sizes)} devices")
        slices.append(slice(begin, end))
    return slices


def _check_arguments(symbol: Any) -> None:
    """Raises ValueError when two arguments or two states of a symbol have one name."""
    for kind, names in (("argument", symbol.list_arguments()), ("auxiliary param", symbol.list_auxiliary_states())):
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise ValueError(f'Find duplicated {kind} name "{twice[0]}"; name the weights differently: {names}')
