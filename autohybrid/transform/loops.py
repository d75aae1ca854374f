"""Loops in lowered code. `for` is unrolled while the graph is built; `while` on a tensor becomes a loop node.

The body of a loop is a function of the item and the variables it assigns. It returns `(signal, variables, result)`:
how it ended, the variables then, and what `return` gave. A signal that depends on tensors is a one-element tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from typing import Any

from autohybrid.graph.builder import Builder, user_span
from autohybrid.graph.control import make_loop
from autohybrid.graph.graph_tensor import GraphTensor
from autohybrid.graph.node import Head, Node
from autohybrid.graph.structure import flatten, unflatten
from autohybrid.graph.subgraph import Subgraph
from autohybrid.tensor.array import NDArray
from autohybrid.tensor.tape import state
from autohybrid.transform.branches import build_branch, build_side
from autohybrid.transform.merge import number_tensor
from autohybrid.transform.undefined import Undefined

Body = Callable[..., tuple[Any, tuple[Any, ...], Any]]
_NO_RESULT = Undefined("the result of the loop")


class Signal(IntEnum):
    """How the body of a loop ended."""

    NEXT = 0
    BREAK = 1
    RETURN = 2


def build_for(items: Iterable[Any], body: Body, values: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...], Any]:
    """Run `body` for each item; items after a `break` that depends on tensors are guarded by a branch."""
    signal: Any = Signal.NEXT
    result: Any = _NO_RESULT
    for item in items:
        if isinstance(signal, NDArray):
            signal, values, result = _guarded(signal, body, item, values, result)
            continue
        if signal in (Signal.BREAK, Signal.RETURN):
            break
        signal, values, result = body(item, *values)
    if not isinstance(signal, NDArray) and signal == Signal.NEXT:
        signal = Signal.NEXT
    return signal, tuple(values), result


def _guarded(signal: Any, body: Body, item: Any, values: tuple[Any, ...], result: Any) -> Any:
    return build_branch(
        signal == 0.0,
        lambda *v: body(item, *v),
        lambda *v: (signal, v, result),
        values,
    )


def build_while(test: Callable[..., Any], body: Body, values: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...], Any]:
    """`while test(*values): body`: in Python as long as the condition is, as a loop node once it is a tensor."""
    signal: Any = Signal.NEXT
    result: Any = _NO_RESULT
    while True:
        condition = test(*values)
        if isinstance(condition, NDArray):
            return Signal.NEXT, _Loop(test, body, values).build(), _NO_RESULT
        if not condition:
            return Signal.NEXT, values, result
        signal, values, result = body(*values)
        if isinstance(signal, NDArray):
            builder: Builder = state.builder
            raise builder.refusal(
                "a `while` loop whose condition is a Python value is left by a `break`, `continue` or `return` that "
                "depends on a tensor; make the tensor part of the loop's condition"
            )
        if signal != Signal.NEXT:
            return signal, values, result


class _Loop:
    """A `while` on a tensor. Its state: the signal, every tensor or changing number in the variables."""

    def __init__(self, test: Callable[..., Any], body: Body, values: tuple[Any, ...]) -> None:
        self.builder: Builder = state.builder
        self.test = test
        self.body = body
        self.values = values

    def build(self) -> tuple[Any, ...]:
        builder = self.builder
        start = self._with_numbers(self.values, self._changing())
        leaves: list[Any] = []
        structure = flatten(start, leaves)
        first = [number_tensor(builder, 0.0), *[builder.lift(leaf) for leaf in leaves]]
        mark = Node(None, None, (), "").order
        variables = [self._variable(t) for t in first]
        state_values = self._tensors(variables[1:], [leaf._ctx for leaf in leaves], structure)
        condition = self._condition(variables[0], state_values)
        ended, after = self._body(state_values, structure)
        facts = [builder.known_fact(h) for h in (t.head for t in first)]
        for head, fact in zip((ended, *after), facts):
            if builder.known_fact(head) != fact:
                raise builder.refusal(
                    f"a variable of this `while` loop starts with shape {fact[0]} and dtype {fact[1]} and becomes "
                    f"{builder.known_fact(head)[0]} and {builder.known_fact(head)[1]}; on a tensor condition it must "
                    "stay the same"
                )
        node = make_loop(
            [t.head for t in first],
            variables,
            Subgraph([condition], (), mark, variables),
            Subgraph([ended, *after], (), mark, variables),
            facts,
            builder.fresh_name("loop"),
            user_span(),
        )
        flows = state.recording and any(builder.facts[h].differentiable for h in node.inputs)
        builder.register(node, facts, flows)
        heads = [(node, i + 1) for i in range(len(leaves))]
        for leaf, head in zip(leaves, heads):
            if leaf.head in builder.numbers:
                builder.numbers.add(head)
        return tuple(self._tensors(heads, [leaf._ctx for leaf in leaves], structure))

    def _changing(self) -> set[int]:
        """Positions of numbers among the variables that the body changes."""
        side = build_side(self.builder, self.body, self.values)
        if side.error is not None:
            raise side.error
        if side.writes:
            raise self.builder.refusal(
                "a `while` loop on a tensor writes into an array in place; rebind the name (`x = x + 1`) instead"
            )
        after = side.result[1]
        return {
            i
            for i, (a, b) in enumerate(zip(self.values, after))
            if isinstance(a, (int, float)) and (isinstance(b, NDArray) or a != b)
        }

    def _with_numbers(self, values: Sequence[Any], positions: set[int]) -> tuple[Any, ...]:
        return tuple([number_tensor(self.builder, v) if i in positions else v for i, v in enumerate(values)])

    def _variable(self, tensor: GraphTensor) -> Head:
        node = Node(None, None, (), self.builder.fresh_name("state"))
        self.builder.facts[node, 0] = self.builder.facts[tensor.head]
        if tensor.head in self.builder.numbers:
            self.builder.numbers.add((node, 0))
        return (node, 0)

    def _tensors(self, heads: Sequence[Head], contexts: Sequence[Any], structure: Any) -> Any:
        return unflatten(structure, iter([self.builder.tensor(h, c) for h, c in zip(heads, contexts)]))

    def _condition(self, signal: Head, values: Any) -> Head:
        builder = self.builder
        holds = builder.apply("_not_equal_scalar", builder.lift(self.test(*values)), scalar=0.0)
        running = builder.apply("_equal_scalar", builder.tensor(signal, holds._ctx), scalar=0.0)
        shape = holds.known_shape()
        if shape is None or any(extent != 1 for extent in shape):
            raise ValueError("The truth value of an NDArray with multiple elements is ambiguous.")
        truth = builder.apply("Cast", builder.apply("Reshape", holds, shape=(1,)), dtype="float32")
        return builder.apply("elemwise_mul", truth, running).head

    def _body(self, values: Any, structure: Any) -> tuple[Head, list[Head]]:
        signal, after, _ = self.body(*values)
        builder = self.builder
        if isinstance(signal, int) and signal == Signal.RETURN:
            raise builder.refusal(
                "`return` inside a `while` loop on a tensor; leave it with `break` and return after it"
            )
        ended = builder.lift(signal) if isinstance(signal, NDArray) else number_tensor(builder, float(signal))
        leaves: list[Any] = []
        found = flatten(tuple(after), leaves)
        if found != structure:
            after = tuple(
                number_tensor(builder, new) if isinstance(new, (int, float)) and isinstance(old, NDArray) else new
                for old, new in zip(values, after)
            )
            leaves = []
            if flatten(after, leaves) != structure:
                raise builder.refusal(
                    "a variable of this `while` loop changes its kind (a list grows, a value becomes a tensor) from "
                    "one round to the next, and the condition is a tensor"
                )
        return ended.head, [builder.lift(leaf).head for leaf in leaves]
