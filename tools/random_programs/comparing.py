"""One random program: what it gives imperatively and hybridized, in values, gradients, states and errors."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np

import autohybrid as mx
from autohybrid import autograd, nd
from tools.random_programs.writer import make_program

_CALLS = 2


def check(seed: int, folder: Path) -> None:
    """Compare the program of a seed with its hybridized self on two inputs, recording and not.

    Its file is written into `folder`. Raises AssertionError, with the program in it, where something differs, or where
    the compiler refuses or fails.
    """
    text = make_program(seed)
    program = _load(text, folder / f"program_{seed}.py")
    nets = [program(), program()]
    for net in nets:
        mx.random.seed(seed)
        net.initialize(mx.init.Uniform(0.5))
    nets[1].hybridize()
    for k in range(_CALLS):
        state = np.random.RandomState(seed + k)
        inputs = [nd.array(state.uniform(-1, 1, (3, 4))) for _ in range(2)]
        for record in (False, True):
            try:
                expected, found = (_run(net, inputs, record) for net in nets)
                _assert_same(expected, found)
            except (AssertionError, mx.HybridizeError) as error:
                raise AssertionError(f"seed {seed}, input {k}, recording {record}:\n{text}\n{error}") from error


def _load(text: str, path: Path) -> Any:
    """Import a program from a file, where its source can be read."""
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    exec(compile(text, str(path), "exec"), module.__dict__)
    return module.Program


def _run(net: Any, inputs: list[Any], record: bool) -> Any:
    """The results of a call, the tensor it keeps and the gradients; or the class of the exception."""
    arrays = [x.copy() for x in inputs]
    for array in arrays:
        array.attach_grad()
    try:
        if not record:
            return [o.asnumpy() for o in _results(net, arrays)]
        with autograd.record():
            outputs = _results(net, arrays)
            heads = [(o * (k + 1)).sum() for k, o in enumerate(outputs)]
        autograd.backward(heads)
        gradients = [a.grad.asnumpy() for a in arrays]
        gradients += [p.grad().asnumpy() for p in net.collect_params().values()]
        return [o.asnumpy() for o in outputs] + gradients
    except mx.HybridizeError:
        raise
    except (AssertionError, ValueError, TypeError, IndexError, AttributeError, NameError, mx.MXNetError) as error:
        return type(error).__name__  # what the program raises is part of its result


def _results(net: Any, arrays: list[Any]) -> list[Any]:
    net.memo = net.start
    value = net(*arrays)
    return [*(value if isinstance(value, (list, tuple)) else [value]), net.memo]


def _assert_same(expected: Any, found: Any) -> None:
    assert isinstance(expected, str) == isinstance(found, str), (expected, found)
    if isinstance(expected, str):
        assert expected == found, (expected, found)
        return
    assert len(expected) == len(found)
    for a, b in zip(expected, found):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-5)
