"""Runs of element-wise calls over large arrays as one loop over pieces that stay in the cache.

A run is a sequence of consecutive calls whose templates are element-wise and whose outputs have one shape and dtype.
Values that only the run reads live in pieces of scratch memory; the others are written into fresh arrays, or over an
input that nothing reads afterwards. Every element is computed by the same operations as without the loop.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from autohybrid.graph.call_site import CallSite, Chunks, ChunkSite, Scope, can_become
from autohybrid.graph.node import Head, Node
from autohybrid.tensor.templates import Elementwise

#: Arrays below this many bytes stay in the cache anyway.
LARGE = 1 << 19


def find_run(scope: Scope, calls: Sequence[Node], start: int) -> int:
    """The end of the run that begins at `calls[start]`; `start` when there is none worth a loop."""
    first = calls[start]
    shape, dtype = scope.shapes[first, 0], scope.dtypes[first, 0]
    if shape is None or dtype not in ("float32", "float64") or math.prod(shape) * np.dtype(dtype).itemsize < LARGE:
        return start
    cuts_rows = Chunks(shape, np.dtype(dtype).itemsize).axis == len(shape) - 1
    produced: set[Head] = set()
    end = start
    while end < len(calls) and (scope.shapes[calls[end], 0], scope.dtypes[calls[end], 0]) == (shape, dtype):
        node = calls[end]
        if node.op is None or node.extra is not None or not isinstance(node.op.fast, Elementwise):
            break
        if node.op.fast.rows and cuts_rows:
            break
        if produced.intersection(node.inputs[_pieces(node) :]):  # read whole, but not there before the loop has ended
            break
        if not node.op.fast.applies(CallSite(scope, node, (), "")):
            break
        produced.add((node, 0))
        end += 1
    return end


class _Loop:
    """The loop that is being written: lines before it, names of pieces at its top, free scratch memory."""

    def __init__(self, scope: Scope, chunks: Chunks, dtype: str, position: int) -> None:
        self.scope = scope
        self.position = position  # of the first call: what any call of the run reads must stay until then
        self.chunks = chunks
        self.dtype = dtype
        self.lines: list[str] = []
        self.top: list[str] = []
        self.free: list[str] = []
        self._pieces: dict[str, str] = {}
        self.start, self.stop = scope.fresh("start"), scope.fresh("stop")
        self._empty = scope.bind("empty", np.empty)
        self._type = scope.bind(dtype, np.dtype(dtype))

    def piece_of(self, name: str, shape: Sequence[int], is_piece: bool) -> str:
        """The name of the piece of array `name` in the loop. `is_piece`: the array has the extent of one piece only."""
        if name in self._pieces:
            return self._pieces[name]
        if is_piece and self.chunks.is_even:
            return name
        part = f"{self.start}:{self.stop}"
        if is_piece:
            part = f":{self.chunks.extent} - {self.start}"
        subscript = self.chunks.subscript(shape, part)
        if subscript is None:
            return name
        self._pieces[name] = self.scope.fresh(f"{name}_part")
        self.top.append(f"{self._pieces[name]} = {name}{subscript}")
        return self._pieces[name]

    def parts(self) -> list[str]:
        """The names of the pieces that are made anew in each turn."""
        return list(self._pieces.values())

    def scratch(self) -> str:
        """The name of a piece of memory that holds nothing needed."""
        if self.free:
            return self.free.pop()
        name = self.scope.fresh("scratch")
        self.lines.append(f"{name} = {self._empty}({self.chunks.piece}, {self._type})")
        return self.piece_of(name, self.chunks.shape, True)

    def array(self, head: Head) -> str:
        """A whole array for `head`; the name of its piece."""
        name = self.scope.name_head(head)
        if self.scope.arena.may_hold(head, self.chunks.shape, self.dtype):
            self.scope.arena.place(name, self.chunks.shape, self.dtype, self.position, head)
        else:
            self.lines.append(f"{name} = {self._empty}({self.chunks.shape}, {self._type})")
        return self.piece_of(name, self.chunks.shape, False)


def write_run(scope: Scope, run: Sequence[Node]) -> list[str]:
    """The lines that compute a run found by `find_run`."""
    head = (run[0], 0)
    chunks = Chunks(scope.shapes[head], np.dtype(scope.dtypes[head]).itemsize)
    loop = _Loop(scope, chunks, scope.dtypes[head], scope.position[run[0]])
    inside = {(node, 0) for node in run}
    position = scope.position
    end = position[run[-1]]
    local = {h for h in inside if scope.lifetimes.last_use(h) <= end and scope.is_used(h) and not _leaves(scope, h)}
    held: dict[Head, str] = {}
    body: list[str] = []
    for node in run:
        inputs = _inputs(scope, loop, node, held)
        target = _target(scope, loop, node, held, local)
        held[node, 0] = target
        site = ChunkSite(loop, node, inputs, target)
        assert node.op is not None and node.op.fast is not None
        body.extend(node.op.fast(site))
        loop.free.extend(site.temporaries)
        for h in set(node.inputs) & local:
            if scope.lifetimes.last_use(h) == position[node] and held[h] != target:
                loop.free.append(held[h])
    head_line = f"for {loop.start} in range(0, {chunks.extent}, {chunks.step}):"
    bounds = f"{loop.stop} = {loop.start} + {chunks.step}"
    lines = [*loop.lines, head_line, *[f"    {line}" for line in (bounds, *loop.top, *body)]]
    parts = loop.parts()  # their names would keep the arrays
    return [*lines, f"del {', '.join(parts)}"] if parts else lines


def _pieces(node: Node) -> int:
    """How many of the inputs are read piece by piece."""
    assert node.op is not None and isinstance(node.op.fast, Elementwise)
    return len(node.inputs) if node.op.fast.pieces is None else node.op.fast.pieces


def _inputs(scope: Scope, loop: _Loop, node: Node, held: dict[Head, str]) -> list[str]:
    """The names of what a call reads: pieces, but whole arrays where the template wants those."""
    names = []
    for index, h in enumerate(node.inputs):
        if h in held:
            names.append(held[h])
        else:
            name = scope.names[h]
            names.append(loop.piece_of(name, scope.shapes[h], False) if index < _pieces(node) else name)
    return names


def _leaves(scope: Scope, head: Head) -> bool:
    return not scope.lifetimes.is_internal(head)


def _target(scope: Scope, loop: _Loop, node: Node, held: dict[Head, str], local: set[Head]) -> str:
    """The piece that the output of `node` is written into."""
    out: Head = (node, 0)
    same: list[Head] = [
        h
        for h in node.inputs[: _pieces(node)]
        if (scope.shapes[h], scope.dtypes[h]) == (scope.shapes[out], scope.dtypes[out])
    ]
    for h in same:
        if h not in held and not can_become(scope, h, node):
            continue
        if h in held and (
            h not in local or scope.lifetimes.last_use(h) != scope.position[node] or node.inputs.count(h) != 1
        ):
            continue
        if out in local:
            if h in held:
                return held[h]
        elif h not in held:  # a whole array that nothing reads afterwards becomes the result
            scope.names[out] = scope.names[h]
            scope.arena.move_in(scope.names[h], scope.names[h], out)
            if scope.names[h] not in scope.arena.names:
                scope.lifetimes.overwrite(h, out)
            return loop.piece_of(scope.names[h], scope.shapes[h], False)
    return loop.scratch() if out in local else loop.array(out)
