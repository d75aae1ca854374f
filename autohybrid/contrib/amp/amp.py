"""Training in half precision: scaling of the loss. Casting is the model's business (`net.cast('float16')`)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from autohybrid.contrib.amp.loss_scaler import LossScaler
from autohybrid.errors import MXNetError
from autohybrid.gluon.trainer import Trainer

__all__ = ["init", "init_trainer", "scale_loss", "unscale"]

#: Whether operators cast by themselves (never here); models ask for it to choose constants that half precision holds.
_amp_initialized = False


def init(target_dtype: Any = "float16", **lists: Any) -> None:
    """Refused: MXNet changes every operator here to cast its inputs by itself, which autohybrid does not do."""
    raise MXNetError(
        f"amp.init(target_dtype={target_dtype!r}) is not offered: operators do not cast by themselves; cast the model "
        "with `net.cast('float16')`, train with `multi_precision=True`, and use amp.init_trainer and amp.scale_loss"
    )


def init_trainer(optimizer_or_trainer: Any) -> None:
    """Give a Trainer a loss scaler; it skips updates whose gradients overflow. Raises TypeError for anything else."""
    if not isinstance(optimizer_or_trainer, Trainer):
        raise TypeError(f"amp.init_trainer takes a gluon.Trainer, not {type(optimizer_or_trainer).__name__}")
    optimizer_or_trainer._amp_loss_scaler = LossScaler()
    optimizer_or_trainer._amp_original_scale = optimizer_or_trainer._scale


@contextmanager
def scale_loss(loss: Any, optimizer_or_trainer: Trainer) -> Iterator[Any]:
    """The loss (or list of losses) times the scale; the trainer divides its gradients by it. Use inside `record()`."""
    scaler = _scaler_of(optimizer_or_trainer)
    optimizer_or_trainer._scale = optimizer_or_trainer._amp_original_scale / scaler.loss_scale
    yield [each * scaler.loss_scale for each in loss] if isinstance(loss, (list, tuple)) else loss * scaler.loss_scale


def unscale(optimizer_or_trainer: Trainer) -> None:
    """Divide the gradients by the scale now, to be looked at or clipped before `step`."""
    scaler = _scaler_of(optimizer_or_trainer)
    for param in optimizer_or_trainer._params:
        for grad in param.list_grad() if param.grad_req != "null" else ():
            grad[:] = grad / scaler.loss_scale
    optimizer_or_trainer._scale = optimizer_or_trainer._amp_original_scale


def _scaler_of(trainer: Trainer) -> LossScaler:
    scaler = trainer._amp_loss_scaler
    if scaler is None:
        raise MXNetError("this trainer has no loss scaler; call amp.init_trainer(trainer) first")
    return scaler  # type: ignore[no-any-return]
