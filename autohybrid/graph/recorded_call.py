"""Calls of a graph while recording: one node on the tape, generated code for both passes.

Where the generated code cannot serve - a graph with control flow, user code or writes; a backward pass that retains the
graph, is itself recorded, or starts from other outputs than expected - the graph's operators go on the tape one by one,
at once or when the backward pass asks for it (`RecordedCall.unfold`).
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from autohybrid.errors import MXNetError
from autohybrid.graph.interpreter import run_node
from autohybrid.graph.node import Head, Node
from autohybrid.graph.recorded_plan import RecordedPlan, is_fit
from autohybrid.tensor.array import NDArray, wrap
from autohybrid.tensor.imperative import record_call
from autohybrid.tensor.numpy_array import DENSE
from autohybrid.tensor.quiet import hush, unhush
from autohybrid.tensor.tape import Entry, GradientSums, TapeNode, Variable, freed, state
from autohybrid.tensor.versions import MemoryVersion, owner_of, watch

if TYPE_CHECKING:
    from autohybrid.graph.function import GraphFunction

Passes = Generator[tuple[Any, ...], tuple[Any, ...], None]


class RecordedCalls:
    """The recorded calls of one graph: what was generated for them, by signature, mode and marked inputs."""

    def __init__(self, function: GraphFunction) -> None:
        self.function = function
        self._is_fit = is_fit(function)
        self._plans: dict[Any, RecordedPlan] = {}
        self._watched: tuple[Sequence[NDArray], list[MemoryVersion]] = ((), [])

    def __call__(self, arrays: Sequence[NDArray]) -> list[NDArray] | None:
        """The outputs of the graph, on the tape; None where its operators must go there one by one."""
        if not self._is_fit:
            return None
        captured = self.function.captured_arrays()
        inputs = [*arrays, *captured]
        raw = []
        for array in inputs:
            data = array._data
            if type(array) not in DENSE or type(data) is not np.ndarray:
                return None
            raw.append(data)
        wanted = tuple([a._entry is not None for a in inputs])
        key = (state.training, wanted, *[(r.shape, r.dtype) for r in raw])
        plan = self._plans.get(key)
        if plan is None:
            plan = self._plans[key] = RecordedPlan(self.function, inputs, wanted)
        active = plan.active  # read once: a backward pass in another thread may change it
        code = None if plan.is_resting() else plan.code(active)
        if code is None:
            return None
        passes: Passes = code(*raw)
        token = hush()
        try:
            results = next(passes)
        finally:
            unhush(token)
        ctx = inputs[0]._ctx
        outputs = [wrap(r, ctx) for r in results[: plan.output_count]]
        node = RecordedCall(plan, active, inputs, results, passes, code.given, self._versions(arrays, captured))
        for index in plan.recorded:
            outputs[index]._entry = (node, index)
        return outputs

    def _versions(self, arrays: Sequence[NDArray], captured: Sequence[NDArray]) -> list[tuple[MemoryVersion, int]]:
        """The versions of the inputs' memory now."""
        known, versions = self._watched
        if known is not captured:
            versions = [watch(a._data) for a in captured]
            self._watched = (captured, versions)
        return [(v, v.count) for v in (*[watch(a._data) for a in arrays], *versions)]


