"""`mx.contrib.tensorboard`: metrics for TensorBoard, through the package mxboard."""

from __future__ import annotations

import importlib
import logging
from typing import Any

__all__ = ["LogMetricsCallback"]


class LogMetricsCallback:
    """A callback for `batch_end_callback` or `eval_end_callback`: writes the metrics of each epoch below `logging_dir`.

    Without mxboard an error is logged, and calling it raises AttributeError, as in MXNet.
    """

    def __init__(self, logging_dir: str, prefix: str | None = None) -> None:
        self.prefix = prefix
        try:
            self.summary_writer: Any = importlib.import_module("mxboard").SummaryWriter(logging_dir)
        except ImportError:
            logging.error("You can install mxboard via `pip install mxboard`.")

    def __call__(self, param: Any) -> None:
        if param.eval_metric is None:
            return
        for name, value in param.eval_metric.get_name_value():
            full = name if self.prefix is None else f"{self.prefix}-{name}"
            self.summary_writer.add_scalar(full, value, global_step=param.epoch)
