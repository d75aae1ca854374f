"""GraphFunction: a built graph that can be called with arrays, and what it needs to know to be called again.

Owns the choice of how a call runs: under recording, node by node on the tape (so that gradients of every order flow);
else through generated code for the signature.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autohybrid.graph.codegen import generate
from autohybrid.graph.interpreter import run
from autohybrid.graph.node import Head, Node, program_order
from autohybrid.graph.structure import Structure, unflatten
from autohybrid.tensor.array import NDArray, wrap
from autohybrid.tensor.tape import state

#: Resolves to the array that a captured variable stands for now.
Provider = Callable[[], NDArray]
Signature = tuple[tuple[tuple[int, ...], Any], ...]


@dataclass(frozen=True, slots=True)
class Written:
    """An input or captured array that the call leaves changed: which variable, and the output that it must hold."""

    name: str
    head: Head


class GraphFunction:
    """A graph with named inputs, captured arrays, the structure of its result, and the arrays it writes into."""

    def __init__(
        self,
        inputs: Sequence[str],
        captured: dict[str, Provider],
        heads: Sequence[Head],
        structure: Structure,
        written: Sequence[Written],
        effects: Sequence[Head],
        reads: frozenset[str],
    ) -> None:
        self.inputs = tuple(inputs)
        self.captured = captured
        self.heads = tuple(heads)
        self.structure = structure
        self.written = tuple(written)
        self.reads = reads
        self.all_heads: tuple[Head, ...] = (*self.heads, *[w.head for w in written], *effects)
        self.order: list[Node] = program_order(self.all_heads)
        self._code: dict[tuple[Signature, bool], Callable[..., Any]] = {}

    def __call__(self, arrays: Sequence[NDArray]) -> Any:
        """Run the graph on `arrays`, one for each name in `inputs`."""
        if state.recording or state.builder is not None:
            return self._interpret(arrays)
        return self._execute(arrays)

    def _interpret(self, arrays: Sequence[NDArray]) -> Any:
        feed = dict(zip(self.inputs, arrays))
        feed.update({name: provider() for name, provider in self.captured.items()})
        values = run(self.all_heads, feed, order=self.order)
        for change, value in zip(self.written, values[len(self.heads) :]):
            feed[change.name]._data[...] = value._data
        return unflatten(self.structure, iter(values))

    def _execute(self, arrays: Sequence[NDArray]) -> Any:
        raw = [a._data for a in arrays]
        code = self.code(tuple([(a.shape, a.dtype) for a in raw]), state.training)
        with np.errstate(all="ignore"):
            results = code(*raw, *[provider()._data for provider in self.captured.values()])
        ctx = arrays[0]._ctx if arrays else None
        values = [wrap(r, ctx) if ctx is not None else wrap(r) for r in results]
        return unflatten(self.structure, iter(values))

    def code(self, signature: Signature, train: bool) -> Callable[..., Any]:
        """The generated executor for inputs of this signature; made on first use."""
        key = (signature, train)
        found = self._code.get(key)
        if found is None:
            found = self._code[key] = generate(self, signature, train)
        return found
