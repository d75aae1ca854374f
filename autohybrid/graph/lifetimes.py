"""Lifetimes: which values of a graph share memory, and until when each memory is read.

Owns the answer to one question: may a call overwrite the memory of one of its inputs? Filled while calls are written,
in program order, so a later view of a value counts as a later read of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from autohybrid.graph.node import Head, Node


class Lifetimes:
    """Groups of heads that may share memory. What may be an input of the graph is never overwritten."""

    def __init__(self, order: Sequence[Node], results: Sequence[Head]) -> None:
        self._position = {node: i for i, node in enumerate(order)}
        self._results = frozenset(results)
        self._last: dict[Head, int] = {}
        for node in order:
            for head in node.inputs:
                self._last[head] = self._position[node]
        self._group: dict[Head, list[Head]] = {}
        self._foreign: set[int] = set()  # ids of groups whose memory is not ours to write

    @property
    def length(self) -> int:
        """The number of calls."""
        return len(self._position)

    def group(self, head: Head) -> list[Head]:
        """The heads that may share memory with `head`, itself included."""
        found = self._group.get(head)
        if found is None:
            found = self._group[head] = [head]
            if head[0].op is None:
                self._foreign.add(id(found))
        return found

    def share(self, node: Node, writable: bool) -> None:
        """The outputs of `node` may be (views of) its inputs; not `writable` where elements may overlap in memory."""
        first, *rest = (*node.inputs, *[(node, i) for i in range(node.output_count)])
        for head in rest:
            self._merge(first, head)
        if not writable:
            self._foreign.add(id(self.group(first)))

    def overwrite(self, head: Head, output: Head) -> None:
        """`output` is written over `head`. Where that is a view, other heads lie in its memory: all share it now."""
        if len(self.group(head)) > 1:
            self._merge(head, output)

    def _merge(self, head: Head, other_head: Head) -> None:
        merged, other = self.group(head), self.group(other_head)
        if other is merged:
            return
        if id(other) in self._foreign:
            self._foreign.add(id(merged))
        merged.extend(other)
        for member in other:
            self._group[member] = merged

    def is_own(self, head: Head) -> bool:
        """Whether the memory of `head` was made by this call and no other result is in it."""
        group = self.group(head)
        return id(group) not in self._foreign and sum(member in self._results for member in group) <= 1

    def may_overwrite(self, head: Head, node: Node) -> bool:
        """Whether nothing reads the memory of `head` after `node`, which reads it once."""
        group = self.group(head)
        if id(group) in self._foreign or sum(h in group for h in node.inputs) != 1:
            return False
        here = self._position[node]
        return all(self._last.get(member, -1) <= here and member not in self._results for member in group)

    def is_internal(self, head: Head) -> bool:
        """Whether `head` is no result of the graph."""
        return head not in self._results

    def last_use(self, head: Head) -> int:
        """The position of the last call that reads `head` itself; -1 when none does."""
        return self._last.get(head, -1)
