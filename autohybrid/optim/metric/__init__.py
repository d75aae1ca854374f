"""`mx.metric`: running metrics over batches, with MXNet 1.9.1's names and meaning."""

from __future__ import annotations

from autohybrid import ndarray
from autohybrid.optim.metric.base import EvalMetric, alias, check_label_shapes, register
from autohybrid.optim.metric.classification import F1, MCC, PCC, Accuracy, TopKAccuracy
from autohybrid.optim.metric.composed import CompositeEvalMetric, CustomMetric, create, np
from autohybrid.optim.metric.likelihood import Caffe, CrossEntropy, Loss, NegativeLogLikelihood, Perplexity, Torch
from autohybrid.optim.metric.regression import MAE, MSE, RMSE, PearsonCorrelation

__all__ = [
    "F1", "MAE", "MCC", "MSE", "PCC", "RMSE", "Accuracy", "Caffe", "CompositeEvalMetric", "CrossEntropy",
    "CustomMetric", "EvalMetric", "Loss", "NegativeLogLikelihood", "PearsonCorrelation", "Perplexity", "TopKAccuracy",
    "Torch", "alias", "check_label_shapes", "create", "ndarray", "np", "register",
]  # fmt: skip
