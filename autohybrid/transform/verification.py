"""`hybridize(verify=True)`: the first call of each signature also runs imperatively, and both must agree.

Outputs are compared, and under recording the gradients of the arguments. Random numbers, arguments and parameters are
put back between the runs, so that each sees what the call itself sees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from autohybrid.errors import HybridizeError
from autohybrid.graph.function import GraphFunction
from autohybrid.graph.structure import Structure, flatten, unflatten
from autohybrid.tensor import random_state
from autohybrid.tensor.array import NDArray, mark_variable, wrap
from autohybrid.tensor.backend import to_host
from autohybrid.tensor.tape import Variable, run_backward, state

_TOLERANCE = {"float16": (1e-2, 1e-3), "float32": (1e-4, 1e-5), "float64": (1e-7, 1e-9)}


def verify(block: Any, function: GraphFunction, structure: Structure, arrays: Sequence[NDArray]) -> None:
    """Compare a compiled call of `block` with the imperative one. Raises HybridizeError where they differ.

    The message names the first result that differs, its node, and how far apart the values are.
    """
    expected = _run(block, lambda given: _imperative(block, unflatten(structure, iter(given))), arrays)
    found = _run(block, function, arrays)
    for what, theirs, ours in zip(("output", "gradient of argument"), expected, found):
        if len(theirs) != len(ours):
            raise HybridizeError(f"{_name(block)}: {len(ours)} values of kind {what} where there are {len(theirs)}")
        for index, (a, b) in enumerate(zip(theirs, ours)):
            problem = _difference(a, b)
            if problem:
                node = f" (node `{function.outputs.heads[index][0].name}`)" if what == "output" else ""
                raise HybridizeError(f"{_name(block)}: {what} {index}{node} of the compiled call {problem}")


def _name(block: Any) -> str:
    return f"hybridize(verify=True): {type(block).__name__} `{block.name}`"


Results = tuple[list[np.ndarray[Any, Any]], list[np.ndarray[Any, Any]]]


def _run(block: Any, call: Callable[[list[NDArray]], Any], arrays: Sequence[NDArray]) -> Results:
    """Outputs and gradients of one run on copies of the arguments."""
    with _undone(block):
        copies = [wrap(a._data.copy(), a._ctx) for a in arrays]
        variables = []
        for copy, original in zip(copies, arrays):
            if state.recording and original._entry is not None:
                mark_variable(copy, wrap(copy._data * 0, copy._ctx), "write")
                assert copy._entry is not None
                variables.append(copy._entry[0])
        leaves: list[NDArray] = []
        flatten(call(copies), leaves)
        outputs = [to_host(leaf._data).copy() for leaf in leaves]
        return outputs, _gradients(leaves, variables)


def _gradients(leaves: Sequence[NDArray], variables: Sequence[Variable]) -> list[np.ndarray[Any, Any]]:
    heads = [leaf for leaf in leaves if leaf._entry is not None]
    if not heads or not variables:
        return []
    found = run_backward(heads, None, list(variables), False, False, state.training)
    return [np.zeros(()) if g is None else to_host(g._data).copy() for g in found]


def _imperative(block: Any, args: tuple[Any, ...]) -> Any:
    """The block's own code, with nothing inside it compiled."""
    inside = list(_descendants(block))
    active = [child._active for child in inside]
    try:
        for child in inside:
            child.__dict__["_active"] = False
        return block._call_imperatively(args)
    finally:
        for child, was in zip(inside, active):
            child.__dict__["_active"] = was


def _descendants(block: Any) -> Iterator[Any]:
    for child in block._children.values():
        if hasattr(child, "_active"):
            yield child
        yield from _descendants(child)


@contextmanager
def _undone(block: Any) -> Iterator[None]:
    """Put random numbers and parameters (running statistics among them) back afterwards."""
    numbers = random_state.snapshot()
    kept = [(a, a._data.copy()) for p in block.collect_params().values() for a in (p._data or ())]
    try:
        yield
    finally:
        random_state.restore(numbers)
        for array, values in kept:
            array._store(values)


def _difference(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> str:
    if a.shape != b.shape or a.dtype != b.dtype:
        return f"has shape {b.shape} and dtype {b.dtype}, the imperative one {a.shape} and {a.dtype}"
    rtol, atol = _TOLERANCE.get(a.dtype.name, (0.0, 0.0))
    if np.allclose(a, b, rtol, atol, equal_nan=True):
        return ""
    return (
        f"differs from the imperative one by up to {np.nanmax(np.abs(a.astype('float64') - b.astype('float64'))):.3g}"
    )
