"""Every optimizer against MXNet's recorded trajectories; multipliers, counts, and states as bytes."""

from __future__ import annotations

import copy
import importlib
import pickle
import random
from typing import Any

import numpy as np
import pytest
from recorded_facts import FOLDER, array, facts, label

import autohybrid as mx
from autohybrid import nd
from autohybrid.errors import MXNetError
from autohybrid.tensor.update_in_place import can_update

_CASES = facts()["optimizers"]
_TOLERANCE = {"float16": (2e-3, 2e-3), "float32": (2e-5, 2e-6), "float64": (1e-6, 1e-7)}


def _find(name: str) -> Any:
    found: Any = mx.optimizer
    for part in name.split("."):
        found = getattr(found, part)
    return found


def _state_arrays(state: Any) -> list[nd.NDArray]:
    if isinstance(state, (list, tuple)):
        return [each for part in state for each in _state_arrays(part)]
    return [] if state is None else [state]


@pytest.mark.filterwarnings("ignore:.*accumulates in float16")
@pytest.mark.parametrize("fact", _CASES, ids=label)
def test_weights_and_states_follow_the_recorded_trajectory(fact: dict[str, Any]) -> None:
    updater = mx.optimizer.get_updater(_find(fact["name"])(**fact["settings"]))
    weight = nd.array(array(fact["weight"]), dtype=fact["dtype"])
    rtol, atol = _TOLERANCE[fact["dtype"]]
    for grad, (wanted_weight, wanted_state) in zip(fact["grads"], fact["steps"]):
        updater(0, nd.array(array(grad), dtype=fact["dtype"]), weight)
        np.testing.assert_allclose(weight.asnumpy(), array(wanted_weight), rtol, atol)
        state = _state_arrays(updater.states[0])
        assert [s.dtype.__name__ for s in state] == [w["dtype"] for w in wanted_state]
        for found, wanted in zip(state, wanted_state):
            np.testing.assert_allclose(found.asnumpy(), array(wanted), rtol, atol)


@pytest.mark.parametrize("fact", [c for c in _CASES if c["name"] in ("SGD", "LAMB", "LARS")], ids=label)
def test_aggregated_updates_equal_single_ones(fact: dict[str, Any]) -> None:
    dtype = fact["dtype"]
    weights = [nd.array(array(fact["weight"]) + i, dtype=dtype) for i in range(6)]
    grads = [nd.array(array(fact["grads"][0]) * (i + 1), dtype=dtype) for i in range(6)]
    together, single = (mx.optimizer.get_updater(_find(fact["name"])(**fact["settings"])) for _ in range(2))
    copies = [w.copy() for w in weights]
    for _ in range(2):
        together(list(range(6)), grads, weights)
        for i in range(6):
            single(i, grads[i], copies[i])
    rtol, atol = _TOLERANCE[dtype]
    for joint, alone in zip(weights, copies):
        np.testing.assert_allclose(joint.asnumpy(), alone.asnumpy(), rtol, atol)


@pytest.mark.parametrize("fact", _CASES, ids=label)
def test_states_survive_being_bytes(fact: dict[str, Any]) -> None:
    weight = nd.array(array(fact["weight"]), dtype=fact["dtype"])
    grad = nd.array(array(fact["grads"][0]), dtype=fact["dtype"])
    first = mx.optimizer.get_updater(_find(fact["name"])(**fact["settings"]))
    first(0, grad, weight)
    second = mx.optimizer.get_updater(mx.optimizer.SGD())
    second.set_states(first.get_states(dump_optimizer=True))
    assert type(second.optimizer) is type(first.optimizer)
    other = weight.copy()
    first(0, grad, weight)
    second(0, grad, other)
    np.testing.assert_array_equal(weight.asnumpy(), other.asnumpy())


