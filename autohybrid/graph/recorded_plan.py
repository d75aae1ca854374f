"""What is generated for recorded calls of one graph: by signature, train mode, and choice of marked inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from autohybrid.graph.autodiff import differentiate, is_identity, on_tape
from autohybrid.graph.inference import infer_dtypes, infer_shapes
from autohybrid.graph.interpreter import is_open
from autohybrid.graph.node import Head, Node
from autohybrid.graph.recorded_code import RecordedGraph, generate_recorded
from autohybrid.tensor.array import NDArray
from autohybrid.tensor.shapes import is_known
from autohybrid.tensor.tape import state

if TYPE_CHECKING:
    from autohybrid.graph.function import GraphFunction

_LONGEST_REST = 256


def is_fit(function: GraphFunction) -> bool:
    """Whether the calls are nothing but their results, and those are computed from the inputs."""
    outputs = function.outputs
    if outputs.written or outputs.attributes or outputs.effects or len(set(outputs.heads)) < len(outputs.heads):
        return False
    return all(node.op is not None for node, _ in outputs.heads) and all(map(_is_fit_node, function.order))


def _is_fit_node(node: Node) -> bool:
    op = node.op
    if op is None:
        return True
    if node.extra is not None or op.session is not None or op.grad is None or op.stores_sparse:
        return False
    if op.mutates and not op.train_dependent:
        return False
    return bool(node.inputs) or not is_open(getattr(node.attrs, "shape", None) or ())


class RecordedPlan:
    """The passes for one signature, train mode and choice of marked inputs.

    `active` are the outputs that backward passes start from, as the latest one did. `random` are the calls that draw,
    whose outputs are kept for `unfold`; `exempt` the variables that calls themselves write.
    """

    def __init__(self, function: GraphFunction, inputs: Sequence[NDArray], wanted: Sequence[bool]) -> None:
        self.function = function
        self.train = state.training
        self.ctx = inputs[0]._ctx
        self.names = (*function.inputs, *function.captured)
        self.outputs = function.outputs.heads
        self.output_count = len(self.outputs)
        self.signature = {n: (tuple(a.shape), a._data.dtype) for n, a in zip(self.names, inputs)}
        by_name = {node.name: node for node in function.order if node.op is None}
        self.variables = [by_name.get(name) for name in self.names]
        self.wanted = frozenset(v for v, is_wanted in zip(self.variables, wanted) if is_wanted and v is not None)
        taped = on_tape(function.order, self.wanted)
        self.recorded = tuple([i for i, (node, _) in enumerate(self.outputs) if node in taped])
        self.active = tuple([i in self.recorded for i in range(self.output_count)])
        self.random = [n for n in function.order if n.op is not None and n.op.random and not is_identity(n, self.train)]
        self.exempt = _written_by_calls(function.order, self.train)
        self._code: dict[tuple[bool, ...], Any] = {}
        self._gradients: dict[tuple[bool, ...], list[int | None]] = {}
        self._unfolded = self._rest = 0
        self._constant: dict[tuple[bool, ...], list[int]] = {}

    def code(self, active: tuple[bool, ...]) -> Any:
        """The generator function for backward passes from these outputs; None where it cannot be made."""
        if active not in self._code:
            self._code[active] = self._generate(active)
        return self._code[active]

    def is_resting(self) -> bool:
        """Whether the next call should put its operators on the tape at once."""
        if self._rest == 0:
            return False
        self._rest -= 1
        return True

    def note_backward(self, unfolded: bool) -> None:
        """A backward pass went by: after several in a row that had to compute the calls again, the generated code rests
        for some calls, twice as many each time."""
        self._unfolded = self._unfolded + 1 if unfolded else 0
        self._rest = min(1 << self._unfolded, _LONGEST_REST) - 2 if self._unfolded > 1 else 0

    def gradient_positions(self, active: tuple[bool, ...]) -> list[int | None]:
        """For each input the position of its gradient among those that the generator gives."""
        return self._gradients[active]

    def constant_inputs(self, active: tuple[bool, ...]) -> list[int]:
        """See `_without_gradient`; remembered."""
        return self._constant[active]

    def _without_gradient(self, active: tuple[bool, ...]) -> list[int]:
        """The marked inputs that these outputs depend on, through constant steps only."""
        positions = self._gradients[active]
        reached = {i for output, is_active in enumerate(active) if is_active for i in self.reached_from(output)}
        return sorted(i for i in reached if positions[i] is None)

    def reached_from(self, index: int) -> list[int]:
        """The marked inputs that output `index` depends on."""
        needed: set[Node] = set()
        pending = [self.outputs[index][0]]
        while pending:
            node = pending.pop()
            if node not in needed:
                needed.add(node)
                pending.extend([source for source, _ in node.inputs])
        return [i for i, v in enumerate(self.variables) if v in needed and v in self.wanted]

    def _generate(self, active: tuple[bool, ...]) -> Any:
        if not any(active):
            return None
        heads = self.outputs
        shapes = infer_shapes(heads, {n: s for n, (s, _) in self.signature.items()})
        dtypes = infer_dtypes(heads, {n: d.name for n, (_, d) in self.signature.items()})
        if not all(map(is_known, shapes.values())) or None in dtypes.values():
            return None
        facts = (shapes, dtypes)
        backward = differentiate(self.function.order, heads, active, self.wanted, facts, self.train, self.ctx)
        if backward is None:
            return None
        gradients: dict[Head, int] = {}
        positions: list[int | None] = []
        for variable in self.variables:
            head = None if variable is None else backward.of_variables.get(variable)
            positions.append(None if head is None else gradients.setdefault(head, len(gradients)))
        self._gradients[active] = positions
        self._constant[active] = self._without_gradient(active)
        kept = [(node, i) for node in self.random for i in range(node.output_count)]
        graph = RecordedGraph(
            self.names, (*heads, *kept), tuple(gradients), backward, self.function.outputs, self.function.exact
        )
        signature = [*self.signature.values()]
        for head, variable in zip(heads, backward.head_variables):
            if variable is not None:
                signature.append((tuple(shapes[head] or ()), np.dtype(dtypes[head])))
        return generate_recorded(graph, tuple(signature), self.train)


def _written_by_calls(order: Sequence[Node], train: bool) -> frozenset[str]:
    """The variables that the calls write themselves: moving statistics, and a gamma that is fixed."""
    found: set[str] = set()
    for node in order:
        if node.op is None or node.attrs is None or not train:
            continue
        written = {*node.op.aux_names(node.attrs), *node.op.mutated_names(node.attrs)}
        found.update(source.name for (source, _), name in zip(node.inputs, node.input_names()) if name in written)
    return frozenset(found)
