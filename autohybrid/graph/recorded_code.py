"""Generated code of a recorded call: a generator that yields outputs, takes their gradients, and yields the inputs'.

What the backward pass reads is what the forward pass left in local variables and in the buffers of the call, so
nothing is copied or looked up; buffers are planned over both passes, and go back when the generator ends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from autohybrid.graph.autodiff import Gradients
from autohybrid.graph.codegen import Writer, compile_text
from autohybrid.graph.node import Head, Node, program_order
from autohybrid.graph.passes.drop_identities import drop_identities
from autohybrid.graph.passes.mask_before_spreading import mask_before_spreading
from autohybrid.graph.passes.rewriting import PlannedGraph
from autohybrid.graph.passes.share_subexpressions import share_subexpressions
from autohybrid.tensor.versions import note_write

if TYPE_CHECKING:
    from autohybrid.graph.function import GraphOutputs, Signature


@dataclass(frozen=True, slots=True)
class RecordedGraph:
    """A graph and its backward pass, in the form in which executors are written.

    `results` are the heads that the first yield gives, `gradients` those of the second.
    """

    variables: tuple[str, ...]
    results: tuple[Head, ...]
    gradients: tuple[Head, ...]
    backward: Gradients
    outputs: GraphOutputs
    exact: bool
    captured: dict[str, Any] = field(default_factory=dict)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of all variables: those of the call, then those of the head gradients."""
        return (*self.variables, *[node.name for node in self.backward.head_variables if node is not None])

    @property
    def all_heads(self) -> tuple[Head, ...]:
        """Results, gradients, then what moves the auxiliary states."""
        moved = [(node, i) for node in self.backward.moved for i in range(node.output_count)]
        return (*self.results, *self.gradients, *moved)

    @property
    def order(self) -> list[Node]:
        """All nodes in program order."""
        return program_order(self.all_heads)

    def captured_arrays(self) -> list[Any]:
        """None: every array is given to the call, as its gradient may be asked for."""
        return []


def generate_recorded(graph: RecordedGraph, signature: Signature, train: bool) -> Callable[..., Any]:
    """Compile the generator function of `graph`; `signature` is that of `graph.inputs`.

    It takes the raw arrays of the variables. `next` runs the forward pass and gives the results; `send` takes a tuple
    of the raw head gradients and of memory for the gradients at the positions `run.given`, runs the backward pass and
    gives the gradients; those at other positions are in fresh memory.
    """
    writer = _RecordedWriter(graph, signature, train)
    run = compile_text(writer.write(), writer.globals)
    run.given = tuple(sorted(writer.given.values()))  # type: ignore[attr-defined]
    return run


class _RecordedWriter(Writer):
    recorded = True
    function: Any

    def __init__(self, graph: RecordedGraph, signature: Signature, train: bool) -> None:
        self._recorded = graph
        self._start = graph.backward.start
        self._wanted: dict[Head, int] = {}
        #: The positions of gradients that are written into memory of the caller's.
        self.given: dict[Head, int] = {}
        super().__init__(graph, signature, train)  # type: ignore[arg-type]

    def optimize(self, graph: PlannedGraph) -> PlannedGraph:
        """The passes that leave values as they are; an input may be written between the two passes of the call."""

        def time_of(node: Node) -> int:
            return int(node.order >= self._start and any(source.op is None for source, _ in node.inputs))

        graph = share_subexpressions(drop_identities(graph), time_of)
        return graph if graph.exact else mask_before_spreading(graph)

    def given_memory(self, head: Head) -> str | None:
        """The memory for a gradient; the caller then always gives some."""
        position = self._wanted.get(head)
        if position is None:
            return None
        self.given[head] = position
        return f"memory_of_gradient{position}"

    def write(self) -> str:
        recorded = self._recorded
        parameters = [self._parameter(name) for name in recorded.variables]
        head_names = [self._parameter(n.name) for n in recorded.backward.head_variables if n is not None]
        results, gradients, moved = self._parts()
        self.lasting = {h for n in moved for h in (*n.inputs, *[(n, i) for i in range(n.output_count)])}
        self.write_calls([node for node in self.calls if node.order < self._start])
        turn = len(self.lines)
        yielded = self.results(results)
        self._wanted = {head: position for position, head in enumerate(gradients) if gradients.count(head) == 1}
        self.write_calls([node for node in self.calls if node.order >= self._start])
        memory = [f"memory_of_gradient{position}" for position in sorted(self.given.values())]
        self.lines.insert(turn, f"{', '.join([*head_names, *memory])}, = yield {yielded}")
        for node in moved:
            arrays = [self.names[h] for h in (*node.inputs, *[(node, i) for i in range(node.output_count)])]
            self.lines.append(f"{self.bind('move_states', partial(_move_states, node))}({', '.join(arrays)})")
        shown = [self.names[head] if head in self.given else self.results([head])[1:-2] for head in gradients]
        self.lines.append(f"gradients = ({''.join([f'{name}, ' for name in shown])})")
        body, self.lines = self.lines, []
        self._take_memory()
        if self._release:
            body = ["try:", *[f"    {line}" for line in body], "finally:", f"    {self._release}"]
        text = "\n".join(f"    {line}" for line in (*self.lines, *body, "yield gradients"))
        return f"def run({', '.join(parameters)}):\n{text}\n"

    def _parts(self) -> tuple[Sequence[Head], Sequence[Head], list[Node]]:
        """Results, gradients and nodes with states as the passes left them."""
        first, second = len(self._recorded.results), len(self._recorded.gradients)
        moved = dict.fromkeys(node for node, _ in self.heads[first + second :])
        return self.heads[:first], self.heads[first : first + second], list(moved)


def _move_states(node: Node, *arrays: Any) -> None:
    """What a backward pass through a node does to its auxiliary states; `arrays` are its inputs and outputs."""
    op = node.op
    assert op is not None and node.attrs is not None and op.backward_state is not None
    names = op.input_names(node.attrs)
    inputs, outputs = arrays[: len(names)], arrays[len(names) :]
    for name, value in op.backward_state(np, node.attrs, inputs, outputs).items():
        target = inputs[names.index(name)]
        target[...] = value
        note_write(target)
