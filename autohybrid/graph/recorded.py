"""The graph of what was recorded on the tape: `autograd.get_symbol`."""

from __future__ import annotations

from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.graph.node import Head, Node
from autohybrid.graph.recorded_call import in_operators
from autohybrid.graph.symbol import Symbol
from autohybrid.tensor.array import NDArray
from autohybrid.tensor.ops import operators
from autohybrid.tensor.tape import TapeNode, freed


def get_symbol(x: NDArray) -> Symbol:
    """The computation that gave `x` while recording, as a Symbol.

    Leaves with a gradient are variables `var0`..., other arrays `null1`..., calls `node_0`... Raises MXNetError when a
    call was no operator (a `Function`), or was freed by a backward pass.
    """
    return Symbol([_Retrace().head(x, x._entry)])


class _Retrace:
    def __init__(self) -> None:
        self._leaves: dict[int, Node] = {}
        self._calls: dict[TapeNode, Node] = {}

    def head(self, array: NDArray, entry: Any) -> Head:
        entry = in_operators(entry)
        if entry is None or not isinstance(entry[0], TapeNode):
            return self._leaf("null" if entry is None else "var", array if entry is None else entry[0]), 0
        source, index = entry
        # Calls come in the order in which they ran, so that a long chain needs no recursion.
        for node in _history(source):
            self._calls[node] = self._call(node)
        return self._calls[source], index

    def _leaf(self, prefix: str, key: object) -> Node:
        if id(key) not in self._leaves:
            self._leaves[id(key)] = Node(None, None, (), f"{prefix}{len(self._leaves)}")
        return self._leaves[id(key)]

    def _call(self, node: TapeNode) -> Node:
        op = operators().get(node.name)
        if op is None or node.attrs is None or node.inputs is None:
            raise MXNetError(f"the recorded call {node.name} is no operator, so it has no symbol")
        heads = []
        for array, entry in zip(node.inputs, map(in_operators, node.entries)):
            if entry is not None and isinstance(entry[0], TapeNode):
                heads.append((self._calls[entry[0]], entry[1]))
            else:
                heads.append(self.head(array, entry))
        return Node(op, node.attrs, heads, f"node_{len(self._calls)}")


def _history(last: TapeNode) -> list[TapeNode]:
    """The calls that `last` depends on, in the order in which they ran."""
    found = {last}
    queue = [last]
    while queue:
        node = queue.pop()
        if node.inputs is None:
            raise freed(node)
        for entry in map(in_operators, node.entries):
            if entry is not None and isinstance(entry[0], TapeNode) and entry[0] not in found:
                found.add(entry[0])
                queue.append(entry[0])
    return sorted(found, key=lambda node: node.order)
