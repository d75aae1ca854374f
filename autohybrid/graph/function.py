"""GraphFunction: a built graph that can be called with arrays, and what it needs to know to be called again.

Owns the choice of how a call runs: under recording, node by node on the tape (so that gradients of every order flow);
else through generated code for the signature.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from autohybrid.graph.codegen import generate
from autohybrid.graph.interpreter import run
from autohybrid.graph.node import Head, Node, program_order
from autohybrid.graph.recorded_call import RecordedCalls
from autohybrid.graph.row_split import split_call
from autohybrid.graph.structure import ARRAY, Structure, unflatten
from autohybrid.spans import Span
from autohybrid.tensor.array import NDArray, wrap
from autohybrid.tensor.epoch import epoch
from autohybrid.tensor.quiet import hush, unhush
from autohybrid.tensor.tape import state
from autohybrid.tensor.versions import note_write
from autohybrid.threads import own_threads

#: Resolves to the array that a captured variable stands for now.
Provider = Callable[[], NDArray]
Signature = tuple[tuple[tuple[int, ...], Any], ...]


@dataclass(frozen=True, slots=True)
class Written:
    """An input or captured array that the call leaves changed: which variable, and the output that it must hold."""

    name: str
    head: Head


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of a block that the call leaves set to tensors: `structure` over `heads`."""

    block: Any
    name: str
    structure: Structure
    heads: tuple[Head, ...]


@dataclass(frozen=True, slots=True)
class GraphOutputs:
    """Everything a graph computes: the result, memory it writes, attributes it sets, nodes with effects."""

    heads: tuple[Head, ...]
    structure: Structure
    written: tuple[Written, ...] = ()
    attributes: tuple[Attribute, ...] = ()
    effects: tuple[Head, ...] = ()

    @property
    def all_heads(self) -> tuple[Head, ...]:
        """The heads of the result, then those to write, then those of attributes, then the effects."""
        attributes = [h for a in self.attributes for h in a.heads]
        return (*self.heads, *[w.head for w in self.written], *attributes, *self.effects)


class GraphFunction:
    """A graph with named inputs, captured arrays and outputs. Calls may come from several threads."""

    def __init__(
        self,
        inputs: Sequence[str],
        captured: dict[str, Provider],
        outputs: GraphOutputs,
        reads: frozenset[str],
        exact: bool = False,
        read_places: Mapping[str, Span | None] = MappingProxyType({}),
    ) -> None:
        self.inputs = tuple(inputs)
        self.captured = captured
        self.outputs = outputs
        self.reads = reads
        #: What the code read of its inputs - shape, dtype, context - and where, for who writes the graph to a file.
        self.read_places = read_places
        #: Whether generated code must compute every number as the plain interpreter does, bit for bit.
        self.exact = exact
        self.all_heads = outputs.all_heads
        self.order: list[Node] = program_order(self.all_heads)
        self._code: dict[tuple[Signature, bool], Callable[..., Any]] = {}
        self._resolved: tuple[int, list[NDArray]] = (-1, [])
        self._recorded = RecordedCalls(self)

    def __call__(self, arrays: Sequence[NDArray]) -> Any:
        """Run the graph on `arrays`, one for each name in `inputs`."""
        if state.recording and state.builder is None:
            values = self._recorded(arrays)
            return self._interpret(arrays) if values is None else unflatten(self.outputs.structure, iter(values))
        if state.builder is not None:
            return self._interpret(arrays)
        return self._execute(arrays)

    def captured_arrays(self) -> list[NDArray]:
        """The arrays that the captured variables stand for now."""
        seen, arrays = self._resolved
        if seen != epoch.value:
            now = epoch.value
            arrays = [provider() for provider in self.captured.values()]
            self._resolved = (now, arrays)
        return arrays

    def _interpret(self, arrays: Sequence[NDArray]) -> Any:
        feed = dict(zip(self.inputs, arrays))
        feed.update(zip(self.captured, self.captured_arrays()))
        values = run(self.all_heads, feed, order=self.order)
        return self._finish(values, lambda name: feed[name]._data)

    def _execute(self, arrays: Sequence[NDArray]) -> Any:
        raw = [a._data for a in arrays]
        code = self.code(tuple([(a.shape, a.dtype) for a in raw]), state.training)
        ctx = arrays[0]._ctx
        token = hush()
        try:
            results = code(*raw)
        finally:
            unhush(token)
        values = [wrap(r, ctx) for r in results]
        if len(values) == 1 and self.outputs.structure == ARRAY:
            return values[0]
        names = (*self.inputs, *self.captured)
        return self._finish(values, lambda name: (*raw, *[a._data for a in self.captured_arrays()])[names.index(name)])

    def _finish(self, values: Sequence[NDArray], memory: Callable[[str], Any]) -> Any:
        """Write what the call leaves changed, and put the result together."""
        position = len(self.outputs.heads)
        for change in self.outputs.written:
            target = memory(change.name)
            target[...] = values[position]._data
            note_write(target)
            position += 1
        for attribute in self.outputs.attributes:
            part = iter(values[position : position + len(attribute.heads)])
            setattr(attribute.block, attribute.name, unflatten(attribute.structure, part))
            position += len(attribute.heads)
        return unflatten(self.outputs.structure, iter(values))

    @property
    def is_simple(self) -> bool:
        """Whether a call leaves nothing but its result, and that is one array."""
        outputs = self.outputs
        return outputs.structure == ARRAY and not (outputs.written or outputs.attributes or outputs.effects)

    def code(self, signature: Signature, train: bool) -> Callable[..., Any]:
        """The generated executor for inputs of this signature; made on first use."""
        key = (signature, train)
        found = self._code.get(key)
        if found is None:
            found = split_call(self, signature, train, generate)
            if found is None:
                found = generate(self, signature, train, own_threads())
            self._code[key] = found
        return found
