"""`hybridize(verify=True)`: the first call of each signature also runs imperatively, and both must agree.

Outputs are compared, and under recording the gradients of the arguments. Random numbers, arguments and parameters are
put back between the runs, so that each sees what the call itself sees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from autohybrid.errors import HybridizeError
from autohybrid.graph.function import GraphFunction
from autohybrid.graph.structure import Structure, flatten, unflatten
from autohybrid.tensor import random_state
from autohybrid.tensor.array import NDArray, mark_variable, wrap
from autohybrid.tensor.backend import to_host
from autohybrid.tensor.tape import Variable, run_backward, state
from autohybrid.transform.first_difference import Host, describe_first, difference


@dataclass(frozen=True, slots=True)
class _Found:
    """One number of a run that is compared: what it is, and its values (None: no gradient flows)."""

    what: str
    values: Host | None


def verify(block: Any, function: GraphFunction, structure: Structure, arrays: Sequence[NDArray]) -> None:
    """Compare a compiled call of `block` with the imperative one. Raises HybridizeError where they differ.

    The message names the first result that differs, how far apart the values are, and the first operator call inside
    the block at which the two part.
    """

    def imperative(given: list[NDArray]) -> Any:
        return _imperative(block, unflatten(structure, iter(given)))

    expected, found = _run(block, imperative, arrays), _run(block, function, arrays)
    problem = _first_problem(expected, found)
    if problem is None:
        return
    with _undone(block):
        where = describe_first(function, arrays, lambda given: _run_once(block, imperative, given))
    raise HybridizeError(f"hybridize(verify=True): {type(block).__name__} `{block.name}`: {problem}{where}")


def _first_problem(expected: Sequence[_Found], found: Sequence[_Found]) -> str | None:
    if [f.what for f in expected] != [f.what for f in found]:
        return f"the compiled call gives {len(found)} values where the imperative one gives {len(expected)}"
    for a, b in zip(expected, found):
        if a.values is None or b.values is None:
            if a.values is not b.values:
                return f"{a.what} is {'0' if b.values is None else 'there'} in the compiled call only"
            continue
        problem = difference(a.values, b.values)
        if problem:
            return f"{a.what} of the compiled call {problem}"
    return None


def _run_once(block: Any, call: Callable[[list[NDArray]], Any], arrays: list[NDArray]) -> None:
    with _undone(block):
        call(arrays)


def _run(block: Any, call: Callable[[list[NDArray]], Any], arrays: Sequence[NDArray]) -> list[_Found]:
    """Outputs, gradients, written arguments and auxiliary states of one run on copies of the arguments."""
    with _undone(block):
        copies = [wrap(a._data.copy(), a._ctx) for a in arrays]
        variables: dict[str, Variable] = {}
        for index, (copy, original) in enumerate(zip(copies, arrays)):
            if state.recording and original._entry is not None:
                mark_variable(copy, wrap(copy._data * 0, copy._ctx), "write")
                assert copy._entry is not None
                variables[f"gradient of argument {index}"] = copy._entry[0]
        variables.update(_parameter_variables(block))
        leaves: list[NDArray] = []
        flatten(call(copies), leaves)
        found = [_Found(f"output {i}", _host(leaf)) for i, leaf in enumerate(leaves)]
        found += [_Found(f"argument {i} after the call", _host(copy)) for i, copy in enumerate(copies)]
        found += _gradients(leaves, variables)
        states = [p for p in block.collect_params().values() if p.grad_req == "null" and p._data]
        return found + [_Found(f"auxiliary state `{p.name}`", _host(p._data[0])) for p in states]


def _parameter_variables(block: Any) -> dict[str, Variable]:
    if not state.recording:
        return {}
    return {
        f"gradient of parameter `{p.name}`": array._entry[0]
        for p in block.collect_params().values()
        for array in (p._data or ())
        if array._entry is not None and isinstance(array._entry[0], Variable)
    }


def _gradients(leaves: Sequence[NDArray], variables: dict[str, Variable]) -> list[_Found]:
    heads = [leaf for leaf in leaves if leaf._entry is not None]
    if not heads or not variables:
        return []
    found = run_backward(heads, None, list(variables.values()), False, False, state.training)
    return [_Found(what, None if g is None else _host(g)) for what, g in zip(variables, found)]


def _host(array: NDArray) -> Host:
    copied: Host = to_host(array._data).copy()
    return copied


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
