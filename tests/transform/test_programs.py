"""Random programs: hybridized, every one gives what it gives imperatively, in values, gradients and errors."""

from __future__ import annotations

import importlib.util
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from transform.programs import make_program

import autohybrid as mx
from autohybrid import autograd, nd

PROGRAMS = int(os.environ.get("AUTOHYBRID_PROGRAMS", "2000"))
CHUNK = 50


def load(text: str, path: Path) -> Any:
    """Import a program from a file, where its source can be read."""
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Program


def run(net: Any, inputs: list[Any], record: bool) -> Any:
    """The results of a call and the gradients of its inputs, or the class of the exception."""
    arrays = [x.copy() for x in inputs]
    for array in arrays:
        array.attach_grad()
    try:
        if not record:
            return [o.asnumpy() for o in _listed(net(*arrays))]
        with autograd.record():
            outputs = _listed(net(*arrays))
            heads = [(o * (k + 1)).sum() for k, o in enumerate(outputs)]
        autograd.backward(heads)
        gradients = [a.grad.asnumpy() for a in arrays]
        gradients += [p.grad().asnumpy() for p in net.collect_params().values()]
        return [o.asnumpy() for o in outputs] + gradients
    except mx.HybridizeError:
        raise
    except Exception as error:  # what the program raises is part of its result
        return type(error).__name__


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def assert_same(expected: Any, found: Any) -> None:
    assert isinstance(expected, str) == isinstance(found, str), (expected, found)
    if isinstance(expected, str):
        assert expected == found
        return
    assert len(expected) == len(found)
    for a, b in zip(expected, found):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-5)


def check(seed: int, folder: Path) -> None:
    """Compare a program with its hybridized self on two inputs, recording and not."""
    text = make_program(seed)
    program = load(text, folder / f"program_{seed}.py")
    nets = [program(), program()]
    for net in nets:
        mx.random.seed(seed)
        net.initialize(mx.init.Uniform(0.5))
    nets[1].hybridize()
    for k in range(2):
        state = np.random.RandomState(seed + k)
        inputs = [nd.array(state.uniform(-1, 1, (3, 4))) for _ in range(2)]
        for record in (False, True):
            try:
                expected, found = (run(net, inputs, record) for net in nets)
                assert_same(expected, found)
            except (AssertionError, mx.HybridizeError) as error:
                raise AssertionError(f"seed {seed}, input {k}, recording {record}:\n{text}\n{error}") from error


@pytest.mark.parametrize("first", range(0, PROGRAMS, CHUNK))
def test_hybridized_program_equals_imperative(first: int, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mx.HybridizeWarning)
        for seed in range(first, min(first + CHUNK, PROGRAMS)):
            check(seed, tmp_path)
