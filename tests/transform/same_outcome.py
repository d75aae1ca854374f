"""Collect blocks, and compare each with its hybridized self: what the tests of kinds of code share."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import autohybrid as mx
from autohybrid import autograd, nd

Shapes = tuple[tuple[int, ...], ...]
USUAL: tuple[Shapes, ...] = (((2, 3),), ((4, 3),))


def collector(cases: list[Any]) -> Callable[..., Callable[[Any], Any]]:
    """A decorator `case(*calls, record=True)` that adds a block to `cases`, with the shapes of the calls.

    Imperatively, writes into arrays are errors while recording: such blocks say `record=False`.
    """

    def case(*calls: Shapes, record: bool = True) -> Callable[[Any], Any]:
        def collect(block: Any) -> Any:
            for mode in (False, True) if record else (False,):
                cases.append(pytest.param(block, calls or USUAL, mode, id=f"{block.__name__}-{mode}"))
            return block

        return collect

    return case


def host(value: Any) -> Iterator[Any]:
    """Arrays, plain values, and the kinds of containers around them."""
    if isinstance(value, nd.NDArray):
        yield value.asnumpy()
    elif isinstance(value, dict):
        yield from (type(value).__name__, *value)
        for item in value.values():
            yield from host(item)
    elif isinstance(value, (list, tuple)):
        yield type(value).__name__
        for item in value:
            yield from host(item)
    else:
        yield value


def leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, nd.NDArray):
        yield value
    elif isinstance(value, (dict, list, tuple)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from leaves(item)


def outcome(net: Any, shapes: Shapes, seed: int, record: bool) -> Any:
    """What a call gives and writes; with `record` the gradients; the class of the error where it raises one."""
    state = np.random.RandomState(seed)
    arrays = [nd.array(state.uniform(-2, 2, shape)) for shape in shapes]
    mx.random.seed(seed)
    try:
        if not record:
            return [*host(net(*arrays)), *host(arrays)]
        for array in arrays:
            array.attach_grad()
        with autograd.record():
            result = net(*arrays)
            heads = [(leaf * (k + 1)).sum() for k, leaf in enumerate(leaves(result))]
        autograd.backward(heads)
    except mx.HybridizeError:
        raise
    except (mx.MXNetError, ValueError, TypeError) as error:
        return type(error)
    parameters = [p.grad() for p in net.collect_params().values() if p.grad_req != "null"]
    return [*host(result), *host([a.grad for a in arrays]), *host(parameters)]


def assert_same_outcome(block: Any, calls: tuple[Shapes, ...], record: bool) -> None:
    """Call the block with several shapes, twice each, imperatively and hybridized."""
    nets = [block(), block()]
    for net in nets:
        mx.random.seed(1)
        net.initialize(mx.init.Uniform(0.5))
    nets[1].hybridize(fallback=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mx.HybridizeWarning)
        for seed, shapes in enumerate(calls * 2):
            expected, found = (outcome(net, shapes, seed, record) for net in nets)
            if isinstance(expected, type):
                assert found is expected
                return
            assert len(found) == len(expected)
            for a, b in zip(expected, found):
                if isinstance(a, np.ndarray):
                    assert (a.shape, a.dtype) == (b.shape, b.dtype)
                    np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
                else:
                    assert (type(a), a) == (type(b), b)
