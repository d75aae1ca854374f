"""MXNet's module name for the convolutional cells of `gluon.contrib.rnn`."""

from __future__ import annotations

from autohybrid.gluon.contrib.rnn.convolutional import *  # noqa: F403 - the names are listed in its __all__
