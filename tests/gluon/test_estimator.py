"""`gluon.contrib.estimator`: the training loop, its handlers, checkpoints and what it refuses."""

from __future__ import annotations

import io
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autohybrid as mx
from autohybrid import gluon
from autohybrid.gluon.contrib import estimator as es

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def loader(samples: int = 12, batch: int = 4) -> Any:
    x = np.linspace(-1, 1, samples * 2, dtype="float32").reshape(samples, 2)
    y = x.sum(axis=1, keepdims=True)
    return gluon.data.DataLoader(gluon.data.ArrayDataset(mx.nd.array(x), mx.nd.array(y)), batch_size=batch)


def make(rate: float = 0.1, **kwargs: Any) -> Any:
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(1, in_units=2))
    net.initialize(mx.init.Zero())
    net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": rate})
    made = es.Estimator(net, gluon.loss.L2Loss(), trainer=trainer, **kwargs)
    made.logger.handlers = [logging.StreamHandler(io.StringIO())]
    return made


def text_of(estimator: Any) -> str:
    return str(estimator.logger.handlers[0].stream.getvalue())


def test_fit_lowers_the_loss_and_logs_every_epoch() -> None:
    estimator = make()
    losses = []

    class Watch(es.EpochEnd):
        priority = 10

        def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
            losses.append(estimator.train_metrics[0].get()[1])

    estimator.fit(loader(), val_data=loader(), epochs=4, event_handlers=[Watch()])
    assert len(losses) == 4
    assert losses == sorted(losses, reverse=True)
    assert [m.name for m in estimator.val_metrics] == ["validation l2loss"]
    assert text_of(estimator).count("Finished in") == 8
    assert "Train finished using total" in text_of(estimator)


def test_batches_end_within_an_epoch_after_all_handlers_were_called() -> None:
    estimator = make()
    seen = []

    class Count(es.BatchEnd):
        priority = 5

        def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
            seen.append(kwargs["batch"][0].shape)

    estimator.fit(loader(), batches=2, event_handlers=[Count()])
    assert seen == [(4, 2), (4, 2)]


def test_early_stopping_watches_the_direction_of_the_metric() -> None:
    estimator = make(rate=0.0)
    stop = es.EarlyStoppingHandler(estimator.train_metrics[0], patience=2)
    estimator.fit(loader(), epochs=20, event_handlers=[stop])
    assert stop.monitor_op is np.less
    assert stop.current_epoch == 3
    assert "early stopping" in text_of(estimator)


def test_checkpoints_are_kept_and_resumed(tmp_path: Path) -> None:
    folder = str(tmp_path / "models")
    estimator = make()
    keep = es.CheckpointHandler(folder, "m", monitor=estimator.train_metrics[0], save_best=True, max_checkpoints=2)
    estimator.fit(loader(), epochs=3, event_handlers=[keep])
    assert sorted(p.name for p in Path(folder).iterdir()) == [
        "m-best.params", "m-best.states", "m-epoch1batch6.params", "m-epoch1batch6.states", "m-epoch2batch9.params",
        "m-epoch2batch9.states", "m-symbol.json",
    ]  # fmt: skip
    again = make()
    resume = es.CheckpointHandler(folder, "m", resume_from_checkpoint=True)
    again.fit(loader(), epochs=5, event_handlers=[resume])
    straight = make()
    straight.fit(loader(), epochs=5)
    np.testing.assert_allclose(again.net[0].weight.data().asnumpy(), straight.net[0].weight.data().asnumpy(), rtol=1e-5)
    with pytest.raises(ValueError, match="reached max_epoch = 5"):
        again.fit(loader(), epochs=5, event_handlers=[resume])


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda e: e.fit(loader()), "either `epochs` or `batches`"),
        (lambda e: e.fit(loader(), epochs=1, batches=1), "either `epochs` or `batches`"),
        (lambda e: e.fit([1], epochs=1), "DataLoader"),
        (lambda e: e.fit(loader(), epochs=1, event_handlers=[3]), "event handlers"),
        (lambda e: e.fit(loader(), epochs=1, event_handlers=es.MetricHandler(mx.metric.RMSE())), "does not update"),
        (lambda e: es.LoggingHandler(log_interval="day"), "log_interval"),
        (lambda e: es.CheckpointHandler(".", save_best=True), "`monitor`"),
        (lambda e: es.EarlyStoppingHandler("loss"), "monitor"),
        (lambda e: es.Estimator(e.net, "l2"), "loss"),
        (lambda e: es.Estimator(e.net, e.loss, trainer="sgd"), "gluon.Trainer"),
        (lambda e: es.Estimator(e.net, e.loss, train_metrics=["acc"]), "metrics"),
        (lambda e: es.Estimator(e.net, e.loss, context="cpu"), "Context"),
        (lambda e: es.Estimator(e.net, e.loss, batch_processor=3), "fit_batch"),
    ],
)
def test_wrong_arguments_are_named(call: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        call(make())
