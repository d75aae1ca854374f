"""BatchProcessor: forward and backward of one batch, split over the devices."""

from __future__ import annotations

from typing import Any

from autohybrid.gluon.utils import split_and_load
from autohybrid.tensor import autograd

__all__ = ["BatchProcessor"]


class BatchProcessor:
    """A batch is `(data, label)`. Override `fit_batch` and `evaluate_batch` for batches of another form."""

    def _get_data_and_label(self, batch: Any, ctx: Any, batch_axis: int = 0) -> tuple[Any, Any]:
        data, label = batch[0], batch[1]
        return (
            split_and_load(data, ctx_list=ctx, batch_axis=batch_axis),
            split_and_load(label, ctx_list=ctx, batch_axis=batch_axis),
        )

    def evaluate_batch(self, estimator: Any, val_batch: Any, batch_axis: int = 0) -> tuple[Any, Any, Any, Any]:
        """Data, label, prediction and loss of a validation batch, each a list with one entry for each device."""
        data, label = self._get_data_and_label(val_batch, estimator.context, batch_axis)
        pred = [estimator.val_net(x) for x in data]
        loss = [estimator.val_loss(y_hat, y) for y_hat, y in zip(pred, label)]
        return data, label, pred, loss

    def fit_batch(self, estimator: Any, train_batch: Any, batch_axis: int = 0) -> tuple[Any, Any, Any, Any]:
        """The same for a training batch, with the gradients computed."""
        data, label = self._get_data_and_label(train_batch, estimator.context, batch_axis)
        with autograd.record():
            pred = [estimator.net(x) for x in data]
            loss = [estimator.loss(y_hat, y) for y_hat, y in zip(pred, label)]
        for value in loss:
            value.backward()
        return data, label, pred, loss
