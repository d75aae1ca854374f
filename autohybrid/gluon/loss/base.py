"""Loss: the base of the losses, with what they share: weights, the mean over everything but the batch axis.

A loss is a HybridBlock without parameters: `loss(pred, label, sample_weight)` gives one value for each sample.
"""

from __future__ import annotations

import numbers
from typing import Any

from autohybrid import ndarray
from autohybrid.gluon.hybrid_block import HybridBlock
from autohybrid.numpy_semantics import is_np_array


class Loss(HybridBlock):
    """Base of all losses. `weight`: a number that multiplies the loss; `batch_axis`: the axis of the samples."""

    def __init__(self, weight: float | None, batch_axis: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._weight = weight
        self._batch_axis = batch_axis

    def __repr__(self) -> str:
        return f"{type(self).__name__}(batch_axis={self._batch_axis}, w={self._weight})"

    def hybrid_forward(self, F: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must define hybrid_forward(self, F, pred, label)")


def weighted(F: Any, loss: Any, weight: float | None = None, sample_weight: Any = None) -> Any:
    """`loss` times `sample_weight` (an array that broadcasts to it) and `weight` (a number), where they are given."""
    if sample_weight is not None:
        loss = loss * sample_weight if is_np_array() else F.broadcast_mul(loss, sample_weight)
    if weight is not None:
        if not isinstance(weight, numbers.Number):
            raise AssertionError(f"the weight of a loss must be a number, not {type(weight).__name__}")
        loss = loss * weight
    return loss


def like(F: Any, x: Any, y: Any) -> Any:
    """`x` in the shape of `y`: labels of shape (N,) fit predictions of shape (N, 1)."""
    if F is ndarray:
        if x.size != y.size:
            raise ValueError(f"labels of shape {x.shape} do not fit predictions of shape {y.shape}")
        return x.reshape(y.shape)
    return F.npx.reshape_like(x, y) if is_np_array() else F.reshape_like(x, y)


def sample_mean(F: Any, loss: Any, batch_axis: int) -> Any:
    """The mean over all axes but `batch_axis`. In numpy mode the batch axis is the first, as in MXNet."""
    if is_np_array():
        return F.npx.batch_flatten(loss).mean(axis=1)
    return F.mean(loss, axis=batch_axis, exclude=True)
