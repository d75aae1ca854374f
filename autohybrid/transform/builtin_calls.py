"""Python's `max`, `min`, `any`, `all`, `bool`, `float` and `int` of tensors, while a graph is built.

They ask a tensor for its truth or its value, which does not exist yet; here they become branches, or tensors that stand
for numbers. Given no tensor, the functions are Python's own.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from autohybrid.graph.graph_tensor import GraphTensor
from autohybrid.tensor.array import NDArray
from autohybrid.tensor.tape import state
from autohybrid.transform.branches import build_branch, require_one_element


def find_tensor_form(function: Any) -> Callable[..., Any] | None:
    """What stands for a builtin function while a graph is built; None for any other function."""
    return _FORMS.get(function) if type(function) in (type(max), type) else None


def truth(value: Any) -> Any:
    """A Python value as a bool; a tensor as a number tensor, which merges with the bool of another side."""
    if not is_tensor(value):
        return bool(value)
    builder = state.builder
    require_one_element(builder.lift(value))
    found = builder.apply("Cast", builder.apply("Reshape", value != 0, shape=(1,)), dtype="float32")
    builder.numbers.add(found.head)
    return found


def is_tensor(value: Any) -> bool:
    """Whether the graph decides the value."""
    return isinstance(value, GraphTensor) or (state.builder is not None and isinstance(value, NDArray))


def _extreme(plain: Callable[..., Any], is_better: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """`max` or `min`: the first of the values that no other is better than."""

    def choose(*values: Any, **options: Any) -> Any:
        items = list(values[0]) if len(values) == 1 and isinstance(values[0], Iterable) else list(values)
        if options or not any([is_tensor(item) for item in items]):
            return plain(items, **options)
        best = items[0]
        for item in items[1:]:
            better = is_better(item, best)
            if not is_tensor(better):
                best = item if better else best
            else:
                best = build_branch(better, lambda item=item: item, lambda best=best: best, ())
        return best

    return choose


def _quantifier(ends: bool) -> Callable[..., Any]:
    """`any` (which a true value ends) or `all` (which a false one does)."""

    def quantified(values: Iterable[Any]) -> Any:
        pending: Any = None
        for value in values:
            if not is_tensor(value):
                if bool(value) is ends:
                    return ends
                continue
            found = truth(value)
            if pending is None:
                pending = found
            else:
                combined = build_branch(pending, *_sides(ends, pending, found), ())
                pending = combined
        return (not ends) if pending is None else pending

    return quantified


def _sides(ends: bool, first: Any, second: Any) -> tuple[Callable[[], Any], Callable[[], Any]]:
    return (lambda: first, lambda: second) if ends else (lambda: second, lambda: first)


def _float(*values: Any) -> Any:
    return values[0].asscalar() if values and is_tensor(values[0]) else float(*values)


def _int(*values: Any, **options: Any) -> Any:
    if not (values and is_tensor(values[0])):
        return int(*values, **options)
    return state.builder.apply("trunc", values[0].asscalar())


def _bool(*values: Any) -> Any:
    return truth(values[0]) if values else False


_FORMS: Mapping[Any, Callable[..., Any]] = {
    builtins.max: _extreme(max, lambda a, b: a > b),
    builtins.min: _extreme(min, lambda a, b: a < b),
    builtins.any: _quantifier(True),
    builtins.all: _quantifier(False),
    builtins.bool: _bool,
    builtins.float: _float,
    builtins.int: _int,
}
