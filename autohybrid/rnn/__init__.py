"""`mx.rnn`: recurrent cells made of Symbols, as before Gluon; and what trains them with Module."""

from __future__ import annotations

from autohybrid.rnn import sentences as io
from autohybrid.rnn.base import BaseRNNCell, RNNParams
from autohybrid.rnn.checkpoints import do_rnn_checkpoint, load_rnn_checkpoint, save_rnn_checkpoint
from autohybrid.rnn.conv_cells import BaseConvRNNCell, ConvGRUCell, ConvLSTMCell, ConvRNNCell
from autohybrid.rnn.dense_cells import GRUCell, LSTMCell, RNNCell
from autohybrid.rnn.fused_cell import FusedRNNCell
from autohybrid.rnn.modifier_cells import DropoutCell, ModifierCell, ResidualCell, ZoneoutCell
from autohybrid.rnn.sentences import BucketSentenceIter, encode_sentences
from autohybrid.rnn.stacked_cells import BidirectionalCell, SequentialRNNCell

__all__ = [
    "BaseConvRNNCell", "BaseRNNCell", "BidirectionalCell", "BucketSentenceIter", "ConvGRUCell", "ConvLSTMCell",
    "ConvRNNCell", "DropoutCell", "FusedRNNCell", "GRUCell", "LSTMCell", "ModifierCell", "RNNCell", "RNNParams",
    "ResidualCell", "SequentialRNNCell", "ZoneoutCell", "do_rnn_checkpoint", "encode_sentences", "io",
    "load_rnn_checkpoint", "save_rnn_checkpoint",
]  # fmt: skip