class RecordedCall(TapeNode):
    """One call of a graph on the tape."""

    __slots__ = ("_active", "_differentiated", "_given", "_kept", "_passes", "_plan", "_versions")

    def __init__(
        self,
        plan: RecordedPlan,
        active: tuple[bool, ...],
        inputs: Sequence[NDArray],
        results: Sequence[Any],
        passes: Passes,
        given: tuple[int, ...],
        versions: list[tuple[MemoryVersion, int]],
    ) -> None:
        super().__init__("a hybridized block", None, None, inputs, results[: plan.output_count], plan.train)
        self._plan = plan
        self._active = active
        self._passes: Passes | None = passes
        self._given: tuple[int, ...] = given
        self._differentiated = False
        self._kept = results[plan.output_count :]
        self._versions = versions

    def pass_back(
        self, sums: GradientSums, heads: Sequence[NDArray | None], namespace: Any, retain: bool, linked: bool
    ) -> None:
        """See TapeNode. By the generated code where that fits, which is once; else through the single operators."""
        active = tuple([h is not None for h in heads])
        passes = self._passes
        if retain or linked or passes is None or active != self._active or not self._fits(heads):
            self._plan.active = active
            self._plan.note_backward(unfolded=retain or linked)
            self._pass_to_operators(sums, heads)
            return
        self._plan.note_backward(unfolded=False)
        self._passes = None
        self._differentiated = True
        assert self.inputs is not None
        positions = self._plan.gradient_positions(active)
        raw_heads = [h._data for h in heads if h is not None]
        direct = self._direct_targets(sums, positions, raw_heads)
        memory = []
        for place in self._given:
            target = direct.get(place)
            like = self.inputs[positions.index(place)]._data
            memory.append(np.empty(like.shape, like.dtype) if target is None else target._data)
        token = hush()
        try:
            gradients = passes.send((*raw_heads, *memory))
        finally:
            unhush(token)
        for entry, position, array in zip(self.entries, positions, self.inputs):
            if entry is not None and position is not None:
                gradient = direct.get(position) if position in self._given else None
                sums.add(entry, wrap(gradients[position], array._ctx) if gradient is None else gradient)
        for index in self._plan.constant_inputs(active):
            entry = self.entries[index]
            if entry is not None:
                sums.touch(entry)

    def _direct_targets(
        self, sums: GradientSums, positions: Sequence[int | None], raw_heads: Sequence[Any]
    ) -> dict[int, NDArray]:
        """The `grad` of leaves, by position of the gradient, that the generated code may write into at once: when no
        other call can add to it or read it any more."""
        if not sums.writes_leaves or sums.queue or not self._given:
            return {}
        found: dict[int, NDArray] = {}
        seen: set[Variable] = set()
        for entry, position in zip(self.entries, positions):
            if entry is None:
                continue
            leaf = entry[0]
            if not isinstance(leaf, Variable) or leaf in seen:
                return {}
            seen.add(leaf)
            if position is not None and leaf.grad_req == "write" and leaf not in sums.leaves and _is_dense(leaf.grad):
                assert leaf.grad is not None
                found[position] = leaf.grad
        assert self.inputs is not None
        taken = {id(owner_of(a)) for a in (*[x._data for x in self.inputs], *raw_heads)}
        kept: dict[int, NDArray] = {}
        for place, grad in found.items():
            owner = id(owner_of(grad._data))
            if owner not in taken and _is_like(grad._data, self.inputs[positions.index(place)]._data):
                kept[place] = grad
            taken.add(owner)
        return kept

    def _pass_to_operators(self, sums: GradientSums, heads: Sequence[NDArray | None]) -> None:
        for entry, head in zip(self.unfold(), heads):
            if head is not None and entry is not None:
                sums.add(entry, head)

    def pass_nothing(self, sums: GradientSums, outputs: Sequence[int]) -> None:
        """See TapeNode: only inputs that these outputs depend on are touched."""
        for output in outputs:
            for index in self._plan.reached_from(output):
                entry = self.entries[index]
                if entry is not None:
                    sums.touch(entry)

    def _fits(self, heads: Sequence[NDArray | None]) -> bool:
        """Whether the head gradients are what the generated code was made for."""
        return all(
            type(h) in DENSE and h._data.shape == out.shape and h._data.dtype == out.dtype
            for h, out in zip(heads, self.outputs)
            if h is not None
        )

    def unfold(self) -> Sequence[Entry | None]:
        """What the outputs are on the tape with every operator there by itself, computed again with the same draws.

        From then on the operators have the place of the call. Raises MXNetError when the call was differentiated, or an
        input was written since.
        """
        if self.parts is None:
            if self.inputs is None:
                raise freed(self)
            self._check_unwritten()
            self._passes = None  # ends the generator, whose buffers go back
            saved = state.recording, state.training, state.builder
            state.recording, state.training, state.builder = True, self.train, None
            try:
                self.parts = self._run_again()
            finally:
                state.recording, state.training, state.builder = saved
            if self._differentiated:
                self._release_operators([e for e, is_active in zip(self.parts, self._active) if is_active])
        return self.parts

    def _release_operators(self, entries: Sequence[Entry | None]) -> None:
        """Release the operators that the generated backward pass from these outputs went through."""
        pending = [e[0] for e in entries if e is not None]
        while pending:
            node = pending.pop()
            if self.order < node.order < self.order + 1 and node.inputs is not None:
                pending.extend([entry[0] for entry in node.entries if entry is not None])
                node.release()

    def _run_again(self) -> list[Entry | None]:
        plan = self._plan
        assert self.inputs is not None
        arrays = [x if x._entry is e else x._alias(e) for x, e in zip(self.inputs, self.entries)]
        by_name = dict(zip(plan.names, arrays))
        values: dict[Head, NDArray] = {}
        made: dict[TapeNode, None] = {}
        kept = iter(self._kept)
        for node in plan.function.order:
            if node.op is None:
                values[node, 0] = by_name[node.name]
                continue
            given = [values[h] for h in node.inputs]
            outputs = self._drawn(node, given, kept) if node in plan.random else run_node(node, given)
            values.update({(node, i): output for i, output in enumerate(outputs)})
            made.update({o._entry[0]: None for o in outputs if o._entry is not None})
        for position, tape_node in enumerate(made, 1):  # between this call and the next
            tape_node.order = self.order + position / (len(made) + 1)
        return [values[h]._entry for h in plan.outputs]

    def _drawn(self, node: Node, inputs: Sequence[NDArray], kept: Any) -> list[NDArray]:
        """The outputs of a call that draws, as they were."""
        assert node.op is not None and node.attrs is not None
        results = [next(kept) for _ in range(node.output_count)]
        outputs = [wrap(r, self._plan.ctx) for r in results[: node.visible_count]]
        record_call(node.op, node.attrs, np, inputs, results, outputs)
        return outputs

    def _check_unwritten(self) -> None:
        for name, (version, count) in zip(self._plan.names, self._versions):
            if version.count != count and not version.shared and name not in self._plan.exempt:
                raise MXNetError(
                    f"`{name}` was written after the hybridized call that used it, so the call cannot be "
                    "differentiated in this way (retaining or recording the graph, or starting from some of its "
                    "outputs); do that before the write, or call `hybridize(False)`"
                )

    def release(self) -> None:
        """See TapeNode. While operators are left that no backward pass went through, they can be had by `unfold`."""
        if self.parts is not None or sum(self._active) < len(self._plan.recorded):
            return
        super().release()
        self._passes = None
        self._kept = ()
        self._versions = []


def _is_dense(array: NDArray | None) -> bool:
    return (
        type(array) in DENSE
        and array is not None
        and type(array._data) is np.ndarray
        and bool(array._data.flags.c_contiguous)
    )


def _is_like(array: Any, other: Any) -> bool:
    return bool(array.shape == other.shape and array.dtype == other.dtype)


def in_operators(entry: Entry | None) -> Entry | None:
    """What `entry` of an array is on the tape when every operator is there by itself."""
    while entry is not None and isinstance(entry[0], RecordedCall):
        entry = entry[0].unfold()[entry[1]]
    return entry
