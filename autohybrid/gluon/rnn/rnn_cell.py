"""MXNet's module name for the cells, with the helpers that code written for MXNet imports from there."""

from __future__ import annotations

from autohybrid.gluon.rnn import (
    BidirectionalCell,
    DropoutCell,
    GRUCell,
    HybridRecurrentCell,
    HybridSequentialRNNCell,
    LSTMCell,
    ModifierCell,
    RecurrentCell,
    ResidualCell,
    RNNCell,
    SequentialRNNCell,
    ZoneoutCell,
)
from autohybrid.gluon.rnn.sequences import first_states as _get_begin_state
from autohybrid.gluon.rnn.sequences import format_sequence as _format_sequence
from autohybrid.gluon.rnn.sequences import mask_after as _mask_sequence_variable_length
from autohybrid.gluon.rnn.sequences import reverse_steps as _reverse_sequences

__all__ = [
    "BidirectionalCell", "DropoutCell", "GRUCell", "HybridRecurrentCell", "HybridSequentialRNNCell", "LSTMCell",
    "ModifierCell", "RNNCell", "RecurrentCell", "ResidualCell", "SequentialRNNCell", "ZoneoutCell",
    "_format_sequence", "_get_begin_state", "_mask_sequence_variable_length", "_reverse_sequences",
]  # fmt: skip
