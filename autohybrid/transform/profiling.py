"""Profile of a hybridized block: the graph that serves a call, timed step by step."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.graph.codegen import generate_alone
from autohybrid.graph.profile import Profile, profile_code
from autohybrid.graph.structure import flatten
from autohybrid.tensor.array import NDArray
from autohybrid.tensor.quiet import hush, unhush
from autohybrid.tensor.tape import state


def profile_block(block: Any, args: tuple[Any, ...], calls: int) -> Profile:
    """Call `block` on `args` and time the executor that served the call.

    Raises MXNetError when the block is not hybridized, runs imperatively, or autograd is recording.
    """
    name = f"{type(block).__name__} `{block.name}`"
    if not block._active:
        raise MXNetError(f"{name} is not hybridized: call hybridize() first; only compiled calls can be profiled")
    if state.recording:
        raise MXNetError(f"{name} cannot be profiled while autograd records; profile outside of autograd.record()")
    block(*args)
    arrays: list[NDArray] = []
    structure = flatten(args, arrays)
    entry = None if block._compiled is None else block._compiled.entry_of(structure, arrays)
    if entry is None:
        raise MXNetError(f"{name} runs imperatively, so there is no executor to profile; its warning says why")
    raw = [array._data for array in arrays]
    signature = tuple([(a.shape, a.dtype) for a in raw])
    code = entry.function.code(signature, state.training)
    if not isinstance(code, FunctionType):  # steps are timed in one thread
        code, _ = generate_alone(entry.function, signature, state.training)
    token = hush()
    try:
        return profile_code(type(block).__name__, code, raw, calls)
    finally:
        unhush(token)
