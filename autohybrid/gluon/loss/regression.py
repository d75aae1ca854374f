"""Losses of predicted numbers: L2, L1, Huber, Poisson."""

from __future__ import annotations

import math
from typing import Any

from autohybrid.gluon.loss.base import Loss, like, sample_mean, weighted
from autohybrid.numpy_semantics import is_np_array


class L2Loss(Loss):
    """`weight / 2 * (label - pred) ** 2`, the mean for each sample.

    pred, label: any shape with the same number of elements. sample_weight: broadcasts to them, e.g. (N, 1).
    Result: (N,).
    """

    def __init__(self, weight: float = 1.0, batch_axis: int = 0, **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._half = weight / 2

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        label = like(F, label, pred)
        loss = F.np.square(label - pred) if is_np_array() else F.square(label - pred)
        loss = weighted(F, loss, self._half, sample_weight)
        return sample_mean(F, loss, self._batch_axis)


class L1Loss(Loss):
    """`|label - pred|`, the mean for each sample. Shapes as for L2Loss."""

    def __init__(self, weight: float | None = None, batch_axis: int = 0, **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        label = like(F, label, pred)
        loss = F.np.abs(label - pred) if is_np_array() else F.abs(label - pred)
        loss = weighted(F, loss, self._weight, sample_weight)
        return sample_mean(F, loss, self._batch_axis)


class HuberLoss(Loss):
    """Squared up to a distance of `rho`, linear beyond: `d ** 2 / (2 rho)` or `d - rho / 2`. Shapes as for L2Loss."""

    def __init__(self, rho: float = 1, weight: float | None = None, batch_axis: int = 0, **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._rho = rho

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        label = like(F, label, pred)
        if is_np_array():
            distance = F.np.abs(label - pred)
            squared = (0.5 / self._rho) * F.np.square(distance)
            loss = F.np.where(distance > self._rho, distance - 0.5 * self._rho, squared)
        else:
            distance = F.abs(label - pred)
            squared = (0.5 / self._rho) * F.square(distance)
            loss = F.where(distance > self._rho, distance - 0.5 * self._rho, squared)
        loss = weighted(F, loss, self._weight, sample_weight)
        return sample_mean(F, loss, self._batch_axis)


class PoissonNLLLoss(Loss):
    """The negative log likelihood of counts, `exp(pred) - target * pred` for logits: one mean over everything.

    `compute_full` adds Stirling's approximation of `log(target!)` where the target is above 1. (MXNet raises for it
    while recording, and gives nan for a target of 0; here both work.)
    """

    def __init__(
        self,
        weight: float | None = None,
        from_logits: bool = True,
        batch_axis: int = 0,
        compute_full: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._from_logits = from_logits
        self._compute_full = compute_full

    def hybrid_forward(self, F: Any, pred: Any, target: Any, sample_weight: Any = None, epsilon: float = 1e-08) -> Any:
        target = like(F, target, pred)
        math_functions = F.np if is_np_array() else F
        if self._from_logits:
            loss = math_functions.exp(pred) - target * pred
        else:
            loss = pred - target * math_functions.log(pred + epsilon)
        if self._compute_full:
            counted = math_functions.where(target > 1, target, math_functions.ones_like(target))
            stirling = (
                counted * math_functions.log(counted) - counted + 0.5 * math_functions.log(counted * (2 * math.pi))
            )
            loss = loss + stirling * (target > 1)
        loss = weighted(F, loss, self._weight, sample_weight)
        return loss.mean()