def test_states_written_by_mxnet_are_read() -> None:
    updater = mx.optimizer.get_updater(mx.optimizer.SGD())
    updater.set_states((FOLDER / "adam.states").read_bytes())
    assert isinstance(updater.optimizer, mx.optimizer.Adam)
    assert updater.optimizer.wd == 0.01
    assert [s.shape for s in updater.states[0]] == [(2,), (2,)]  # the bias comes first


class _Payload:
    def __reduce__(self) -> Any:
        return exec, ("raise SystemExit('executed')",)


@pytest.mark.parametrize("hostile", [_Payload(), {0: _Payload()}, ({}, print)], ids=["call", "nested", "function"])
def test_states_that_name_anything_else_are_refused(hostile: Any) -> None:
    with pytest.raises(MXNetError, match="which is none of arrays"):
        mx.optimizer.get_updater(mx.optimizer.SGD()).set_states(pickle.dumps(hostile))


def test_damaged_states_give_a_clear_error_and_take_no_memory() -> None:
    whole = (FOLDER / "adam.states").read_bytes()
    draw = random.Random(5)
    refused = 0
    for _ in range(400):
        damaged = bytearray(whole)
        for _ in range(draw.randint(1, 4)):
            damaged[draw.randrange(len(damaged))] = draw.randrange(256)
        cut = bytes(damaged[: draw.randint(0, len(damaged))]) if draw.random() < 0.3 else bytes(damaged)
        try:
            mx.optimizer.get_updater(mx.optimizer.SGD()).set_states(cut)
        except MXNetError:
            refused += 1
    assert refused > 100


def test_multipliers_and_decay_follow_names() -> None:
    names = {0: "a_weight", 1: "a_bias", 2: "bn_gamma", 3: "bn_beta"}
    optimizer = mx.optimizer.SGD(learning_rate=1.0, wd=0.5, param_idx2name=names)
    assert optimizer._get_wds(range(4)) == [0.5, 0.0, 0.5, 0.0]
    optimizer.set_lr_mult({"a_weight": 0.1})
    optimizer.set_wd_mult({"a_bias": 2.0})
    assert optimizer._get_lrs(range(4)) == [0.1, 1.0, 1.0, 1.0]
    assert optimizer._get_wds(range(4)) == [0.5, 1.0, 0.5, 0.0]


def test_a_schedule_owns_the_rate() -> None:
    schedule = mx.lr_scheduler.FactorScheduler(1, 0.5, base_lr=0.4)
    with pytest.warns(UserWarning, match="base_lr 0.4 is replaced by learning_rate 0.8"):
        optimizer = mx.optimizer.SGD(learning_rate=0.8, lr_scheduler=schedule)
    with pytest.raises(UserWarning, match="lr_scheduler"):
        optimizer.set_learning_rate(0.1)
    weight = nd.ones((1,))
    updater = mx.optimizer.get_updater(optimizer)
    for _ in range(3):
        updater(0, nd.ones((1,)), weight)
    assert weight.asscalar() == pytest.approx(1 - 0.8 - 0.4 - 0.2)


def test_update_counts_are_kept_for_each_device() -> None:
    updater = mx.optimizer.get_updater(mx.optimizer.Adam())
    for device in (0, 1, 1):
        updater(0, nd.ones((2,), ctx=mx.cpu(device)), nd.ones((2,), ctx=mx.cpu(device)))
    counts = updater.optimizer._all_index_update_counts
    assert (counts[0][0], counts[1][0]) == (1, 2)
    assert updater.optimizer.num_update == 2


def test_half_precision_without_a_copy_warns() -> None:
    with pytest.warns(UserWarning, match="Adam accumulates in float16"):
        mx.optimizer.Adam().create_state_multi_precision(0, nd.ones((2,), dtype="float16"))


def test_unknown_optimizers_are_named() -> None:
    with pytest.raises(ValueError, match=r"no optimizer 'adm'; known are .*adam"):
        mx.optimizer.create("adm")


