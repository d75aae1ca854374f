"""MXNet's module name for the layers."""

from __future__ import annotations

from autohybrid.gluon.rnn.layers import GRU, LSTM, RNN, _RNNLayer

__all__ = ["GRU", "LSTM", "RNN", "_RNNLayer"]
