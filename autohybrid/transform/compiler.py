"""Compiled calls of blocks: which graph serves a call, and building one when none does.

A block keeps its graphs in `block._compiled` (emptied by everything that could change them). A graph is found by the
structure of the arguments, the modes and, as far as building it read them, the shapes and dtypes of the arrays.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from autohybrid.errors import HybridizeError, HybridizeWarning
from autohybrid.graph.builder import Builder
from autohybrid.graph.function import GraphFunction, Written
from autohybrid.graph.graph_tensor import GraphTensor
from autohybrid.graph.node import Head
from autohybrid.graph.structure import flatten, unflatten
from autohybrid.tensor.array import NDArray
from autohybrid.tensor.tape import state
from autohybrid.transform.block_code import run_block_code
from autohybrid.transform.findings import findings_of


def call_compiled(block: Any, args: Sequence[Any]) -> Any:
    """Call a hybridized block. Inside another block's graph it becomes a part of it.

    Raises HybridizeError, with every finding, when the block cannot be a graph that gives the imperative result.
    """
    arrays: list[NDArray] = []
    structure = flatten(tuple(args), arrays)
    key = (structure, state.recording, state.training, *[(a._data.shape, a._data.dtype, a._ctx) for a in arrays])
    if state.recording:
        key = (*key, *[a._entry is not None for a in arrays])
    function = block._compiled.get(key)
    if function is None:
        function = block._compiled[key] = _find_or_build(block, structure, arrays)
    return function(arrays)


def _find_or_build(block: Any, structure: Any, arrays: Sequence[NDArray]) -> GraphFunction:
    """A graph for this call: one built for another signature, if it depends on nothing that differs; else a new one."""
    for key, function in block._compiled.items():
        if key[:3] == (structure, state.recording, state.training) and not function.reads:
            known, wanted = key[3 : 3 + len(arrays)], [(a._data.ndim, a._data.dtype, a._ctx) for a in arrays]
            if [(len(shape), dtype, ctx) for shape, dtype, ctx in known] == wanted:
                return function  # type: ignore[no-any-return]
    return build(block, structure, arrays)


def build(block: Any, structure: Any, arrays: Sequence[NDArray]) -> GraphFunction:
    """Run the block's lowered code once on stand-ins for `arrays` and keep the graph.

    Warns (HybridizeWarning) with the findings that do not prevent it; raises HybridizeError with those that do.
    """
    builder = Builder(state.recording, state.training, run_block_code)
    names = ["data"] if len(arrays) == 1 else [f"data{i}" for i in range(len(arrays))]
    try:
        with builder:
            inputs = [builder.input(builder.fresh_name(n, True), a) for n, a in zip(names, arrays)]
            result = run_block_code(block, unflatten(structure, iter(inputs)))
            leaves: list[Any] = []
            result_structure = flatten(result, leaves)
            heads = [_result_head(builder, leaf) for leaf in leaves]
    except HybridizeError as error:
        raise _with_findings(error, block) from error
    _warn(block)
    written = [Written(name, head) for name, head in builder.written_inputs()]
    return GraphFunction(
        names, dict(builder.captured), heads, result_structure, written, builder.effects, frozenset(builder.reads)
    )


def _result_head(builder: Builder, leaf: Any) -> Head:
    if isinstance(leaf, GraphTensor) and leaf.head in builder.numbers:
        raise builder.refusal(
            "a Python number that a loop on tensors changes is returned; it would come back as an array: return a tensor"
        )
    return builder.lift(leaf).head


def _with_findings(error: HybridizeError, block: Any) -> HybridizeError:
    findings = findings_of(block)
    if not findings:
        return error
    from autohybrid.diagnostics.text import plain_report

    message = f"{type(block).__name__} cannot be hybridized: {error}\n{plain_report(findings)}"
    return HybridizeError(message, findings)


def _warn(block: Any) -> None:
    findings = findings_of(block)
    if not findings:
        return
    from autohybrid.diagnostics.text import plain_report

    message = f"hybridizing {type(block).__name__}:\n{plain_report(findings)}"
    if block._options.strict:
        raise HybridizeError(message, findings)
    warnings.warn(message, HybridizeWarning, stacklevel=_caller_level())


def _caller_level() -> int:
    import sys

    level, frame = 1, sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("autohybrid."):
        level, frame = level + 1, frame.f_back  # type: ignore[assignment]
    return level
