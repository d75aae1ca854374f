"""`mx.test_utils`: what tests and examples of MXNet code use. The parts are in the modules named here."""

from __future__ import annotations

from autohybrid.training.comparing import *  # noqa: F403
from autohybrid.training.comparing import __all__ as _comparing
from autohybrid.training.example_data import *  # noqa: F403
from autohybrid.training.example_data import __all__ as _example_data
from autohybrid.training.gradient_checks import *  # noqa: F403
from autohybrid.training.gradient_checks import __all__ as _gradient_checks
from autohybrid.training.io.wrapping import DummyIter

__all__ = ["DummyIter", *_comparing, *_example_data, *_gradient_checks]
