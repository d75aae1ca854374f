"""`gluon.loss`: the losses of MXNet 1.9.1, as blocks."""

from __future__ import annotations

from autohybrid.gluon.loss.base import Loss

# MXNet's names of two helpers, which losses outside MXNet import.
from autohybrid.gluon.loss.base import like as _reshape_like  # noqa: F401
from autohybrid.gluon.loss.base import weighted as _apply_weighting  # noqa: F401
from autohybrid.gluon.loss.classification import (
    HingeLoss,
    KLDivLoss,
    LogisticLoss,
    SigmoidBCELoss,
    SigmoidBinaryCrossEntropyLoss,
    SoftmaxCELoss,
    SoftmaxCrossEntropyLoss,
    SquaredHingeLoss,
)
from autohybrid.gluon.loss.ctc import CTCLoss
from autohybrid.gluon.loss.distance import CosineEmbeddingLoss, SDMLLoss, TripletLoss
from autohybrid.gluon.loss.regression import HuberLoss, L1Loss, L2Loss, PoissonNLLLoss

__all__ = [
    "CTCLoss", "CosineEmbeddingLoss", "HingeLoss", "HuberLoss", "KLDivLoss", "L1Loss", "L2Loss", "LogisticLoss", "Loss",
    "PoissonNLLLoss", "SDMLLoss", "SigmoidBCELoss", "SigmoidBinaryCrossEntropyLoss", "SoftmaxCELoss",
    "SoftmaxCrossEntropyLoss", "SquaredHingeLoss", "TripletLoss",
]  # fmt: skip
