"""Running a block's code inside a graph builder: its lowered `hybrid_forward` or `forward`, with its parameters lifted.

Blocks of autohybrid itself are written to run on any tensor and are not lowered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from autohybrid import ndarray
from autohybrid.context import current_context
from autohybrid.tensor.array import NDArray
from autohybrid.tensor.tape import state
from autohybrid.transform.lowered import lowered_method

_LIBRARY = "autohybrid."


def run_block_code(block: Any, args: Sequence[Any]) -> Any:
    """What calling `block.forward(*args)` adds to the graph being built; the result with GraphTensors for arrays."""
    owner = defining_class(type(block), "forward")
    if not owner.__module__.startswith(_LIBRARY):
        return lowered_method(block, "forward", owner)(*args)
    if not hasattr(block, "hybrid_forward") or "hybrid_forward" not in vars(owner):
        return block.forward(*args)
    return run_hybrid_forward(block, args)


def run_hybrid_forward(block: Any, args: Sequence[Any]) -> Any:
    """The same for `block.hybrid_forward`, with the block's own parameters."""
    with state.builder.unwatched():
        ctx = next((a._ctx for a in _arrays(args)), current_context())
        params = block._stand_ins(ctx)
    return _hybrid_forward(block)(ndarray, *args, **params)


def _hybrid_forward(block: Any) -> Callable[..., Any]:
    owner = defining_class(type(block), "hybrid_forward")
    if owner.__module__.startswith(_LIBRARY):
        return block.hybrid_forward  # type: ignore[no-any-return]
    return lowered_method(block, "hybrid_forward", owner)


def defining_class(cls: type, name: str) -> type:
    """The class in the MRO of `cls` that defines method `name`."""
    return next(base for base in cls.__mro__ if name in vars(base))


def _arrays(values: Sequence[Any]) -> Iterator[NDArray]:
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _arrays(value)
        elif isinstance(value, NDArray):
            yield value
