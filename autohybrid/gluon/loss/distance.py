"""Losses of embeddings, by how close vectors are: triplet, cosine, smoothed deep metric learning."""

from __future__ import annotations

from typing import Any

from autohybrid.gluon.loss.base import Loss, like, weighted
from autohybrid.gluon.loss.classification import KLDivLoss
from autohybrid.numpy_semantics import is_np_array


class TripletLoss(Loss):
    """`max(0, |positive - pred|**2 - |negative - pred|**2 + margin)`, one value for each sample."""

    def __init__(self, margin: float = 1, weight: float | None = None, batch_axis: int = 0, **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(self, F: Any, pred: Any, positive: Any, negative: Any) -> Any:
        positive = like(F, positive, pred)
        negative = like(F, negative, pred)
        if is_np_array():
            gap = F.np.square(positive - pred) - F.np.square(negative - pred)
            loss = F.npx.relu(F.npx.batch_flatten(gap).sum(axis=1) + self._margin)
        else:
            gap = F.square(positive - pred) - F.square(negative - pred)
            loss = F.relu(F.sum(gap, axis=self._batch_axis, exclude=True) + self._margin)
        return weighted(F, loss, self._weight, None)


class CosineEmbeddingLoss(Loss):
    """`1 - cos` for pairs labelled 1, `max(0, cos - margin)` for pairs labelled -1.

    input1, input2: (N, features); label: N elements. Result: (N, 1).
    """

    def __init__(self, weight: float | None = None, batch_axis: int = 0, margin: float = 0, **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(self, F: Any, input1: Any, input2: Any, label: Any, sample_weight: Any = None) -> Any:
        input1 = like(F, input1, input2)
        label = label.reshape((-1, 1))
        cosine = self._cosine(F, input1, input2)
        excess = (label == -1) * (cosine - self._margin)
        loss = (1 - cosine) * (label == 1) + (F.npx.relu(excess) if is_np_array() else F.relu(excess))
        return weighted(F, loss, self._weight, sample_weight)

    def _cosine(self, F: Any, x: Any, y: Any) -> Any:
        if is_np_array():
            lengths = F.npx.norm(x, axis=-1).reshape((-1, 1)) * F.npx.norm(y, axis=-1).reshape((-1, 1))
            return F.np.sum(x * y, axis=-1).reshape((-1, 1)) / F.np.maximum(lengths, 1e-12)
        lengths = F.norm(x, axis=-1).reshape((-1, 1)) * F.norm(y, axis=-1).reshape((-1, 1))
        return F.sum(x * y, axis=-1).reshape((-1, 1)) / F.maximum(lengths, 1e-12)


class SDMLLoss(Loss):
    """Smoothed deep metric learning: each vector of `x1` should be closest to its partner in `x2`, of the whole batch.

    x1, x2: (N, features). Result: (N,). Hybridizes, which MXNet's does not.
    """

    def __init__(
        self, smoothing_parameter: float = 0.3, weight: float | None = 1.0, batch_axis: int = 0, **kwargs: Any
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self.kl_loss = KLDivLoss(from_logits=True)
        self.smoothing_parameter = smoothing_parameter

    def hybrid_forward(self, F: Any, x1: Any, x2: Any) -> Any:
        gaps = F.broadcast_sub(x1.expand_dims(1), x2.expand_dims(0))
        distances = F.square(gaps).sum(axis=2)
        number = F.contrib.arange_like(x1, axis=0)
        partner = F.broadcast_equal(number.expand_dims(1), number.expand_dims(0))
        other = 1 - partner
        share = F.broadcast_div(other * self.smoothing_parameter, other.sum(axis=1, keepdims=True))
        labels = partner * (1 - self.smoothing_parameter) + share
        return self.kl_loss(F.log_softmax(-distances, axis=1), labels)
