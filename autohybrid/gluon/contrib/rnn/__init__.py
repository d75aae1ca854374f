"""`gluon.contrib.rnn`: further recurrent cells."""

from __future__ import annotations

from autohybrid.gluon.contrib.rnn.convolutional import (
    Conv1DGRUCell,
    Conv1DLSTMCell,
    Conv1DRNNCell,
    Conv2DGRUCell,
    Conv2DLSTMCell,
    Conv2DRNNCell,
    Conv3DGRUCell,
    Conv3DLSTMCell,
    Conv3DRNNCell,
)
from autohybrid.gluon.contrib.rnn.dynamic import dynamic_unroll
from autohybrid.gluon.contrib.rnn.projected import LSTMPCell
from autohybrid.gluon.contrib.rnn.variational import VariationalDropoutCell

# MXNet's module names; they take what is above from here.
from autohybrid.gluon.contrib.rnn import conv_rnn_cell, rnn_cell  # isort: skip

__all__ = [
    "Conv1DGRUCell",
    "Conv1DLSTMCell",
    "Conv1DRNNCell",
    "Conv2DGRUCell",
    "Conv2DLSTMCell",
    "Conv2DRNNCell",
    "Conv3DGRUCell",
    "Conv3DLSTMCell",
    "Conv3DRNNCell",
    "LSTMPCell",
    "VariationalDropoutCell",
    "conv_rnn_cell",
    "dynamic_unroll",
    "rnn_cell",
]  # fmt: skip
