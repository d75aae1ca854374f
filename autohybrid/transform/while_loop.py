"""A `while` loop that a tensor ends, as a loop node.

Its state is the signal (how the last round ended), every tensor among the variables, the numbers that change from round
to round (as one-element tensors), and what `return` gives. A variable that is first assigned inside the loop starts as
zeros beside a flag that says whether it has been assigned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from autohybrid.context import current_context
from autohybrid.graph.builder import Builder, user_span
from autohybrid.graph.control import make_loop
from autohybrid.graph.graph_tensor import GraphTensor
from autohybrid.graph.node import Head, Node
from autohybrid.graph.structure import flatten, unflatten
from autohybrid.graph.subgraph import Subgraph
from autohybrid.tensor.array import NDArray
from autohybrid.tensor.tape import state
from autohybrid.transform.merge import number_tensor, refill
from autohybrid.transform.sides import Side, build_side
from autohybrid.transform.undefined import NOTHING, Nothing, Undefined

Body = Callable[..., tuple[Any, tuple[Any, ...], Any]]


def carried_facts(
    builder: Builder, first: Sequence[GraphTensor], after: Sequence[Head], loop: str
) -> list[tuple[tuple[int, ...], str]]:
    """Shape and dtype of every variable that a loop carries, from before it to after a round.

    Raises HybridizeError when a round changes one; `loop` says which loop it is.
    """
    facts = [builder.known_fact(t.head) for t in first]
    for head, fact in zip(after, facts):
        shape, dtype = builder.known_fact(head)
        if (shape, dtype) != fact:
            raise builder.refusal(
                f"a variable of {loop} starts with shape {fact[0]} and dtype {fact[1]} and becomes {shape} and "
                f"{dtype}; on a tensor condition it must stay the same"
            )
    return facts


class Signal(IntEnum):
    """How the body of a loop ended."""

    NEXT = 0
    BREAK = 1
    RETURN = 2


@dataclass(frozen=True, slots=True)
class _Start:
    """What the loop starts from: the variables, the positions of those that are unassigned so far and of the lists and
    dicts that a round changes in place, and zeros in the place of the result, if it can return."""

    values: tuple[Any, ...]
    unassigned: tuple[int, ...]
    kept: tuple[int, ...]
    result: Any


class WhileLoop:
    """`while test(*values): body` for one loop; see the module."""

    def __init__(self, test: Callable[..., Any], body: Body, values: tuple[Any, ...], has_else: bool) -> None:
        self.builder: Builder = state.builder
        self.test = test
        self.body = body
        self.given = values
        self.has_else = has_else

    def build(self) -> tuple[Any, tuple[Any, ...], Any]:
        """Stage the loop: how it ended, the variables after it, and what `return` gave.

        Raises HybridizeError for a loop whose rounds cannot be one body.
        """
        builder = self.builder
        start = self._start()
        leaves: list[Any] = []
        structure = flatten((start.values, start.result), leaves)
        flags = [number_tensor(builder, 0.0) for _ in start.unassigned]
        first = [number_tensor(builder, 0.0), *flags, *[builder.lift(leaf) for leaf in leaves]]
        mark = Node(None, None, (), "").order
        variables = [self._variable(t) for t in first]
        values, result = self._with_flags(variables, first, structure, start)
        condition = self._condition(variables[0], values)
        outer, builder.effects = builder.effects, []
        after = self._round(values, result, structure, start)
        effects, builder.effects = builder.effects, outer
        facts = carried_facts(builder, first, after, "this `while` loop")
        node = make_loop(
            [t.head for t in first],
            variables,
            Subgraph([condition], (), mark, variables),
            Subgraph(after, effects, mark, variables),
            facts,
            builder.fresh_name("loop"),
            user_span(),
        )
        builder.register(node, facts, state.recording and any(builder.facts[h].differentiable for h in node.inputs))
        if effects:
            builder.effects.append((node, 0))
        return self._results(node, first, structure, start)

    # -- what the loop starts from -----------------------------------------------------------------------------------
    def _start(self) -> _Start:
        """Rounds are built and forgotten until no further number turns out to change."""
        changing: set[int] = set()
        while True:
            values = [
                number_tensor(self.builder, v) if i in changing and isinstance(v, (int, float)) else v
                for i, v in enumerate(self.given)
            ]
            trial = self._trial(values)
            _, after, result = trial.result
            more = {i for i, (a, b) in enumerate(zip(values, after)) if _is_other_number(a, b)}
            if not more:
                break
            changing |= more
        unassigned = [
            i
            for i, (a, b) in enumerate(zip(values, after))
            if isinstance(a, Undefined) and isinstance(b, (NDArray, int, float))
        ]
        for i in unassigned:
            values[i] = self._zeros(after[i])
        kept = [i for i, (a, b) in enumerate(zip(trial.given, after)) if isinstance(a, (list, dict)) and a is b]
        return _Start(tuple(values), tuple(unassigned), tuple(kept), self._zeros(result))

    def _trial(self, values: Sequence[Any]) -> Side:
        side = build_side(self.builder, self.body, values)
        if side.error is not None:
            raise side.error
        if side.changes.writes or side.changes.attributes:
            what = "writes into an array in place" if side.changes.writes else "sets an attribute"
            raise self.builder.refusal(f"a `while` loop on a tensor {what}; rebind a name (`x = x + 1`) instead")
        return side

    def _zeros(self, value: Any) -> Any:
        """Zeros in the place of every tensor in `value`; the rest as it is."""
        leaves: list[Any] = []
        structure = flatten(value, leaves)
        builder = self.builder
        zeros = []
        for leaf in leaves:
            head = builder.lift(leaf).head
            shape, dtype = builder.known_fact(head)
            zero = builder.apply("_zeros", shape=shape, dtype=dtype)
            if head in builder.numbers:
                builder.numbers.add(zero.head)
            zeros.append(zero)
        if isinstance(value, (int, float)):
            return number_tensor(builder, 0.0)
        return unflatten(structure, iter(zeros))

    # -- one round ---------------------------------------------------------------------------------------------------
    def _variable(self, tensor: GraphTensor) -> Head:
        node = Node(None, None, (), self.builder.fresh_name("state"))
        self.builder.facts[node, 0] = self.builder.facts[tensor.head]
        if tensor.head in self.builder.numbers:
            self.builder.numbers.add((node, 0))
        return (node, 0)

    def _with_flags(self, heads: Sequence[Head], first: Sequence[GraphTensor], structure: Any, start: _Start) -> Any:
        """The variables and the result as tensors over `heads`; those without a value so far are marked so."""
        skip = 1 + len(start.unassigned)
        tensors = [self.builder.tensor(h, t._ctx) for h, t in zip(heads[skip:], first[skip:])]
        values, result = unflatten(structure, iter(tensors))
        for flag, position in zip(heads[1:skip], start.unassigned):
            name = self.given[position].name
            self.builder.maybe_undefined[values[position].head] = (flag, name)
        return values, result

    def _condition(self, signal: Head, values: Sequence[Any]) -> Head:
        builder = self.builder
        test = self.test(*values)
        running = builder.apply("_equal_scalar", builder.tensor(signal, current_context()), scalar=0.0)
        if not isinstance(test, NDArray):
            test = number_tensor(builder, float(bool(test)))
        holds = builder.apply("_not_equal_scalar", builder.lift(test), scalar=0.0)
        shape = holds.known_shape()
        if shape is None or any(extent != 1 for extent in shape):
            raise ValueError("The truth value of an NDArray with multiple elements is ambiguous.")
        truth = builder.apply("Cast", builder.apply("Reshape", holds, shape=(1,)), dtype="float32")
        return builder.apply("elemwise_mul", truth, running).head

    def _round(self, values: Sequence[Any], result: Any, structure: Any, start: _Start) -> list[Head]:
        """The state after a round: signal, flags, variables, result."""
        builder = self.builder
        signal, variables, returned = self.body(*values)
        ended = signal if isinstance(signal, NDArray) else number_tensor(builder, float(signal))
        after = [
            number_tensor(builder, new) if isinstance(new, (int, float)) and isinstance(old, NDArray) else new
            for old, new in zip(values, variables)
        ]
        flags = []
        for position in start.unassigned:
            if isinstance(after[position], Undefined):
                after[position] = values[position]
            known = builder.maybe_undefined.get(builder.lift(after[position]).head)
            flags.append(number_tensor(builder, 1.0).head if known is None else known[0])
        leaves: list[Any] = []
        found = flatten((tuple(after), result if isinstance(returned, Nothing) else returned), leaves)
        if found != structure:
            raise builder.refusal(
                "a variable of this `while` loop changes its kind (a list grows, a value becomes a tensor) from "
                "one round to the next, and the condition is a tensor"
            )
        return [builder.lift(ended).head, *flags, *[builder.lift(leaf).head for leaf in leaves]]

    # -- after the loop ----------------------------------------------------------------------------------------------
    def _results(
        self, node: Node, first: Sequence[GraphTensor], structure: Any, start: _Start
    ) -> tuple[Any, tuple[Any, ...], Any]:
        builder = self.builder
        heads = [(node, i) for i in range(len(first))]
        builder.numbers.update([head for head, t in zip(heads, first) if t.head in builder.numbers])
        values, result = self._with_flags(heads, first, structure, start)
        values = tuple([refill(self.given[i], v) if i in start.kept else v for i, v in enumerate(values)])
        if isinstance(start.result, Nothing):
            result = NOTHING
            if not self.has_else:  # nothing asks how the loop ended
                return Signal.NEXT, values, result
        return builder.tensor(heads[0], first[0]._ctx), values, result


def _is_other_number(before: Any, after: Any) -> bool:
    return isinstance(before, (int, float)) and (isinstance(after, NDArray) or before != after)
