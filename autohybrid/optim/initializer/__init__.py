"""`mx.init`: initializers of parameters, with MXNet 1.9.1's names, defaults and naming rules."""

from __future__ import annotations

from autohybrid.optim.initializer.base import InitDesc, Initializer, alias, create, register
from autohybrid.optim.initializer.composed import FusedRNN, Load, Mixed
from autohybrid.optim.initializer.drawn import MSRAPrelu, Normal, Orthogonal, Uniform, Xavier
from autohybrid.optim.initializer.fixed import Bilinear, Constant, LSTMBias, One, Zero

__all__ = [
    "Bilinear", "Constant", "FusedRNN", "InitDesc", "Initializer", "LSTMBias", "Load", "MSRAPrelu", "Mixed", "Normal",
    "One", "Orthogonal", "Uniform", "Xavier", "Zero", "alias", "create", "register",
]  # fmt: skip
