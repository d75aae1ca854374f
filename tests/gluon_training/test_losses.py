"""Losses against MXNet's recorded values and gradients, imperatively, hybridized and as Symbols."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autohybrid as mx
from autohybrid import autograd, gluon, nd

_CASES = json.loads((Path(__file__).parents[1] / "data" / "training" / "facts.json").read_text())["losses"]


def _array(fact: dict[str, Any]) -> np.ndarray[Any, Any]:
    return np.array([float(v) for v in fact["values"]], fact["dtype"]).reshape(fact["shape"])


def _inputs(fact: dict[str, Any]) -> list[Any]:
    return [None if given is None else nd.array(_array(given)) for given in fact["inputs"]]


@pytest.mark.parametrize("hybridize", [False, True], ids=["imperative", "hybridized"])
@pytest.mark.parametrize("fact", _CASES, ids=lambda f: f"{f['name']}-{f['settings']}")
def test_values_and_gradients(fact: dict[str, Any], hybridize: bool) -> None:
    loss_function = getattr(gluon.loss, fact["name"])(**fact["settings"])
    if hybridize:
        loss_function.hybridize()
    inputs = _inputs(fact)
    inputs[0].attach_grad()
    with autograd.record():
        loss = loss_function(*inputs)
    loss.backward()
    np.testing.assert_allclose(loss.asnumpy(), _array(fact["loss"]), rtol=2e-5, atol=1e-6)
    np.testing.assert_allclose(inputs[0].grad.asnumpy(), _array(fact["grad"]), rtol=2e-4, atol=1e-6)


@pytest.mark.parametrize(
    "fact", [c for c in _CASES if None not in c["inputs"]], ids=lambda f: f"{f['name']}-{f['settings']}"
)
def test_on_symbols(fact: dict[str, Any]) -> None:
    inputs = _inputs(fact)
    names = [f"x{i}" for i in range(len(inputs))]
    symbol = getattr(gluon.loss, fact["name"])(**fact["settings"])(*[mx.sym.var(name) for name in names])
    (found,) = symbol.eval(**dict(zip(names, inputs)))
    np.testing.assert_allclose(found.asnumpy(), _array(fact["loss"]), rtol=2e-5, atol=1e-6)


def test_labels_take_the_shape_of_predictions_or_are_refused() -> None:
    loss = gluon.loss.L2Loss()(nd.ones((3, 1)), nd.zeros((3,)))
    np.testing.assert_allclose(loss.asnumpy(), 0.5 * np.ones(3))
    with pytest.raises(ValueError, match=r"labels of shape \(4,\) do not fit predictions of shape \(3, 1\)"):
        gluon.loss.L2Loss()(nd.ones((3, 1)), nd.zeros((4,)))


def test_full_poisson_loss_trains_and_bears_zero_counts() -> None:
    pred, counts = nd.array([[0.5, 2.0]]), nd.array([[0.0, 3.0]])
    pred.attach_grad()
    with autograd.record():
        loss = gluon.loss.PoissonNLLLoss(from_logits=False, compute_full=True)(pred, counts)
    loss.backward()
    stirling = 3 * np.log(3) - 3 + 0.5 * np.log(2 * np.pi * 3)
    wanted = (0.5 + 2 - 3 * np.log(2 + 1e-8) + stirling) / 2
    assert loss.asscalar() == pytest.approx(wanted, rel=1e-5)
    np.testing.assert_allclose(pred.grad.asnumpy(), [[0.5, 0.5 * (1 - 3 / 2)]], rtol=1e-5)


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: gluon.loss.CTCLoss(layout="NCT"), AssertionError),
        (lambda: gluon.loss.CTCLoss(label_layout="T"), AssertionError),
        (lambda: gluon.loss.LogisticLoss(label_format="odd"), ValueError),
        (lambda: gluon.loss.L1Loss(weight="2")(nd.ones((1, 1)), nd.ones((1, 1))), AssertionError),
    ],
)
def test_settings_without_meaning_are_refused(make: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        make()


def test_repr() -> None:
    assert repr(gluon.loss.HuberLoss(weight=2, batch_axis=1)) == "HuberLoss(batch_axis=1, w=2)"
