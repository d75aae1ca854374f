"""Losses of class scores: sigmoid and softmax cross entropy, Kullback-Leibler, hinge, logistic."""

from __future__ import annotations

from typing import Any

from autohybrid.gluon.loss.base import Loss, like, sample_mean, weighted
from autohybrid.numpy_semantics import is_np_array


def _softplus_of_minus_abs(F: Any, x: Any) -> Any:
    """`log(1 + exp(-|x|))`, which no `x` makes overflow."""
    if is_np_array():
        return F.npx.activation(-F.np.abs(x), act_type="softrelu")
    return F.Activation(-F.abs(x), act_type="softrelu")


def _relu(F: Any, x: Any) -> Any:
    return F.npx.relu(x) if is_np_array() else F.relu(x)


def _log(F: Any, x: Any) -> Any:
    return F.np.log(x) if is_np_array() else F.log(x)


def _times(F: Any, x: Any, y: Any) -> Any:
    return x * y if is_np_array() else F.broadcast_mul(x, y)


class SigmoidBinaryCrossEntropyLoss(Loss):
    """Cross entropy of independent yes/no labels; `pred` are logits, or probabilities with `from_sigmoid`.

    pred, label: same number of elements; sample_weight broadcasts to them, pos_weight (weight of positive labels)
    too, e.g. (1, classes). Result: (N,).
    """

    def __init__(
        self, from_sigmoid: bool = False, weight: float | None = None, batch_axis: int = 0, **kwargs: Any
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._from_sigmoid = from_sigmoid

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None, pos_weight: Any = None) -> Any:
        label = like(F, label, pred)
        if self._from_sigmoid:
            eps = 1e-12
            positive = _log(F, pred + eps) * label
            if pos_weight is not None:
                positive = _times(F, positive, pos_weight)
            loss = -(positive + _log(F, 1.0 - pred + eps) * (1.0 - label))
        elif pos_weight is None:
            loss = _relu(F, pred) - pred * label + _softplus_of_minus_abs(F, pred)
        else:
            log_weight = 1 + _times(F, pos_weight - 1, label)
            loss = pred - pred * label + log_weight * (_softplus_of_minus_abs(F, pred) + _relu(F, -pred))
        loss = weighted(F, loss, self._weight, sample_weight)
        return sample_mean(F, loss, self._batch_axis)


SigmoidBCELoss = SigmoidBinaryCrossEntropyLoss


class SoftmaxCrossEntropyLoss(Loss):
    """Cross entropy of one class out of several, along `axis`; `pred` are logits, or log probabilities (`from_logits`).

    label: class numbers, in the shape of `pred` without `axis` (a number out of range is clipped); with
    `sparse_label=False` a distribution in the shape of `pred`. Result: (N,), the mean over other axes.
    """

    def __init__(
        self,
        axis: int = -1,
        sparse_label: bool = True,
        from_logits: bool = False,
        weight: float | None = None,
        batch_axis: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._axis = axis
        self._sparse_label = sparse_label
        self._from_logits = from_logits

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        ops = F.npx if is_np_array() else F
        if not self._from_logits:
            pred = ops.log_softmax(pred, axis=self._axis)
        if self._sparse_label:
            loss = -ops.pick(pred, label, axis=self._axis, keepdims=True)
        else:
            label = like(F, label, pred)
            loss = -(pred * label).sum(axis=self._axis, keepdims=True)
        loss = weighted(F, loss, self._weight, sample_weight)
        return sample_mean(F, loss, self._batch_axis)


SoftmaxCELoss = SoftmaxCrossEntropyLoss


class KLDivLoss(Loss):
    """`label * (log(label) - pred)`: how far the distribution `pred` (log probabilities, or logits) is from `label`.

    The sum over all axes but the batch axis (MXNet 1.9; earlier versions took the mean). Result: (N,).
    """

    def __init__(
        self,
        from_logits: bool = True,
        axis: int = -1,
        weight: float | None = None,
        batch_axis: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._from_logits = from_logits
        self._axis = axis

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        if not self._from_logits:
            pred = F.npx.log_softmax(pred, axis=self._axis) if is_np_array() else F.log_softmax(pred, axis=self._axis)
        loss = label * (_log(F, label + 1e-12) - pred)
        loss = weighted(F, loss, self._weight, sample_weight)
        if is_np_array():
            return F.npx.batch_flatten(loss).sum(axis=1)
        return F.sum(loss, axis=self._batch_axis, exclude=True)


class HingeLoss(Loss):
    """`max(0, margin - pred * label)` for labels -1 and 1. Shapes as for L2Loss."""

    def __init__(self, margin: float = 1, weight: float | None = None, batch_axis: int = 0, **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        label = like(F, label, pred)
        loss = _relu(F, self._margin - pred * label)
        loss = weighted(F, loss, self._weight, sample_weight)
        return sample_mean(F, loss, self._batch_axis)


class SquaredHingeLoss(Loss):
    """`max(0, margin - pred * label) ** 2` for labels -1 and 1. Shapes as for L2Loss."""

    def __init__(self, margin: float = 1, weight: float | None = None, batch_axis: int = 0, **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        label = like(F, label, pred)
        hinge = _relu(F, self._margin - pred * label)
        loss = F.np.square(hinge) if is_np_array() else F.square(hinge)
        loss = weighted(F, loss, self._weight, sample_weight)
        return sample_mean(F, loss, self._batch_axis)


class LogisticLoss(Loss):
    """`log(1 + exp(-pred * label))` for labels -1 and 1 ('signed'), or 0 and 1 ('binary'). Shapes as for L2Loss."""

    def __init__(
        self, weight: float | None = None, batch_axis: int = 0, label_format: str = "signed", **kwargs: Any
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        if label_format not in ("signed", "binary"):
            raise ValueError(f"label_format must be 'signed' or 'binary', not {label_format!r}")
        self._label_format = label_format

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        label = like(F, label, pred)
        if self._label_format == "signed":
            label = (label + 1.0) / 2.0
        loss = _relu(F, pred) - pred * label + _softplus_of_minus_abs(F, pred)
        loss = weighted(F, loss, self._weight, sample_weight)
        return sample_mean(F, loss, self._batch_axis)
