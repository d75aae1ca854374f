"""hybridize() on the labelled cases: every call gives what the imperative block gives, or is refused.

The fixed twins must be equal, without a refusal.
"""

from __future__ import annotations

import random
import runpy
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from labelled.cases import Case, load_cases

import autohybrid as mx
from autohybrid import autograd, compat, nd

CASES = load_cases()
FIXED = [c for c in CASES if c.fixed is not None]


@pytest.fixture(autouse=True)
def mxnet_name() -> Iterator[None]:
    """The cases say `import mxnet`."""
    compat.install()
    yield
    compat.uninstall()


def seed(value: int) -> None:
    mx.random.seed(value)
    np.random.seed(value)
    random.seed(value)


def plain(value: Any) -> Any:
    """Results with NumPy arrays for NDArrays and lists for sequences."""
    if isinstance(value, nd.NDArray):
        return value.asnumpy()
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return value


def copied(value: Any) -> Any:
    if isinstance(value, nd.NDArray):
        return value.copy()
    if type(value) in (list, tuple):
        return type(value)(copied(v) for v in value)
    return type(value)(*map(copied, value)) if isinstance(value, tuple) else value


def floats_in(value: Any) -> list[Any]:
    if isinstance(value, nd.NDArray):
        return [value] if value.dtype in (np.float32, np.float64) else []
    return [a for v in value for a in floats_in(v)] if isinstance(value, (list, tuple)) else []


def run(path: Path, hybrid: bool, record: bool) -> tuple[list[Any], bool]:
    """What each call gives, or that it raises; and whether it was a refusal."""
    seed(1)
    module = runpy.run_path(str(path), run_name="case")
    net, calls = module["example"](mx)
    modes = module.get("TRAIN", ())
    net.initialize(mx.init.Uniform(0.5))
    log: list[Any] = []
    for k, given in enumerate(calls):
        call = copied(given)
        seed(100 + k)
        if hybrid and k == 0:
            net.hybridize()
        try:
            log.append(_call(net, call, record, bool(modes[k]) if k < len(modes) else None))
        except mx.HybridizeError:
            return log, True
        except Exception as error:  # the case is about an error: both ways must raise
            log.append(f"raised {type(error).__name__}")
            break
    return log, False


def _call(net: Any, call: Any, record: bool, train: bool | None) -> Any:
    if not record:
        if train is None:
            return [plain(net(*call)), []]
        with autograd.record(train_mode=train):
            return [plain(net(*call)), []]
    leaves = floats_in(call)
    for leaf in leaves:
        leaf.attach_grad()
    with autograd.record(train_mode=True if train is None else train):
        out = net(*call)
    autograd.backward(floats_in(out))
    return [plain(out), [leaf.grad.asnumpy() for leaf in leaves]]


def same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.shape == b.shape and a.dtype == b.dtype and np.allclose(a, b, 1e-4, 1e-5, equal_nan=True)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, str) and a.startswith("raised"):
        return isinstance(b, str) and b.startswith("raised")
    return type(a) is type(b) and bool(a == b)


def compare(path: Path, case: Case) -> bool:
    """Assert that both ways agree at each call; whether hybridize() refused."""
    for record in (False,) if case.kind == "frozen-randomness" else (False, True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected, _ = run(path, False, record)
            if record and expected and isinstance(expected[-1], str):
                continue  # not differentiable imperatively either
            found, refused = run(path, True, record)
        if refused:
            return True
        assert len(expected) == len(found), (expected[-1:], found[-1:])
        for k, (a, b) in enumerate(zip(expected, found)):
            assert same(a, b), f"call {k + 1}, recording {record}"
    return False


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_case_is_equal_or_refused(case: Case) -> None:
    refused = compare(case.path, case)
    assert not (refused and case.label == "clean")


@pytest.mark.parametrize("case", FIXED, ids=lambda c: c.id)
def test_fixed_twin_is_equal(case: Case) -> None:
    assert case.fixed is not None
    assert not compare(case.fixed, case)
