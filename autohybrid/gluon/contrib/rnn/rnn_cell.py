"""MXNet's module name for cells and functions of `gluon.contrib.rnn`."""

from __future__ import annotations

from autohybrid.gluon.contrib.rnn.dynamic import dynamic_unroll
from autohybrid.gluon.contrib.rnn.projected import LSTMPCell
from autohybrid.gluon.contrib.rnn.variational import VariationalDropoutCell

__all__ = ["LSTMPCell", "VariationalDropoutCell", "dynamic_unroll"]
