"""Checkpoints of recurrent models, with weights unpacked by gate, so that fused and single cells read each other's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autohybrid.rnn.base import BaseRNNCell
from autohybrid.training.checkpoint import load_checkpoint, save_checkpoint

Cells = BaseRNNCell | Sequence[BaseRNNCell]


def _listed(cells: Cells) -> Sequence[BaseRNNCell]:
    return [cells] if isinstance(cells, BaseRNNCell) else cells


def save_rnn_checkpoint(cells: Cells, prefix: str, epoch: int, symbol: Any, arg_params: Any, aux_params: Any) -> None:
    """`mx.model.save_checkpoint` with unpacked weights."""
    for cell in _listed(cells):
        arg_params = cell.unpack_weights(arg_params)
    save_checkpoint(prefix, epoch, symbol, arg_params, aux_params)


def load_rnn_checkpoint(cells: Cells, prefix: str, epoch: int) -> tuple[Any, Any, Any]:
    """`mx.model.load_checkpoint` of unpacked weights, packed for `cells`."""
    symbol, arguments, states = load_checkpoint(prefix, epoch)
    for cell in _listed(cells):
        arguments = cell.pack_weights(arguments)
    return symbol, arguments, states


def do_rnn_checkpoint(cells: Cells, prefix: str, period: int = 1) -> Callable[..., None]:
    """At the end of every `period` epochs: `save_rnn_checkpoint`."""
    every = max(1, int(period))

    def save(iter_no: int, sym: Any = None, arg: Any = None, aux: Any = None) -> None:
        if (iter_no + 1) % every == 0:
            save_rnn_checkpoint(cells, prefix, iter_no + 1, sym, arg, aux)

    return save
