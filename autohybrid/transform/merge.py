"""Merging what the two sides of a branch made of the same variable: tensors become outputs, equal values stay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from autohybrid.graph.builder import Builder
from autohybrid.graph.graph_tensor import GraphTensor, Storage
from autohybrid.graph.node import Head
from autohybrid.tensor.array import NDArray
from autohybrid.transform.undefined import Nothing, Undefined


class Merge:
    """Pairs of outputs that two sides give for the same place; `skeleton` knows how to rebuild the values.

    A place is merged when both sides hold tensors of one shape and dtype (a number counts as a tensor of the other
    side's kind); lists, tuples and dicts are merged item by item; anything else must be equal on both sides.
    """

    def __init__(self, builder: Builder, mark: int, containers: Mapping[tuple[int, int], Any] | None = None) -> None:
        """`mark` is the order of the first node of the sides; `containers` are lists and dicts from outside the branch,
        by the ids of the copies that the sides were given."""
        self.builder = builder
        self.mark = mark
        self.containers = containers or {}
        self.pairs: list[tuple[Head, Head]] = []
        self.facts: list[tuple[tuple[int, ...], str]] = []

    def add(self, then: Any, otherwise: Any, what: str) -> Any:
        """A skeleton for the merged value of `what`. Raises HybridizeError when the sides cannot be one value."""
        if then is otherwise and isinstance(then, GraphTensor) and then.memory.born < self.mark:
            return _Fixed(then)  # what the sides wrote into its memory is merged there
        original = self.containers.get((id(then), id(otherwise)))
        if original is not None:
            return _Original(original, self._value(then, otherwise, what))
        return self._value(then, otherwise, what)

    def _value(self, then: Any, otherwise: Any, what: str) -> Any:
        if isinstance(then, NDArray) or isinstance(otherwise, NDArray):
            return self._tensors(then, otherwise, what)
        if isinstance(then, Undefined) or isinstance(otherwise, Undefined):
            return self._one_undefined(then, otherwise, what)
        if type(then) is type(otherwise) and isinstance(then, (list, tuple)) and len(then) == len(otherwise):
            return _Sequence(type(then), [self.add(a, b, what) for a, b in zip(then, otherwise)])
        if type(then) is type(otherwise) and isinstance(then, dict) and list(then) == list(otherwise):
            return _Mapping(list(then), [self.add(then[k], otherwise[k], what) for k in then])
        if then is otherwise or (type(then) is type(otherwise) and _equal(then, otherwise)):
            return _Fixed(then)
        if isinstance(then, (int, float)) and isinstance(otherwise, (int, float)):
            return self._numbers(then, otherwise)
        raise self.builder.refusal(
            f"{what} is {_shown(then)} when the condition holds and {_shown(otherwise)} when not, and the condition is "
            "a tensor: both sides of such a branch must give the same kind of value"
        )

    def _one_undefined(self, then: Any, otherwise: Any, what: str) -> Any:
        """At most one side assigned the variable, and no tensor: each item of a container counts for itself."""
        missing, value = (then, otherwise) if isinstance(then, Undefined) else (otherwise, then)
        if isinstance(value, (list, tuple)):
            items = [missing] * len(value)
            blank: Any = type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
        elif isinstance(value, dict):
            blank = dict.fromkeys(value, missing)
        elif isinstance(value, (int, float)) and not isinstance(missing, Nothing):
            blank, value = missing, number_tensor(self.builder, value)
        else:
            return _Fixed(value if isinstance(missing, Nothing) else missing)
        return self.add(blank, value, what) if missing is then else self.add(value, blank, what)

    def _tensors(self, then: Any, otherwise: Any, what: str) -> Any:
        known = then if isinstance(then, NDArray) else otherwise
        a, b = (self._as_tensor(side, known, what) for side in (then, otherwise))
        fact, other = self.builder.facts[a.head], self.builder.facts[b.head]
        if (fact.shape, fact.dtype) != (other.shape, other.dtype):
            raise self.builder.refusal(
                f"{what} has shape {fact.shape} and dtype {fact.dtype} when the condition holds, but {other.shape} and "
                f"{other.dtype} when not, and the condition is a tensor"
            )
        place = self._place(a, b)
        place.sources = [t.memory for t in (a, b) if t.memory.born < self.mark]
        numbers = [self._is_number(side) for side in (then, otherwise)]
        place.mixed = any(isinstance(side, (int, float)) for side in (then, otherwise)) and not all(numbers)
        place.number = all(numbers) or place.mixed
        place.flag, place.name = self._flag(then, otherwise)
        return place

    def _flag(self, then: Any, otherwise: Any) -> tuple[int | None, str]:
        """Where the output is that says whether the variable is assigned, and its name; None when it always is."""
        found = [self._assigned(side) for side in (then, otherwise)]
        name = next((f[1] for f in found if f is not None), None)
        if name is None:
            return None, ""
        heads = [number_tensor(self.builder, 1.0).head if f is None else f[0] for f in found]
        self.pairs.append((heads[0], heads[1]))
        self.facts.append(((1,), "float32"))
        return len(self.pairs) - 1, name

    def _assigned(self, value: Any) -> tuple[Head, str] | None:
        if isinstance(value, Nothing):
            return None
        if isinstance(value, Undefined):
            return number_tensor(self.builder, 0.0).head, value.name
        return self.builder.maybe_undefined.get(value.head) if isinstance(value, GraphTensor) else None

    def _is_number(self, value: Any) -> bool:
        if isinstance(value, Undefined):
            return True
        return not isinstance(value, NDArray) or (isinstance(value, GraphTensor) and value.head in self.builder.numbers)

    def _place(self, a: GraphTensor, b: GraphTensor) -> Any:
        fact = self.builder.facts[a.head]
        assert fact.shape is not None and fact.dtype is not None
        self.pairs.append((a.head, b.head))
        self.facts.append((fact.shape, fact.dtype))
        return _Place(len(self.pairs) - 1, a._ctx)

    def _as_tensor(self, value: Any, known: Any, what: str) -> GraphTensor:
        if isinstance(value, NDArray):
            return self.builder.lift(value)
        if isinstance(value, Undefined):
            shape, dtype = self.builder.known_fact(self.builder.lift(known).head)
            return self.builder.apply("_zeros", shape=shape, dtype=dtype)
        if isinstance(value, (int, float)):
            # One element is what arithmetic takes for a number too; the merged value counts as a number from here on.
            shape, dtype = self.builder.known_fact(self.builder.lift(known).head)
            if shape == (1,):
                return number_tensor(self.builder, value, dtype)
        raise self.builder.refusal(
            f"{what} is a tensor on one side of a branch and {_shown(value)} on the other, and the condition is a "
            "tensor"
        )

    def _numbers(self, then: Any, otherwise: Any) -> Any:
        place = self._place(number_tensor(self.builder, then), number_tensor(self.builder, otherwise))
        place.number = True
        return place

    def rebuild(self, skeleton: Any, heads: Sequence[Head]) -> Any:
        """The merged value, with `heads` for the places."""
        if isinstance(skeleton, _Place):
            tensor = self.builder.tensor(heads[skeleton.index], skeleton.ctx)
            for source in skeleton.sources:
                tensor.memory.partners.append(source)
                source.partners.append(tensor.memory)
            if skeleton.number:
                self.builder.numbers.add(heads[skeleton.index])
            if skeleton.mixed:
                self.builder.mixed.add(heads[skeleton.index])
            if skeleton.flag is not None:
                self.builder.maybe_undefined[heads[skeleton.index]] = (heads[skeleton.flag], skeleton.name)
            return tensor
        if isinstance(skeleton, _Fixed):
            return skeleton.value
        if isinstance(skeleton, _Original):
            return refill(skeleton.container, self.rebuild(skeleton.contents, heads))
        items = [self.rebuild(item, heads) for item in skeleton.items]
        if isinstance(skeleton, _Mapping):
            return dict(zip(skeleton.keys, items))
        return skeleton.kind(*items) if hasattr(skeleton.kind, "_fields") else skeleton.kind(items)


def refill(container: Any, contents: Any) -> Any:
    """The list or dict itself with other contents: every name that it has sees them."""
    if isinstance(container, dict):
        container.clear()
        container.update(contents)
    else:
        container[:] = contents
    return container


def number_tensor(builder: Builder, value: float, dtype: str = "float32") -> GraphTensor:
    """A one-element tensor that stands for a Python number which depends on tensors."""
    tensor = builder.apply("_full", shape=(1,), value=float(value), dtype=dtype)
    builder.numbers.add(tensor.head)
    return tensor


class _Place:
    def __init__(self, index: int, ctx: Any) -> None:
        self.index = index
        self.ctx = ctx
        self.number = self.mixed = False
        self.sources: list[Storage] = []
        self.flag: int | None = None
        self.name = ""


class _Original:
    """A list or dict that both sides were given and kept: it stays itself, with the merged contents."""

    def __init__(self, container: Any, contents: Any) -> None:
        self.container = container
        self.contents = contents


class _Fixed:
    def __init__(self, value: Any) -> None:
        self.value = value


class _Sequence:
    def __init__(self, kind: Any, items: list[Any]) -> None:
        self.kind = kind
        self.items = items


class _Mapping:
    def __init__(self, keys: list[Any], items: list[Any]) -> None:
        self.keys = keys
        self.items = items


def _equal(a: Any, b: Any) -> bool:
    return bool(a == b)


def _shown(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return f"a {type(value).__name__} of {len(value)}"
    return repr(value) if isinstance(value, (int, float, str, type(None))) else f"a {type(value).__name__}"
