"""Memory of one call whose views are made once for each set of buffers: every array it works on has a place.

What has no place yet (the output of another kernel), or too little border, is copied into one first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autohybrid.graph.call_site import CallSite
from autohybrid.graph.node import Head, Node
from autohybrid.tensor.channels_last.layer import Border

#: The name of an array in the code, and how much of its border is needed.
Source = tuple[str | None, Border]


class WorkingMemory:
    """Collects the places of one call; `lines` come before the call."""

    def __init__(self, call: CallSite) -> None:
        self._call = call
        self._scope = call.scope
        self._position = call.scope.position[call.node]
        self.lines: list[str] = []

    def input(self, index: int, border: Border | None = None) -> Source:
        """An input of four axes, inside at least this border of zeros."""
        call, wanted = self._call, Border() if border is None else border
        name, shape = call.inputs[index], call.shapes[index]
        if self._scope.arena.has_place(name, shape, wanted):
            return name, wanted
        copy = self._scope.fresh(f"{name}_inside")
        self._scope.arena.place(copy, shape, call.out_dtype, self._position, None, wanted)
        self.lines.append(f"{call.function('copyto')}({copy}, {name})")
        return copy, wanted

    def output(self) -> Source:
        """The output; where it leaves the call, it is copied there."""
        call = self._call
        self._scope.arena.place(call.out, call.out_shape, call.out_dtype, self._position, (call.node, 0))
        return call.out, Border()

    def scratch(self, shapes: Sequence[tuple[int, ...]]) -> list[Source]:
        """Arrays for this call alone."""
        return [(self._call.scratch("scratch", shape), Border()) for shape in shapes]

    def bind(self, hint: str, build: Callable[..., Any], sources: Sequence[Source]) -> str:
        """The name of what `build` makes of these arrays."""
        name = self._scope.fresh(hint)
        self._scope.arena.derive(name, build, sources)
        return name


def wanted_borders(calls: Sequence[Node], shapes: Mapping[Head, Any]) -> dict[Head, tuple[Any, Border]]:
    """The shape of every value that a call wants a border of zeros around, and the border that is enough for all."""
    found: dict[Head, tuple[Any, Border]] = {}
    for node in calls:
        wants = None if node.op is None else node.op.wants_border
        if wants is None or node.attrs is None:
            continue
        head = node.inputs[0]
        _, before = found.get(head, (None, Border()))
        found[head] = (tuple(shapes[head]), before.around(wants(node.attrs)))
    return {head: (shape, border) for head, (shape, border) in found.items() if any(border)}
