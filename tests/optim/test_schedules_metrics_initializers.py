"""Schedules, metrics and initializers against MXNet's recorded answers, and what they refuse."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from recorded_facts import array, facts, label

import autohybrid as mx
from autohybrid import nd


@pytest.mark.parametrize("fact", facts()["schedules"], ids=label)
def test_schedules_give_the_recorded_rates(fact: dict[str, Any]) -> None:
    schedule = getattr(mx.lr_scheduler, fact["name"])(**fact["settings"])
    assert [schedule(t) for t in range(12)] == pytest.approx(fact["rates"], rel=1e-12)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda s: s.FactorScheduler(0), ValueError, "step must be at least 1"),
        (lambda s: s.FactorScheduler(1, 1.5), ValueError, "factor must be at most 1"),
        (lambda s: s.MultiFactorScheduler([3, 2]), ValueError, "increasing"),
        (lambda s: s.MultiFactorScheduler([]), AssertionError, "at least one"),
        (lambda s: s.PolyScheduler(0), ValueError, "positive"),
        (lambda s: s.CosineScheduler(2.5), AssertionError, "must be an int"),
        (lambda s: s.CosineScheduler(5, 0.1, warmup_begin_lr=0.2), ValueError, "higher than base_lr"),
        (lambda s: s.CosineScheduler(5, warmup_mode="odd"), ValueError, "'linear' or 'constant'"),
    ],
)
def test_schedules_refuse_what_has_no_meaning(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make(mx.lr_scheduler)


def _close(found: Any, wanted: Any) -> bool:
    name, value = found
    return name == wanted[0] and (
        (math.isnan(value) and math.isnan(wanted[1])) or value == pytest.approx(wanted[1], rel=1e-5)
    )


@pytest.mark.parametrize("fact", facts()["metrics"], ids=label)
def test_metrics_give_the_recorded_values_locally_and_globally(fact: dict[str, Any]) -> None:
    metric = mx.metric.create(fact["name"], **fact["settings"])
    labels, preds = array(fact["label"]), array(fact["pred"])
    seen = []
    for part in (slice(0, 4), slice(2, 6), slice(None)):
        if part == slice(None):
            metric.reset_local()
        metric.update([nd.array(labels[part])], [nd.array(preds[part])])
        seen.append((metric.get(), metric.get_global()))
    assert all(
        _close(local, wanted[0]) and _close(whole, wanted[1]) for (local, whole), wanted in zip(seen, fact["seen"])
    )
    metric.reset()
    assert math.isnan(metric.get()[1])


def test_composite_and_custom_metrics() -> None:
    metric = mx.metric.create(["mse", lambda label, pred: float(np.abs(label - pred).max())])
    metric.update([nd.array([1, 2])], [nd.array([1, 5])])
    assert metric.get_name_value() == [("mse", 4.5), ("custom(<lambda>)", 3.0)]
    assert metric.get_metric(0).name == "mse"
    with pytest.raises(IndexError, match="metric 5 was asked for, but there are 2"):
        metric.get_metric(5)
    assert mx.metric.create(**mx.metric.create("acc", axis=2).get_config()).axis == 2


@pytest.mark.parametrize(
    ("name", "labels", "preds", "error"),
    [
        ("acc", [nd.ones((2,))], [nd.ones((2,)), nd.ones((2,))], ValueError),
        ("f1", [nd.array([0, 1, 2])], [nd.ones((3, 2))], ValueError),
        ("ce", [nd.ones((3,))], [nd.ones((2, 2))], AssertionError),
    ],
)
def test_metrics_refuse_what_does_not_fit(name: str, labels: Any, preds: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        mx.metric.create(name).update(labels, preds)


@pytest.mark.parametrize("fact", facts()["initializers"]["fixed"], ids=lambda f: f["call"])
def test_fixed_initializers_give_the_recorded_values(fact: dict[str, Any]) -> None:
    target = nd.zeros(tuple(fact["shape"])) - 7
    scope = {name: getattr(mx.init, name) for name in mx.init.__all__}
    eval(fact["call"], scope)(mx.init.InitDesc("rnn_weight", {}, mx.init.Zero()), target)
    np.testing.assert_allclose(target.asnumpy(), array(fact["value"]), rtol=1e-6)


@pytest.mark.parametrize(("call", "text"), facts()["initializers"]["dumps"])
def test_initializers_describe_themselves_as_mxnet_does(call: str, text: str) -> None:
    made = eval(call, {name: getattr(mx.init, name) for name in mx.init.__all__})
    assert made.dumps() == text
    assert mx.init.create(text) == made


@pytest.mark.parametrize(
    ("init", "spread", "bound"),
    [
        (mx.init.Uniform(0.3), 0.3 / 3**0.5, 0.3),
        (mx.init.Normal(0.2), 0.2, None),
        (mx.init.Xavier(magnitude=2), (2 / 90 / 3) ** 0.5, (2 / 90) ** 0.5),
        (mx.init.Xavier("gaussian", "out"), (3 / 60) ** 0.5, None),
        (mx.init.MSRAPrelu("in", 0), (2 / 120) ** 0.5, None),
    ],
    ids=lambda v: v.dumps() if isinstance(v, mx.init.Initializer) else "",
)
def test_drawn_initializers_have_their_spread(init: Any, spread: float, bound: float | None) -> None:
    mx.random.seed(11)
    target = nd.zeros((60, 120), dtype="float16" if bound is None else "float32")
    init(mx.init.InitDesc("w_weight"), target)
    values = target.asnumpy().astype("float64")
    assert abs(values.mean()) < 5 * spread / values.size**0.5
    assert values.std() == pytest.approx(spread, rel=0.05)
    assert bound is None or np.abs(values).max() <= bound
    again = nd.zeros((60, 120), dtype=target.dtype)
    mx.random.seed(11)
    init(mx.init.InitDesc("w_weight"), again)
    np.testing.assert_array_equal(again.asnumpy(), target.asnumpy())


@pytest.mark.parametrize("shape", [(3, 8), (8, 3), (4, 2, 3)])
def test_orthogonal_rows_or_columns(shape: tuple[int, ...]) -> None:
    target = nd.zeros(shape)
    mx.init.Orthogonal(scale=2.0, rand_type="normal")(mx.init.InitDesc("w_weight"), target)
    flat = target.asnumpy().reshape(shape[0], -1)
    product = flat @ flat.T if flat.shape[0] <= flat.shape[1] else flat.T @ flat
    np.testing.assert_allclose(product, 4 * np.eye(len(product)), atol=1e-5)


def test_names_decide_what_is_initialized() -> None:
    init = mx.init.Constant(5)
    wanted = {"a_weight": 5, "a_bias": 0, "a_beta": 0, "a_gamma": 1, "a_min": 0, "a_max": 1}
    for name, value in wanted.items():
        target = nd.zeros((2,)) - 1
        init(mx.init.InitDesc(name), target)
        assert (target.asnumpy() == value).all(), name
    with pytest.raises(ValueError, match="no rule of initialization knows the name `odd`"):
        init(mx.init.InitDesc("odd"), nd.zeros((2,)))
    own = nd.zeros((2,))
    init(mx.init.InitDesc("x_bias", {"__init__": mx.init.One().dumps()}), own)
    assert (own.asnumpy() == 1).all()
    with pytest.warns(DeprecationWarning, match="deprecated"):
        init("moving_var", own)


def test_load_and_mixed() -> None:
    load = mx.init.Load(
        {"arg:w": nd.ones((2,))}, default_init=mx.init.Mixed([".*bias", ".*"], [mx.init.Zero(), mx.init.One()])
    )
    target = nd.zeros((2,))
    load("w", target)
    assert (target.asnumpy() == 1).all()
    load(mx.init.InitDesc("q_weight"), target)
    with pytest.raises(AssertionError, match=r"`w` has shape \(3,\), the loaded array has shape \(2,\)"):
        load("w", nd.zeros((3,)))
    with pytest.raises(AssertionError, match="no default"):
        mx.init.Load({})("v", target)
    with pytest.raises(ValueError, match="no pattern matches"):
        mx.init.Mixed(["a"], [mx.init.Zero()])("b", target)


def test_registering_under_a_taken_name_warns_and_unknown_names_get_a_hint() -> None:
    class Zero(mx.init.Zero):
        pass

    original = mx.init.Zero
    with pytest.warns(UserWarning, match="takes the name 'zero'"):
        mx.init.register(Zero)
    with pytest.warns(UserWarning, match="takes the name 'zero'"):
        mx.init.register(original)
    with pytest.raises(AssertionError, match="did you mean 'xavier'"):
        mx.init.create("xaver")
