"""CheckpointHandler: parameters and trainer states on disk, and going on from them."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from autohybrid.gluon.contrib.estimator.events import BatchEnd, EpochEnd, TrainBegin
from autohybrid.gluon.contrib.estimator.metrics import improvement, worst
from autohybrid.optim.metric import EvalMetric

__all__ = ["CheckpointHandler"]


class CheckpointHandler(TrainBegin, BatchEnd, EpochEnd):
    """Saves `<model_prefix>-epoch<E>batch<B>.params` and `.states` into `model_dir`, and the symbol of a hybrid net.

    Every `epoch_period` epochs, every `batch_period` batches; the last `max_checkpoints` are kept. With `save_best`,
    `<model_prefix>-best` holds the best by `monitor` (`mode` as for early stopping). `resume_from_checkpoint` goes on
    from the newest. Raises ValueError for `save_best` without a metric.
    """

    def __init__(
        self,
        model_dir: str,
        model_prefix: str = "model",
        monitor: Any = None,
        verbose: int = 0,
        save_best: bool = False,
        mode: str = "auto",
        epoch_period: int | None = 1,
        batch_period: int | None = None,
        max_checkpoints: int = 5,
        resume_from_checkpoint: bool = False,
    ) -> None:
        if save_best and not isinstance(monitor, EvalMetric):
            raise ValueError("save_best needs one of the estimator's train_metrics or val_metrics as `monitor`")
        Path(model_dir).mkdir(parents=True, exist_ok=True)
        self.monitor = monitor
        self.verbose = verbose
        self.model_dir = model_dir
        self.model_prefix = model_prefix
        self.save_best = save_best
        self.epoch_period = epoch_period
        self.batch_period = batch_period
        self.current_batch = 0
        self.current_epoch = 0
        self.max_checkpoints = max_checkpoints
        self.resume_from_checkpoint = resume_from_checkpoint
        self.saved_checkpoints: list[str] = []
        self.trained_epoch = -1
        self.trained_batch = -1
        self.monitor_op = improvement(mode, monitor) if save_best else None
        self.best = worst(self.monitor_op)

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        self.current_epoch = self.current_batch = 0
        self.best = worst(self.monitor_op)
        if not self.resume_from_checkpoint:
            return
        by_epochs = bool(estimator.max_epoch)
        if bool(self.epoch_period) != by_epochs or bool(self.batch_period) == by_epochs:
            raise AssertionError(
                "to resume, save by what the training is counted in: only epoch_period for epochs, only batch_period "
                "for batches (the other one None)"
            )
        self._resume(estimator)

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        if self.current_batch == 0:
            self._save_symbol(estimator)
        if self.batch_period and (self.current_batch + 1) % self.batch_period == 0:
            self._save_checkpoint(estimator)
        self.current_batch += 1

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        if self.epoch_period and (self.current_epoch + 1) % self.epoch_period == 0:
            self._save_checkpoint(estimator)
        self.current_epoch += 1

    # -- saving --------------------------------------------------------------------------------------------------------
    def _save_checkpoint(self, estimator: Any) -> None:
        epoch, batch = self.current_epoch, self.current_batch
        if self.resume_from_checkpoint:
            epoch += self.trained_epoch + 1
            batch += self.trained_batch + (0 if estimator.max_epoch else 1)
        prefix = f"{self.model_prefix}-epoch{epoch}batch{batch}"
        self._save(estimator, prefix)
        self.saved_checkpoints.append(prefix)
        while len(self.saved_checkpoints) > self.max_checkpoints:
            oldest = self.saved_checkpoints.pop(0)
            for ending in (".params", ".states"):
                Path(self.model_dir, oldest + ending).unlink(missing_ok=True)
        if self.verbose > 0:
            estimator.logger.info(
                "[Epoch %d] CheckpointHandler: trained total %d batches, saving model at %s with prefix: %s",
                self.current_epoch, self.current_batch + 1, self.model_dir, prefix,
            )  # fmt: skip
        if self.monitor_op is not None:
            self._save_if_best(estimator)

    def _save_if_best(self, estimator: Any) -> None:
        name, value = self.monitor.get()
        if np.isnan(value):
            warnings.warn(
                f"{name} was not updated; monitor one of the estimator's metrics", RuntimeWarning, stacklevel=4
            )
            return
        improved = self.monitor_op is not None and bool(self.monitor_op(value, self.best))
        if self.verbose > 0:
            verb = "improved" if improved else "did not improve"
            estimator.logger.info(
                "[Epoch %d] CheckpointHandler: %s %s from %0.5f to %0.5f",
                self.current_epoch,
                name,
                verb,
                self.best,
                value,
            )
        if improved:
            self._save(estimator, self.model_prefix + "-best")
            self.best = value

    def _save(self, estimator: Any, prefix: str) -> None:
        estimator.net.save_parameters(str(Path(self.model_dir, prefix + ".params")))
        estimator.trainer.save_states(str(Path(self.model_dir, prefix + ".states")))

    def _save_symbol(self, estimator: Any) -> None:
        path = Path(self.model_dir, f"{self.model_prefix}-symbol.json")
        if getattr(estimator.net, "_in_format", None) is not None:
            estimator.net._exported_symbol().save(str(path))
        else:
            estimator.logger.info("the net is not a hybridized HybridBlock, so its symbol is not saved as %s", path)

    # -- going on ------------------------------------------------------------------------------------------------------
    def _resume(self, estimator: Any) -> None:
        self.trained_epoch, self.trained_batch = self._newest()
        if self.trained_epoch == -1:
            estimator.logger.info("CheckpointHandler: no checkpoint found, training from scratch")
            return
        for limit, trained in (("max_epoch", self.trained_epoch), ("max_batch", self.trained_batch)):
            wanted = getattr(estimator, limit)
            if not wanted:
                continue
            if trained >= wanted - 1:
                raise ValueError(
                    f"the checkpoint found has reached {limit} = {wanted}; resume_from_checkpoint=False starts anew"
                )
            setattr(estimator, limit, wanted - trained - 1)
        prefix = Path(self.model_dir, f"{self.model_prefix}-epoch{self.trained_epoch}batch{self.trained_batch}")
        estimator.net.load_parameters(f"{prefix}.params", ctx=estimator.context)
        estimator.trainer.load_states(f"{prefix}.states")
        estimator.logger.warning(
            "CheckpointHandler: resumed from epoch %d batch %d", self.trained_epoch, self.trained_batch
        )

    def _newest(self) -> tuple[int, int]:
        """The largest epoch with a checkpoint, and its largest batch; -1 without any."""
        pattern = re.compile(re.escape(self.model_prefix) + r"-epoch(\d+)batch(\d+)\.params\Z")
        found = [(int(m[1]), int(m[2])) for p in Path(self.model_dir).iterdir() if (m := pattern.match(p.name))]
        self.saved_checkpoints = [f"{self.model_prefix}-epoch{e}batch{b}" for e, b in sorted(found)]
        return max(found, default=(-1, -1))
