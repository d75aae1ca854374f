"""The benchmarks compute what the imperative blocks compute, and the page is made from their figures. No times."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autohybrid as mx
from benchmarks import gluon, lenet, report, train_mlp
from benchmarks.contest import Contender, contest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", report.TARGETS)
def test_every_workload_with_a_target_exists_and_says_what_it_is(name: str) -> None:
    text = (ROOT / "benchmarks" / f"{name}.py").read_text()
    assert "def make(framework: str, threads: int)" in text
    assert f'run("{name}", __doc__)' in text


@pytest.mark.parametrize(
    ("make_net", "x"),
    [
        (lenet.lenet, gluon.images(2, 28, 1)),
        (lambda mx: mx.gluon.model_zoo.vision.mobilenet_v2_0_25(), gluon.images(1, 64)),
        (lambda mx: mx.gluon.model_zoo.vision.resnet18_v1(), gluon.images(1, 64)),
        (lambda mx: mx.gluon.rnn.LSTM(16, 2, input_size=8), np.ones((5, 3, 8), "float32")),
    ],
)
def test_a_hybridized_call_gives_the_imperative_result(make_net: Any, x: Any) -> None:
    call, result = gluon.inference("autohybrid", make_net, [x])
    call()
    net = make_net(mx)
    net.initialize()
    net(mx.nd.array(x))
    gluon.fill(net, mx)
    expected = gluon.shown(gluon.leaves(net(mx.nd.array(x)))[0])
    np.testing.assert_allclose(result(), expected, rtol=1e-4, atol=1e-6)


def test_training_steps_lower_the_loss() -> None:
    x = np.random.RandomState(0).uniform(-1, 1, (16, 512)).astype("float32")
    call, result = gluon.training("autohybrid", train_mlp.perceptron, x)
    before = sum(result())
    for _ in range(20):
        losses = call()
    assert sum(gluon.shown(losses)) < before


def test_a_contest_times_its_contenders_and_makes_a_page() -> None:
    table = contest("benchmarks.mlp", [Contender("autohybrid", sys.executable)], threads=1, rounds=1, turn=0.01)
    assert table["contenders"][0]["median_us"] > 0
    peer = {**table["contenders"][0], "framework": "mxnet-static", "first_over_this": 0.25, "largest_difference": 0.0}
    table = json.loads(json.dumps({**table, "contenders": [*table["contenders"], peer]}))
    page = report.page([table], "")
    assert "| 0.25 | 0.30 | reached |" in page
    assert "python -m benchmarks.mlp --mxnet" in page


def test_an_unknown_framework_is_refused() -> None:
    with pytest.raises(ValueError, match="numpy"):
        gluon.load("numpy")
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.lstm", "--help"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "--mxnet" in done.stdout


def test_the_first_call_is_measured() -> None:
    command = [sys.executable, "-m", "benchmarks.first_call", "--repeat", "1", "--models", "MLP"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    rows = [line.split() for line in done.stdout.splitlines()[1:]]
    assert [row[:2] for row in rows] == [["MLP", "cold"], ["MLP", "cached"], ["MLP", "loaded"]]
    assert all(float(row[2]) < float(row[3]) for row in rows)
