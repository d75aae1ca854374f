"""CallSite: what a code template (`fast` of an operator record) sees of the call it writes code for."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any, Protocol

import numpy as np

from autohybrid.graph.arena import LEAST_BYTES, Arena
from autohybrid.graph.lifetimes import Lifetimes
from autohybrid.graph.node import Head, Node
from autohybrid.graph.passes.rewriting import PlannedGraph


class Scope(Protocol):
    """The function that is being written: names, constants, and what is known of the graph."""

    graph: PlannedGraph
    names: dict[Head, str]
    shapes: dict[Head, Any]
    dtypes: dict[Head, Any]
    lifetimes: Lifetimes
    arena: Arena
    position: dict[Node, int]
    train: bool

    def bind(self, hint: str, value: Any) -> str:
        """The name under which `value` can be used in the code."""
        ...

    def fresh(self, hint: str) -> str:
        """A name that is not taken."""
        ...

    def name_head(self, head: Head) -> str:
        """The name of the variable that holds `head`."""
        ...

    def is_used(self, head: Head) -> bool:
        """Whether a call or the result reads `head`."""
        ...

    def given_memory(self, head: Head) -> str | None:
        """The name of the array that the caller wants a result to be written into, if `head` is one with such."""
        ...


class CallSite:
    """One call over whole arrays. `inputs` and `out` are names in the code; shapes and dtypes are known.

    A template must read an input for the last time in the statement that first writes `out`, or not use `into()`.
    """

    def __init__(self, scope: Scope, node: Node, inputs: Sequence[str], out: str) -> None:
        self.scope = self._scope = scope
        self.node = node
        self.attrs: Any = node.attrs
        self.inputs = inputs
        self.out = out
        self.shapes: list[tuple[int, ...]] = [scope.shapes[h] for h in node.inputs]
        self.dtypes: list[str] = [scope.dtypes[h] for h in node.inputs]
        self.out_shape: tuple[int, ...] = scope.shapes[node, 0]
        self.out_dtype: str = scope.dtypes[node, 0]
        self.train = scope.train
        #: Whether the code must compute every number as the kernel does, bit for bit.
        self.exact = scope.graph.exact

    def kernel(self) -> str:
        """The name of the operator's kernel with the attributes given: a function of arrays."""
        op, attrs = self.node.op, self.node.attrs
        assert op is not None
        return self._scope.bind(f"run_{op.name}", partial(op.kernel, np, attrs))

    def bound(self, hint: str, function: Any) -> str:
        """The name of `function` with the array library given as its first argument."""
        return self._scope.bind(hint, _with_numpy(function))

    def column(self, hint: str, size: int, value: float) -> str:
        """The name of a constant (size, 1) array of the output's dtype."""
        return self._scope.bind(hint, _constant((size, 1), repr(float(value)), self.out_dtype))

    def is_prepared(self, index: int) -> bool:
        """Whether input `index` is known ahead of the calls."""
        return self._scope.graph.is_prepared(self.node.inputs[index])

    def prepared(
        self, hint: str, make: Callable[..., Any], inputs: Sequence[int], shape: Sequence[int], *options: Any
    ) -> str | None:
        """The name of `make(*arrays, *options)` of inputs (by position), computed only when those change; None where
        one of them is not known ahead of the calls. See `PlannedGraph.prepare`; the dtype is the output's."""
        if not all(map(self.is_prepared, inputs)):
            return None
        heads = [self.node.inputs[i] for i in inputs]
        return self._scope.name_head(self._scope.graph.prepare(hint, make, heads, shape, self.out_dtype, *options))

    def assign(self, expression: str) -> str:
        """The statement that makes `out` what `expression` computes in fresh memory."""
        return f"{self.out} = {expression}"

    def function(self, name: str) -> str:
        """The name under which `xp.<name>` can be called in the generated code."""
        return self._scope.bind(name, getattr(np, name))

    def constant(self, hint: str, value: Any) -> str:
        """The name under which `value` can be used in the generated code."""
        return self._scope.bind(hint, value)

    def scalar(self, hint: str, value: float) -> str:
        """The name of a 0-d array with `value` in the output's dtype (ufuncs take it faster than a Python number)."""
        return self._scope.bind(hint, _constant((), repr(float(value)), self.out_dtype))

    def filled(self, hint: str, value: float) -> str:
        """An operand that is `value` everywhere: `maximum` has fast loops for rows of it, but not for a number."""
        rows = self.out_shape[-1:] if self.out_shape and self.out_shape[-1] > 1 else ()
        return self._scope.bind(hint, _constant(rows, repr(float(value)), self.out_dtype))

    def reusable(self, among: int | None = None) -> str | None:
        """The name of an input (one of the first ones, if `among` says how many) whose buffer may be overwritten with
        the output: a dead intermediate of its shape."""
        for head, name, shape, dtype in zip(self.node.inputs[:among], self.inputs, self.shapes, self.dtypes):
            if (shape, dtype) == (self.out_shape, self.out_dtype) and can_become(self._scope, head, self.node):
                self._scope.arena.move_in(self.out, name, (self.node, 0))
                if name not in self._scope.arena.names:
                    self._scope.lifetimes.overwrite(head, (self.node, 0))
                return name
        return None

    def into(self) -> str:
        """`, out=<name>` when there is memory for the output, else nothing: for the end of a ufunc's arguments."""
        name = self.reusable() or self.memory()
        return f", out={name}" if name is not None else ""

    def memory(self, shape: tuple[int, ...] | None = None) -> str | None:
        """The name of an array (of the output's size) that the output can be written into; None where it must be new:
        because it leaves the call, or is small."""
        scope, head = self._scope, (self.node, 0)
        given = scope.given_memory(head)
        if given is not None:
            return given if shape is None else f"{given}.reshape({shape})"
        if not scope.arena.may_hold(head, self.out_shape, self.out_dtype):
            return None
        name = self.out if shape is None else scope.fresh(f"{self.out}_memory")
        scope.arena.place(name, shape or self.out_shape, self.out_dtype, scope.position[self.node], head)
        scope.arena.move_in(self.out, name, head)
        return name

    def empty(self, shape: tuple[int, ...]) -> str:
        """The expression that makes an array of the output's dtype in fresh memory."""
        dtype = self._scope.bind(self.out_dtype, np.dtype(self.out_dtype))
        return f"{self._scope.bind('empty', np.empty)}({shape}, {dtype})"

    def scratch(self, hint: str, shape: tuple[int, ...]) -> str:
        """The name of an array for use in this call alone, of the output's dtype. What it holds at first is unknown."""
        name = self._scope.fresh(hint)
        self._scope.arena.place(name, shape, self.out_dtype, self._scope.position[self.node], None)
        return name

    def temporary(self, hint: str) -> tuple[list[str], str]:
        """An array like the output for use in this call alone: the lines to put first, and its name."""
        name = self._scope.fresh(hint)
        if math.prod(self.out_shape) * np.dtype(self.out_dtype).itemsize >= LEAST_BYTES:
            self._scope.arena.place(name, self.out_shape, self.out_dtype, self._scope.position[self.node], None)
            return [], name
        return [f"{name} = {self.empty(self.out_shape)}"], name

    def target(self) -> list[str]:
        """The lines that make `out` an array of its shape to write into. It may be that of the first input."""
        name = self.reusable(1) or self.memory() or self.empty(self.out_shape)
        return [f"{self.out} = {name}"] if name != self.out else []

    def owns(self, index: int) -> bool:
        """Whether input `index` is a dead intermediate that the code may overwrite."""
        return self._scope.lifetimes.may_overwrite(self.node.inputs[index], self.node)

    def output(self, index: int) -> str | None:
        """The name of an output; None for one that nothing reads."""
        head = (self.node, index)
        return self._scope.name_head(head) if self._scope.is_used(head) else None

    def reads_hidden(self) -> bool:
        """Whether any output but the first is needed."""
        return any(self._scope.is_used((self.node, i)) for i in range(1, self.node.output_count))

    def operand(self, hint: str, shape: tuple[int, ...], expression: str) -> tuple[list[str], str]:
        """A small array that the code computes from parameters: the lines to put first, and its name."""
        name = self._scope.fresh(hint)
        return [f"{name} = {expression}"], name


