"""Compiled calls of blocks: which graph serves a call, and building one when none does.

A block keeps its CompiledBlock in `block._compiled` (dropped by everything that changes its structure). A graph is
found by the structure of the arguments, the modes and, as far as building it read them, their shapes and dtypes.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from autohybrid.errors import HybridizeError, HybridizeWarning
from autohybrid.graph.builder import Builder
from autohybrid.graph.function import Attribute, GraphFunction, GraphOutputs, Written
from autohybrid.graph.graph_tensor import GraphTensor
from autohybrid.graph.node import Head
from autohybrid.graph.structure import Structure, flatten, unflatten
from autohybrid.tensor.array import NDArray, wrap
from autohybrid.tensor.epoch import epoch
from autohybrid.tensor.quiet import hush, unhush
from autohybrid.tensor.tape import state
from autohybrid.transform.block_code import run_block_code, run_hybrid_forward
from autohybrid.transform.block_state import BlocksUsed
from autohybrid.transform.contrib_control import ContribControl
from autohybrid.transform.findings import Findings, findings_of
from autohybrid.transform.python_state import FunctionsUsed, RandomnessWatch


def call_compiled(block: Any, args: Sequence[Any]) -> Any:
    """Call a hybridized block.

    Raises HybridizeError, with every finding, when the block cannot be a graph that gives the imperative result.
    """
    compiled = block._compiled
    if compiled is None:
        compiled = block._compiled = CompiledBlock(block)
    return compiled(tuple(args))


class Entry:
    """A graph and the blocks it was built from. `shapes` are those of the call it was built for."""

    __slots__ = ("blocks", "function", "functions", "seen")

    def __init__(self, function: GraphFunction, blocks: BlocksUsed, functions: FunctionsUsed, seen: int) -> None:
        self.function = function
        self.blocks = blocks
        self.functions = functions
        self.seen = seen

    def is_valid(self) -> bool:
        """Whether the blocks, globals and defaults that the graph was built from are what they were."""
        if not self.functions.unchanged() or not self.blocks.containers_unchanged():
            return False
        if self.seen == epoch.value:
            return True
        now = epoch.value
        if not self.blocks.unchanged():
            return False
        self.seen = now
        return True


class CompiledBlock:
    """The graphs of one hybridized block."""

    def __init__(self, block: Any) -> None:
        self.block = block
        self.entries: dict[Any, Entry] = {}
        self.findings: Findings | None = None
        #: The block's own code runs at each call; the blocks in it are compiled.
        self.imperative = False
        self._hooked: tuple[int, bool] = (-1, False)
        #: (shape, dtype, device, train mode) -> (epoch, generated code), for calls that need no more.
        self._quick: dict[Any, tuple[int, Callable[..., Any]]] = {}

    def call_one(self, x: NDArray) -> Any:
        """`self((x,))`, by the shortest way when nothing changed since the last call like it."""
        if not state.recording:
            data = x._data
            known = self._quick.get((data.shape, data.dtype, x._ctx, state.training))
            if known is not None and known[0] == epoch.value:
                token = hush()
                try:
                    return wrap(known[1](data)[0], x._ctx)
                finally:
                    unhush(token)
        return self((x,))

    def _remember(self, x: NDArray, entry: Entry) -> None:
        """Let the next call like this one take the shortest way, if the graph allows it."""
        function = entry.function
        if state.recording or self.imperative or not function.is_simple:
            return
        if entry.functions.depends_on_state or entry.blocks.has_containers:
            return
        data = x._data
        code = function.code(((data.shape, data.dtype),), state.training)
        key = (data.shape, data.dtype, x._ctx, state.training)
        self._quick[key] = (epoch.value, code)

    def __call__(self, args: tuple[Any, ...]) -> Any:
        arrays: list[NDArray] = []
        structure = flatten(args, arrays)
        if self._runs_imperatively():
            return self.block._call_imperatively(args)
        key = _key(structure, arrays)
        entry = self.entries.get(key)
        if entry is None or not entry.is_valid():
            found = self._find(key, arrays) or self._build(structure, arrays)
            if found is None:
                return self.block._call_imperatively(args)
            entry = self.entries[key] = found
            if self.block._options.verify and not self.imperative:
                from autohybrid.transform.verification import verify

                verify(self.block, entry.function, structure, arrays)
        elif len(args) == 1 and arrays and args[0] is arrays[0]:
            self._remember(arrays[0], entry)
        return entry.function(arrays)

    def entry_of(self, structure: Structure, arrays: Sequence[NDArray]) -> Entry | None:
        """What served the last call with arguments like these; None when it ran imperatively."""
        return None if self._runs_imperatively() else self.entries.get(_key(structure, arrays))

    def _runs_imperatively(self) -> bool:
        """Whether a block inside has hooks (they fire at every call), or the code draws on Python's randomness.

        Such a block runs its own code at each call; the hybridized blocks inside it are still compiled.
        """
        seen, hooked = self._hooked
        if seen != epoch.value:
            now = epoch.value
            hooked = any(_has_hooks(child) for child in self.block._children.values())
            self._hooked = (now, hooked)
        return hooked or self.imperative

    def _find(self, key: Any, arrays: Sequence[NDArray]) -> Entry | None:
        """A valid graph built for other shapes that depends on nothing that differs."""
        start = len(key) - len(arrays)
        wanted = [(len(shape), dtype, ctx) for shape, dtype, ctx in key[start:]]
        for known, entry in self.entries.items():
            same = [(len(shape), dtype, ctx) for shape, dtype, ctx in known[start:]] == wanted
            if same and known[:start] == key[:start] and not entry.function.reads and entry.is_valid():
                return entry
        return None

    def _build(self, structure: Structure, arrays: Sequence[NDArray]) -> Entry | None:
        """A graph for this call; None when there can be none and the block falls back to imperative calls."""
        first = False
        if self.findings is None:
            self.findings = findings_of(self.block)
            first = True
        seen = epoch.value
        blocks, functions, watch = BlocksUsed(), FunctionsUsed(), RandomnessWatch()

        def call_block(block: Any, args: Sequence[Any]) -> Any:
            with builder.unwatched():
                blocks.enter(block, id(block) in builder.restarted)
            return run_block_code(block, args)

        builder = Builder(
            state.recording, state.training, call_block, functions.enter, ContribControl, run_hybrid_forward
        )
        builder.watch = watch
        try:
            function = _trace(self.block, builder, watch, blocks, structure, arrays)
        except HybridizeError as error:
            if self.block._options.falls_back:
                report = self.findings.refuse(self.block, error)
                self._leave_graphs(f"{report}\nso it runs imperatively, at every call [AH904]")
                return None
            raise self.findings.refuse(self.block, error) from error
        if first:
            self.findings.warn(self.block, _caller_level())
        if builder.left is not None:
            name = type(self.block).__name__
            self._leave_graphs(f"{name} is not kept as a graph: {builder.left}, so it runs imperatively [AH904]")
            return None
        if watch.found is not None or not functions.unchanged():
            why = f"{watch.found} gives another value" if watch.found else "it changes a global or a default argument"
            self._leave_graphs(
                f"{type(self.block).__name__} is not kept as a graph: {why} at each call, so its Python code runs at "
                "every call; use `F.random.*` for randomness and pass state as an input [AH504]"
            )
        return Entry(function, blocks, functions, seen)

    def _leave_graphs(self, message: str) -> None:
        """Run the block's own code at every call from now on, and say so once."""
        if not self.imperative:
            self.imperative = True
            warnings.warn(message, HybridizeWarning, stacklevel=_caller_level())


