"""Loops in lowered code. `for` is unrolled while the graph is built; `while` on a tensor becomes a loop node.

The body of a loop is a function of the item and the variables it assigns. It returns `(signal, variables, result)`:
how it ended, the variables then, and what `return` gave. A signal that depends on tensors is a one-element tensor.
The loop node itself is built in `while_loop.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from autohybrid.graph.builder import Builder
from autohybrid.tensor.array import NDArray
from autohybrid.tensor.tape import state
from autohybrid.transform.branches import build_branch
from autohybrid.transform.sides import own_copy
from autohybrid.transform.undefined import NOTHING
from autohybrid.transform.while_loop import Body, Signal, WhileLoop


def build_for(items: Iterable[Any], body: Body, values: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...], Any]:
    """Run `body` for each item; items after a `break` that depends on tensors are guarded by a branch."""
    signal: Any = Signal.NEXT
    result: Any = NOTHING
    for item in items:
        if isinstance(signal, NDArray):
            signal, values, result = _guarded(signal, body, item, values, result)
            continue
        if signal in (Signal.BREAK, Signal.RETURN):
            break
        signal, values, result = body(item, *values)
    return signal, tuple(values), result


def _guarded(signal: Any, body: Body, item: Any, values: tuple[Any, ...], result: Any) -> Any:
    return build_branch(
        signal == 0.0,
        lambda *v: body(item, *v),
        lambda *v: (signal, v, result),
        values,
    )


def build_while(
    test: Callable[..., Any], body: Body, values: tuple[Any, ...], has_else: bool
) -> tuple[Any, tuple[Any, ...], Any]:
    """`while test(*values): body`: in Python as long as the condition is, as a loop node once it is a tensor."""
    while True:
        condition = test(*values)
        if isinstance(condition, NDArray):
            return WhileLoop(test, body, values, has_else).build()
        if not condition:
            return Signal.NEXT, values, NOTHING
        before, changes = tuple([own_copy(v) for v in values]), _changes_so_far()
        signal, after, result = body(*values)
        if isinstance(signal, NDArray):
            if _changes_so_far() != changes or any(_differs(a, b) for a, b in zip(before, values)):
                builder: Builder = state.builder
                raise builder.refusal(
                    "a `while` loop that a tensor ends with `break`, `continue` or `return` writes into an array, a "
                    "container or an attribute; rebind a name instead"
                )
            return WhileLoop(test, body, before, has_else).build()
        values = after
        if signal != Signal.NEXT:
            return signal, values, result


def _changes_so_far() -> tuple[Any, ...]:
    """Something that differs once code writes into memory of the graph or sets an attribute of a block."""
    builder: Builder = state.builder
    return (
        [(key, storage.version) for key, (storage, _) in builder.write_log.items()],
        [(key, id(block.__dict__.get(name))) for key, (block, name, _) in builder.attribute_log.items()],
    )


def _differs(before: Any, now: Any) -> bool:
    """Whether a list or dict among the variables was changed in place."""
    if not isinstance(now, (list, dict)):
        return False
    a, b = ([*v, *(v.values() if isinstance(v, dict) else ())] for v in (before, now))
    return len(a) != len(b) or any(x is not y for x, y in zip(a, b))
