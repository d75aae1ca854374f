"""`mx.autograd`: the tape's functions, and `get_symbol`, which needs graphs."""

from autohybrid.graph.recorded import get_symbol
from autohybrid.tensor.array import NDArray
from autohybrid.tensor.autograd import (
    Function,
    backward,
    grad,
    is_recording,
    is_training,
    mark_variables,
    pause,
    predict_mode,
    record,
    set_recording,
    set_training,
    train_mode,
)

__all__ = [
    "Function", "NDArray", "backward", "get_symbol", "grad", "is_recording", "is_training", "mark_variables", "pause",
    "predict_mode", "record", "set_recording", "set_training", "train_mode",
]  # fmt: skip
