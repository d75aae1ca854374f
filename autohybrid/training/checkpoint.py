"""`mx.model`: checkpoints of a symbol with its parameters (`prefix-symbol.json`, `prefix-0001.params`)."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, NamedTuple

from autohybrid import ndarray as nd
from autohybrid import symbol as sym
from autohybrid.context import cpu
from autohybrid.errors import MXNetError
from autohybrid.ndarray import NDArray

__all__ = ["BatchEndParam", "load_checkpoint", "load_params", "save_checkpoint", "save_params_file", "split_params"]

Params = dict[str, NDArray]


class BatchEndParam(NamedTuple):
    """What a callback at the end of a batch gets."""

    epoch: int
    nbatch: int
    eval_metric: Any
    locals: Any


def params_file(prefix: str, epoch: int) -> str:
    """The name of a checkpoint's parameter file."""
    return f"{prefix}-{epoch:04d}.params"


def save_params_file(fname: str, arg_params: Mapping[str, NDArray], aux_params: Mapping[str, NDArray]) -> None:
    """Write arguments and auxiliary states to one `.params` file, as `arg:` and `aux:` entries."""
    arrays = {f"arg:{name}": array.as_in_context(cpu()) for name, array in arg_params.items()}
    arrays.update({f"aux:{name}": array.as_in_context(cpu()) for name, array in aux_params.items()})
    nd.save(fname, arrays)


def split_params(fname: str) -> tuple[Params, Params]:
    """Arguments and auxiliary states of a `.params` file. Raises MXNetError when it holds anything else."""
    loaded = nd.load(fname)
    groups: dict[str, Params] = {"arg": {}, "aux": {}}
    for key, array in loaded.items() if isinstance(loaded, dict) else ():
        kind, _, name = key.partition(":")
        if kind not in groups or not name:
            raise MXNetError(f"{fname} is not a checkpoint: its entry {key!r} is neither `arg:...` nor `aux:...`")
        groups[kind][name] = array
    if not any(groups.values()):
        logging.warning("the parameter file %s is empty", fname)
    return groups["arg"], groups["aux"]


def save_checkpoint(
    prefix: str,
    epoch: int,
    symbol: Any,
    arg_params: Mapping[str, NDArray],
    aux_params: Mapping[str, NDArray],
    remove_amp_cast: bool = True,
) -> None:
    """Write `prefix-symbol.json` (unless `symbol` is None) and `prefix-<epoch>.params`."""
    if symbol is not None:
        symbol.save(f"{prefix}-symbol.json", remove_amp_cast=remove_amp_cast)
    save_params_file(params_file(prefix, epoch), arg_params, aux_params)
    logging.info('saved checkpoint to "%s"', params_file(prefix, epoch))


def load_params(prefix: str, epoch: int) -> tuple[Params, Params]:
    """Arguments and auxiliary states of a checkpoint."""
    return split_params(params_file(prefix, epoch))


def load_checkpoint(prefix: str, epoch: int) -> tuple[Any, Params, Params]:
    """The symbol, the arguments and the auxiliary states of a checkpoint."""
    return (sym.load(f"{prefix}-symbol.json"), *load_params(prefix, epoch))
