"""`mx.optimizer`: optimizers and the Updater, with MXNet 1.9.1's names, defaults and update rules."""

from __future__ import annotations

from autohybrid.optim.optimizer import contrib
from autohybrid.optim.optimizer.adam import FTML, Adam, Adamax, Nadam
from autohybrid.optim.optimizer.adaptive import AdaDelta, AdaGrad, Ftrl, RMSProp, Test
from autohybrid.optim.optimizer.base import Optimizer, create, register
from autohybrid.optim.optimizer.large_batch import LAMB, LARS, LBSGD
from autohybrid.optim.optimizer.sgd import DCASGD, NAG, SGD, SGLD, Signum, ccSGD
from autohybrid.optim.optimizer.updater import Updater, get_updater

opt_registry = Optimizer.opt_registry

__all__ = [
    "DCASGD", "FTML", "LAMB", "LARS", "LBSGD", "NAG", "SGD", "SGLD", "AdaDelta", "AdaGrad", "Adam", "Adamax", "Ftrl",
    "Nadam", "Optimizer", "RMSProp", "Signum", "Test", "Updater", "ccSGD", "contrib", "create", "get_updater",
    "opt_registry", "register",
]  # fmt: skip
