"""The module paths that training scripts import from MXNet lead to the modules of autohybrid."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import autohybrid as mx
from autohybrid.compat import absent, executor_manager, log
from autohybrid.compat.paths import find_module
from autohybrid.contrib.tensorboard import LogMetricsCallback
from autohybrid.errors import MXNetError

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


_MORE = """
contrib.autograd contrib.io contrib.tensorboard contrib.text.embedding error executor executor_manager image.detection
libinfo library log module.python_module module.sequential_module ndarray.gen_contrib ndarray.gen_op ndarray.op
ndarray.utils symbol.gen_image symbol.gen_random symbol.op test_utils
""".split()


@pytest.mark.parametrize("path", _MORE)
def test_rarer_paths_are_found_too(path: str) -> None:
    name = find_module(path)
    assert name is not None
    assert importlib.import_module(name).__doc__


def test_paths_that_lead_nowhere_say_what_to_do() -> None:
    for path, remedy in absent.ABSENT_PATHS.items():
        with pytest.raises(ModuleNotFoundError, match="No module named 'mxnet") as caught:
            absent.explain_absent_path(f"{path}.more")
        assert remedy in str(caught.value)
        assert find_module(path) is None
    absent.explain_absent_path("contrib.other")


def test_loggers_write_short_lines_or_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    logger = log.get_logger("autohybrid.tests.screen", level=log.INFO)
    logger.info("epoch %d", 3)
    logger.debug("left out")
    line = capsys.readouterr().err
    assert line.startswith("\x1b[32mI") and line.endswith("\x1b[0m epoch 3\n")
    assert log.get_logger("autohybrid.tests.screen") is logger and len(logger.handlers) == 1
    with pytest.warns(DeprecationWarning, match="use get_logger"):
        written = log.getLogger("autohybrid.tests.file", str(tmp_path / "train.log"))
    written.warning("loss is nan")
    assert (tmp_path / "train.log").read_text() == "loss is nan\n"


def test_batches_are_shared_in_proportion() -> None:
    parts = executor_manager._split_input_slice(10, [1, 1, 2])
    assert [(p.start, p.stop) for p in parts] == [(0, 2), (2, 4), (4, 10)]
    with pytest.raises(ValueError, match="a batch of 1 is too small for 2 devices"):
        executor_manager._split_input_slice(1, [1, 1])
    with pytest.raises(ValueError, match='duplicated argument name "w"'):
        executor_manager._check_arguments(mx.sym.var("w") + mx.sym.var("w"))


def test_what_is_compiled_is_refused() -> None:
    with pytest.raises(MXNetError, match=r"lib.so holds operators compiled for MXNet"):
        mx.library.load("/lib.so")
    for find in (mx.libinfo.find_lib_path, mx.libinfo.find_include_path, mx.libinfo.find_conf_path):
        with pytest.raises(RuntimeError, match="autohybrid is written in Python"):
            find()


def test_errors_have_names() -> None:
    @mx.error.register
    class OwnError(mx.MXNetError):
        pass

    assert mx.error.register("ValueError", ValueError) is ValueError
    assert mx.error.register("Other")(OwnError) is OwnError
    assert issubclass(mx.error.InternalError, mx.MXNetError)


def test_metrics_are_written_where_mxboard_is(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    written: list[tuple[str, float, int]] = []
    writer = SimpleNamespace(add_scalar=lambda name, value, global_step: written.append((name, value, global_step)))
    monkeypatch.setitem(sys.modules, "mxboard", SimpleNamespace(SummaryWriter=lambda folder: writer))
    metric = mx.metric.MAE()
    metric.update([mx.nd.ones(2)], [mx.nd.zeros(2)])
    LogMetricsCallback("logs", prefix="train")(SimpleNamespace(eval_metric=metric, epoch=4))
    assert written == [("train-mae", 1.0, 4)]
    monkeypatch.setitem(sys.modules, "mxboard", None)
    LogMetricsCallback("logs")
    assert "pip install mxboard" in caplog.text
