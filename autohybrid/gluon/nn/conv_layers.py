"""MXNet's module name for what is in `convolution` and `pooling`."""

from __future__ import annotations

from autohybrid.gluon.nn import convolution, pooling
from autohybrid.gluon.nn.convolution import *  # noqa: F403 - the public names are listed in its __all__
from autohybrid.gluon.nn.convolution import _Conv as _Conv
from autohybrid.gluon.nn.pooling import *  # noqa: F403 - the public names are listed in its __all__
from autohybrid.gluon.nn.pooling import _Pooling as _Pooling

__all__ = [*convolution.__all__, *pooling.__all__]