def test_updates_inside_record_are_not_recorded() -> None:
    weight = nd.ones((2,))
    weight.attach_grad()
    updater = mx.optimizer.get_updater(mx.optimizer.AdaGrad(learning_rate=0.1))
    with mx.autograd.record():
        updater(0, nd.ones((2,)), weight)
        loss = (weight * 3).sum()
    loss.backward()
    np.testing.assert_array_equal(weight.grad.asnumpy(), [3, 3])


def test_optimizers_can_be_copied() -> None:
    optimizer = mx.optimizer.Nadam(learning_rate=0.3)
    assert copy.deepcopy(optimizer).lr == 0.3


def test_states_name_the_classes_as_mxnet_does() -> None:
    schedule = mx.lr_scheduler.CosineScheduler(5)
    updater = mx.optimizer.get_updater(mx.optimizer.Adam(learning_rate=0.01, lr_scheduler=schedule))
    updater(0, nd.ones((2,)), nd.ones((2,)))
    states = updater.get_states(dump_optimizer=True)
    assert b"autohybrid" not in states
    for name in (b"mxnet.ndarray.ndarray", b"mxnet.optimizer.optimizer", b"mxnet.lr_scheduler"):
        assert name in states


class _Halving(mx.optimizer.Optimizer):
    def update(self, index: Any, weight: nd.NDArray, grad: nd.NDArray, state: Any) -> None:
        weight *= 0.5


def test_an_optimizer_of_the_user_keeps_its_own_name() -> None:
    updater = mx.optimizer.get_updater(_Halving())
    other = mx.optimizer.get_updater(mx.optimizer.SGD())
    other.set_states(updater.get_states(dump_optimizer=True))
    weight = nd.ones((2,))
    other(0, nd.ones((2,)), weight)
    assert weight.asnumpy().tolist() == [0.5, 0.5]


_IN_PLACE: tuple[tuple[str, dict[str, Any]], ...] = (
    ("sgd", {}),
    ("sgd", {"momentum": 0.9, "wd": 0.01, "clip_gradient": 0.3}),
    ("adam", {"wd": 0.01}),
    ("adam", {"clip_gradient": 0.2, "beta1": 0.8}),
)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("name", "settings"), _IN_PLACE)
def test_updates_in_place_equal_those_of_the_operators_bit_for_bit(
    name: str, settings: dict[str, Any], dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = np.random.RandomState(7)
    shapes = [(1,), (3,), (130, 257)]  # the last one is larger than a block, and no multiple of it
    values = [draw.uniform(-1, 1, s).astype(dtype) for s in shapes]
    grads = [[nd.array(draw.uniform(-1, 1, s), dtype=dtype) for s in shapes] for _ in range(3)]
    modules = [importlib.import_module(f"autohybrid.optim.optimizer.{m}") for m in ("sgd", "adam")]
    results = []
    for in_place in (True, False):
        if not in_place:
            for module in modules:
                monkeypatch.setattr(module, "can_update", lambda *arrays: False)
        updater = mx.optimizer.get_updater(mx.optimizer.create(name, rescale_grad=1 / 7, **settings))
        weights = [nd.array(v, dtype=dtype) for v in values]
        memory = [w._data for w in weights]
        for step in grads:
            updater([0, 1, 2], step, weights)
        assert all(w._data is m for w, m in zip(weights, memory))
        states = [s for key in range(3) for s in _state_arrays(updater.states[key])]
        results.append([a.asnumpy().tobytes() for a in (*weights, *states)])
    assert results[0] == results[1]


def test_a_half_precision_or_sparse_weight_is_not_updated_in_place() -> None:
    weight = nd.ones((2, 3))
    assert can_update(weight, weight.copy())
    assert not can_update(weight.astype("float16"), weight.astype("float16"))
    assert not can_update(weight, weight.tostype("row_sparse"))
    assert not can_update(weight, nd.ones((3, 2)))
    assert not can_update(weight, weight.astype("float64"))
