"""The module paths that training scripts import from MXNet lead to the modules of autohybrid."""

from __future__ import annotations

import importlib

import pytest

from autohybrid.compat.paths import find_module

_PATHS = """
callback contrib.amp gluon.data.dataloader gluon.data.dataset gluon.data.sampler gluon.data.vision.datasets
gluon.data.vision.transforms gluon.loss gluon.trainer gluon.utils image image.image init initializer io io.io kv kvstore
kvstore.base kvstore.kvstore lr_scheduler metric mod model module module.base_module module.bucketing_module
module.executor_group module.module mon monitor optimizer optimizer.contrib optimizer.optimizer recordio registry rnn
rnn.io rnn.rnn rnn.rnn_cell visualization viz
""".split()


@pytest.mark.parametrize("path", _PATHS)
def test_the_path_is_found(path: str) -> None:
    name = find_module(path)
    assert name is not None
    assert importlib.import_module(name).__doc__


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("io", "NDArrayIter"),
        ("kvstore.kvstore", "KVStore"),
        ("rnn.io", "BucketSentenceIter"),
        ("model", "save_checkpoint"),
    ],
)
def test_the_name_is_there(path: str, name: str) -> None:
    found = find_module(path)
    assert found is not None
    assert hasattr(importlib.import_module(found), name)
