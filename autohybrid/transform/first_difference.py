"""Where a compiled call and the imperative one part: the first operator call inside a block whose outputs differ.

First the graph's nodes, run one by one, are compared with the calls of the imperative run in program order: a
difference there means that the graph is another program. If there is none, generated code differs from its own graph;
then the node is looked for whose value, or whose gradient, differs while those of its inputs agree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

import numpy as np

from autohybrid.graph.builder import user_span
from autohybrid.graph.function import GraphFunction, GraphOutputs
from autohybrid.graph.interpreter import run, run_node
from autohybrid.graph.node import Head, Node
from autohybrid.graph.structure import ARRAY
from autohybrid.spans import Span
from autohybrid.tensor import random_state
from autohybrid.tensor.array import NDArray, mark_variable, wrap
from autohybrid.tensor.backend import to_host
from autohybrid.tensor.observing import observed
from autohybrid.tensor.opdef import OpDef
from autohybrid.tensor.tape import run_backward, state

Host = np.ndarray[Any, Any]
_TOLERANCE = {"float16": (1e-2, 1e-3), "float32": (1e-4, 1e-5), "float64": (1e-7, 1e-9)}


def difference(a: Host, b: Host) -> str:
    """How `b` differs from the imperative values `a`; empty when it does not, within rounding."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return f"has shape {b.shape} and dtype {b.dtype}, the imperative one {a.shape} and {a.dtype}"
    rtol, atol = _TOLERANCE.get(a.dtype.name, (0.0, 0.0))
    if np.allclose(a, b, rtol, atol, equal_nan=True):
        return ""
    gap = np.abs(a.astype("float64") - b.astype("float64"))
    return f"differs from the imperative one by up to {np.nanmax(gap):.3g}"


@dataclass(frozen=True, slots=True)
class _Call:
    """One operator call of a run: its operator, what it gave, and the node or the user's place, where known."""

    op: str
    outputs: tuple[Host, ...]
    node: Node | None
    span: Span | None


def describe_first(
    function: GraphFunction, arrays: Sequence[NDArray], imperative: Callable[[list[NDArray]], None]
) -> str:
    """The first call at which the runs part, as the end of a message; empty when it cannot be told."""
    theirs = _observed_calls(lambda: imperative(_copies(arrays)))
    ours = _graph_calls(function, _copies(arrays))
    found = _first_pair(theirs, ours)
    if found is not None:
        return found
    node = _Search(function, arrays).find()
    return "" if node is None else f"; first at {_shown(node.op, node, node.span)}, in generated code"


def _copies(arrays: Sequence[NDArray]) -> list[NDArray]:
    return [wrap(a._data.copy(), a._ctx) for a in arrays]


def _observed_calls(run_it: Callable[[], None]) -> list[_Call]:
    calls: list[_Call] = []

    def note(op: OpDef, outputs: Sequence[Any]) -> None:
        calls.append(_Call(op.name, _hosts(outputs), None, user_span()))

    with observed(note):
        run_it()
    return calls


def _graph_calls(function: GraphFunction, arrays: list[NDArray]) -> list[_Call]:
    """The calls of the graph, nodes inside of branches and loops as they run."""
    values: dict[Head, NDArray] = {}
    feed = dict(zip(function.inputs, arrays))
    feed.update(zip(function.captured, function.captured_arrays()))
    calls: list[_Call] = []
    current: list[Node] = []

    def note(op: OpDef, outputs: Sequence[Any]) -> None:
        node = current[-1]
        inside = node.op is not op
        calls.append(_Call(op.name, _hosts(outputs), None if inside else node, node.span))

    numbers = random_state.snapshot()
    with observed(note):
        for node in function.order:
            if node.op is None:
                values[node, 0] = feed[node.name]
                continue
            current.append(node)
            outputs = run_node(node, [values[h] for h in node.inputs])
            values.update({(node, i): output for i, output in enumerate(outputs)})
    random_state.restore(numbers)
    return calls


def _hosts(outputs: Sequence[Any]) -> tuple[Host, ...]:
    return tuple([to_host(o._data).copy() for o in outputs])


def _first_pair(theirs: Sequence[_Call], ours: Sequence[_Call]) -> str | None:
    matcher = SequenceMatcher(None, [c.op for c in theirs], [c.op for c in ours], autojunk=False)
    for start, other, size in matcher.get_matching_blocks():
        for a, b in zip(theirs[start : start + size], ours[other : other + size]):
            for left, right in zip(a.outputs, b.outputs):
                problem = difference(left, right)
                if problem:
                    return f"; first at {_shown(a.op, b.node, a.span or b.span)}, whose result {problem}"
    return None


def _shown(op: Any, node: Node | None, span: Span | None) -> str:
    name = op if isinstance(op, str) else op.name
    named = "" if node is None else f" (node `{node.name}`)"
    return f"`{name}`{named}" + ("" if span is None else f" at {span}")


class _Search:
    """The node at which the executor of a graph departs from the plain interpreter, found from the outputs back."""

    def __init__(self, function: GraphFunction, arrays: Sequence[NDArray]) -> None:
        self.function = function
        self.arrays = arrays
        self._known: dict[Head, bool] = {}

    def find(self) -> Node | None:
        """A node that differs while all of its inputs agree."""
        heads = [h for h in self.function.all_heads if h[0].op is not None and self._differs(h)]
        if not heads:
            return None
        head = heads[0]
        while True:
            wrong = next((h for h in head[0].inputs if h[0].op is not None and self._differs(h)), None)
            if wrong is None:
                return head[0]
            head = wrong

    def _differs(self, head: Head) -> bool:
        if head not in self._known:
            part = GraphFunction(
                self.function.inputs,
                self.function.captured,
                GraphOutputs((head,), ARRAY),
                self.function.reads,
                self.function.exact,
            )
            plain, generated = self._run(lambda given: self._interpret(head, given)), self._run(part)
            self._known[head] = any(bool(difference(a, b)) for a, b in zip(plain, generated))
        return self._known[head]

    def _interpret(self, head: Head, given: list[NDArray]) -> NDArray:
        feed = dict(zip(self.function.inputs, given))
        feed.update(zip(self.function.captured, self.function.captured_arrays()))
        return run([head], feed)[0]

    def _run(self, call: Callable[[list[NDArray]], Any]) -> list[Host]:
        """The value, and under recording the gradients of the arguments."""
        given = _copies(self.arrays)
        variables = []
        for copy, original in zip(given, self.arrays):
            if state.recording and original._entry is not None:
                mark_variable(copy, wrap(copy._data * 0, copy._ctx), "write")
                assert copy._entry is not None
                variables.append(copy._entry[0])
        numbers = random_state.snapshot()
        value = call(given)
        random_state.restore(numbers)
        found = [value]
        if variables and value._entry is not None:
            gradients = run_backward([value], None, variables, False, False, state.training)
            found += [g for g in gradients if g is not None]
        return [to_host(array._data).copy() for array in found]