def _key(structure: Structure, arrays: Sequence[NDArray]) -> tuple[Any, ...]:
    """What a graph is found by: structure, modes, and shape, dtype and device of every array."""
    return (structure, *_modes(arrays), *[(a._data.shape, a._data.dtype, a._ctx) for a in arrays])


def _modes(arrays: Sequence[NDArray]) -> tuple[Any, ...]:
    """Recording (with which arguments take part in the tape) and train mode."""
    if not state.recording:
        return False, state.training
    return tuple([a._entry is not None for a in arrays]), state.training


def _has_hooks(block: Any) -> bool:
    if block._forward_hooks or block._forward_pre_hooks:
        return True
    return any(_has_hooks(child) for child in block._children.values())


def _trace(
    block: Any,
    builder: Builder,
    watch: RandomnessWatch,
    blocks: BlocksUsed,
    structure: Structure,
    arrays: Sequence[NDArray],
) -> GraphFunction:
    """Run the block's lowered code once on stand-ins for `arrays` and keep the graph."""
    names = ["data"] if len(arrays) == 1 else [f"data{i}" for i in range(len(arrays))]
    with builder:
        inputs = [builder.input(builder.fresh_name(n, True), a) for n, a in zip(names, arrays)]
        blocks.enter(block)
        # A block with a `forward` of its own compiles what that calls as `super().forward(...)`.
        with watch.watching():
            result = run_hybrid_forward(block, unflatten(structure, iter(inputs)))
        leaves: list[Any] = []
        result_structure = flatten(result, leaves, plain_only=True)
        heads = tuple([_result_head(builder, leaf) for leaf in leaves])
        attributes = tuple([Attribute(b, n, s, tuple(h)) for b, n, s, h in blocks.tensor_attributes(builder)])
        written = tuple([Written(name, head) for name, head in builder.written_inputs()])
    if builder.refused:
        raise builder.refused[0]
    outputs = GraphOutputs(heads, result_structure, written, attributes, tuple(builder.effects))
    exact = block._options.is_exact
    reads, places = frozenset(builder.reads), dict(builder.read_places)
    return GraphFunction(names, dict(builder.captured), outputs, reads, exact, places)


def _result_head(builder: Builder, leaf: Any) -> Head:
    if isinstance(leaf, GraphTensor) and leaf.head in builder.numbers:
        raise builder.refusal(
            "a Python number that a loop or branch on tensors changes is returned; it would come back as an array: "
            "return a tensor"
        )
    tensor = builder.lift(leaf)
    builder.use(tensor)
    return tensor.head


def _caller_level() -> int:
    """The `stacklevel` with which a warning points at the user's line."""
    level, frame = 0, sys._getframe(0)
    while frame is not None and str(frame.f_globals.get("__name__", "")).startswith("autohybrid."):
        level, frame = level + 1, frame.f_back  # type: ignore[assignment]
    return level