def can_become(scope: Scope, head: Head, node: Node) -> bool:
    """Whether the output of `node` may be written over its input `head`."""
    if not scope.lifetimes.may_overwrite(head, node):
        return False
    # What leaves the call must not lie in memory that the next call uses.
    return scope.lifetimes.is_internal((node, 0)) or scope.names[head] not in scope.arena.names


@lru_cache(256)
def _with_numpy(function: Any) -> Any:
    return partial(function, np)


@lru_cache(256)
def _constant(shape: tuple[int, ...], value: str, dtype: str) -> Any:
    array = np.full(shape, float(value), dtype=dtype)  # the value as text, for 0.0 equals -0.0
    array.flags.writeable = False
    return array


class Chunks:
    """How arrays of one shape are cut: `step` along `axis`, so that a few pieces fit into the cache of a core."""

    BYTES = 1 << 17

    def __init__(self, shape: Sequence[int], item_size: int) -> None:
        self.shape = tuple(shape)
        pieces = -(-int(np.prod(self.shape)) * item_size // self.BYTES)
        self.axis = next((k for k, n in enumerate(self.shape) if n >= pieces), int(np.argmax(self.shape)))
        self.extent = self.shape[self.axis]
        self.step = max(1, self.extent // pieces)

    @property
    def piece(self) -> tuple[int, ...]:
        """The shape of a full piece."""
        return (*self.shape[: self.axis], self.step, *self.shape[self.axis + 1 :])

    @property
    def is_even(self) -> bool:
        """Whether all pieces are full ones."""
        return self.extent % self.step == 0

    def subscript(self, shape: Sequence[int], part: str) -> str | None:
        """What selects `part` (a slice as text) of an operand of `shape`; None for one that each piece reads whole."""
        axis = self.axis - (len(self.shape) - len(shape))
        if axis < 0 or shape[axis] == 1 != self.extent:
            return None
        return f"[{':, ' * axis}{part}]"


class ChunkSite(CallSite):
    """One call over a piece of its arrays, inside a loop over pieces; see `graph/chunk_loops.py`."""

    def __init__(self, loop: Any, node: Node, inputs: Sequence[str], target: str) -> None:
        super().__init__(loop.scope, node, inputs, target)
        self._loop = loop
        self.temporaries: list[str] = []

    def assign(self, expression: str) -> str:
        """The same, for a piece of an array."""
        return f"{self.out}[...] = {expression}"

    def filled(self, hint: str, value: float) -> str:
        """A whole piece of `value`, the fastest operand there is."""
        name = self._scope.bind(hint, _constant(self._loop.chunks.piece, repr(float(value)), self.out_dtype))
        return str(self._loop.piece_of(name, self._loop.chunks.shape, True))

    def reusable(self, among: int | None = None) -> str | None:
        """The target itself: pieces are always written into memory that is there."""
        return self.out

    def temporary(self, hint: str) -> tuple[list[str], str]:
        """A piece of scratch memory."""
        name = self._loop.scratch()
        self.temporaries.append(name)
        return [], name

    def target(self) -> list[str]:
        """Nothing: pieces are always written into memory that is there."""
        return []

    def operand(self, hint: str, shape: tuple[int, ...], expression: str) -> tuple[list[str], str]:
        """Computed before the loop; the piece of it is read inside."""
        name = self._scope.fresh(re.sub(r"\W", "_", hint))
        self._loop.lines.append(f"{name} = {expression}")
        return [], str(self._loop.piece_of(name, shape, False))
