"""`gluon.rnn`: recurrent cells and layers."""

from __future__ import annotations

from autohybrid.gluon.rnn.cells import GRUCell, LSTMCell, RNNCell
from autohybrid.gluon.rnn.layers import GRU, LSTM, RNN
from autohybrid.gluon.rnn.modifiers import DropoutCell, ModifierCell, ResidualCell, ZoneoutCell
from autohybrid.gluon.rnn.recurrent import HybridRecurrentCell, RecurrentCell
from autohybrid.gluon.rnn.stacks import BidirectionalCell, HybridSequentialRNNCell, SequentialRNNCell

# MXNet's module names; they take what is above from here.
from autohybrid.gluon.rnn import rnn_cell, rnn_layer  # isort: skip

__all__ = [
    "GRU", "LSTM", "RNN", "BidirectionalCell", "DropoutCell", "GRUCell", "HybridRecurrentCell",
    "HybridSequentialRNNCell", "LSTMCell", "ModifierCell", "RNNCell", "RecurrentCell", "ResidualCell",
    "SequentialRNNCell", "ZoneoutCell", "rnn_cell", "rnn_layer",
]  # fmt: skip
