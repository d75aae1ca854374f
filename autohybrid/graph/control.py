"""Nodes with bodies: a branch that runs one of two subgraphs, a loop that runs one until its condition is false.

Each such node has an operator record of its own (its outputs and their facts depend on the bodies). Bodies run on
NDArrays, so that under recording their calls are on the tape and gradients of every order follow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from autohybrid.graph.node import Head, Node
from autohybrid.graph.subgraph import Subgraph
from autohybrid.spans import Span
from autohybrid.tensor import creation
from autohybrid.tensor.array import NDArray
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.imperative import invoke
from autohybrid.tensor.opdef import Dtypes, OpDef, Shapes
from autohybrid.tensor.ops import get_operator

Facts = Sequence[tuple[tuple[int, ...], str]]


@dataclass(frozen=True, slots=True)
class BranchBody:
    """`extra` of a branch node: inputs are the condition and then the free outputs of both sides."""

    then: Subgraph
    otherwise: Subgraph
    free: tuple[Head, ...]

    def run(self, node: Node, inputs: Sequence[NDArray]) -> list[NDArray]:
        """Run the side that the condition chooses."""
        side = self.then if bool(inputs[0]) else self.otherwise
        return side.run(dict(zip(self.free, inputs[1:])))


@dataclass(frozen=True, slots=True)
class LoopBody:
    """`extra` of a loop node: inputs are the first state and then the free outputs of condition and body.

    The body gives the next state and then what is collected in each round. The node gives the last state and the
    collected values, stacked and filled with zeros to `limit` rounds; without a limit nothing is collected.
    """

    condition: Subgraph
    body: Subgraph
    state: tuple[Head, ...]
    free: tuple[Head, ...]
    limit: int | None = None
    collected: Facts = ()

    def run(self, node: Node, inputs: Sequence[NDArray]) -> list[NDArray]:
        """Run the body as long as the condition holds, at most `limit` times."""
        width = len(self.state)
        state = list(inputs[:width])
        outside = dict(zip(self.free, inputs[width:]))
        rows: list[list[NDArray]] = []
        while self.limit is None or len(rows) < self.limit:
            values = {**outside, **dict(zip(self.state, state))}
            if not bool(self.condition.run(values)[0]):
                break
            after = self.body.run(values)
            state = after[:width]
            if self.limit is not None:
                rows.append(after[width:])
        return [*state, *[self._stacked([row[i] for row in rows], i) for i in range(len(self.collected))]]

    def _stacked(self, rows: list[NDArray], index: int) -> NDArray:
        assert self.limit is not None
        shape, dtype = self.collected[index]
        filled = [*rows, *[creation.zeros(shape, dtype=dtype)] * (self.limit - len(rows))]
        op = get_operator("stack")
        return invoke(op, op.parse({"num_args": len(filled)}), filled)  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class Raise:
    """`extra` of a node that raises: the code of a branch ended in an exception."""

    error: BaseException

    def run(self, node: Node, inputs: Sequence[NDArray]) -> list[NDArray]:
        """Raise what the user's code raised while the branch was built."""
        raise self.error


@dataclass(frozen=True, slots=True)
class Assert:
    """`extra` of an `assert` on a tensor."""

    message: Any

    def run(self, node: Node, inputs: Sequence[NDArray]) -> list[NDArray]:
        """Raise AssertionError when the condition is false."""
        assert bool(inputs[0]), self.message
        return [inputs[0]]


@dataclass(frozen=True, slots=True)
class Defined:
    """`extra` of a node that checks that a local variable was assigned on the way that was taken."""

    name: str

    def run(self, node: Node, inputs: Sequence[NDArray]) -> list[NDArray]:
        """Raise what Python raises for an unassigned variable, when the input is false."""
        if not bool(inputs[0]):
            raise UnboundLocalError(
                f"cannot access local variable '{self.name}' where it is not associated with a value"
            )
        return [inputs[0]]


def make_branch(
    condition: Head, then: Subgraph, otherwise: Subgraph, facts: Facts, name: str, span: Span | None
) -> Node:
    """A branch node whose outputs are the heads of the side that is chosen."""
    free = tuple(dict.fromkeys([*then.free, *otherwise.free]))
    return _node("_branch", (condition, *free), facts, BranchBody(then, otherwise, free), name, span)


def make_loop(
    first: Sequence[Head],
    state: Sequence[Head],
    condition: Subgraph,
    body: Subgraph,
    facts: Facts,
    name: str,
    span: Span | None,
    limit: int | None = None,
    collected: Facts = (),
) -> Node:
    """A loop node: `first` are the states it starts from, `state` the variables that stand for them in the bodies.

    `facts` are those of the state, `collected` those of one round's collected values.
    """
    free = tuple(dict.fromkeys([*condition.free, *body.free]))
    extra = LoopBody(condition, body, tuple(state), free, limit, tuple(collected))
    stacked = [((limit or 0, *shape), dtype) for shape, dtype in collected]
    return _node("_loop", (*first, *free), [*facts, *stacked], extra, name, span)


def make_effect(
    inputs: Sequence[Head], extra: Raise | Assert | Defined, facts: Facts, name: str, span: Span | None
) -> Node:
    """A node that exists for what it raises."""
    return _node("_raise" if isinstance(extra, Raise) else "_assert", tuple(inputs), facts, extra, name, span)


def _node(kind: str, inputs: tuple[Head, ...], facts: Facts, extra: Any, name: str, span: Span | None) -> Node:
    op = _record(kind, tuple(facts))
    return Node(op, op.parse({"num_args": len(inputs)}), inputs, name, span=span, extra=extra)


def _record(kind: str, facts: tuple[tuple[tuple[int, ...], str], ...]) -> OpDef:
    def infer_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
        return ins, [shape for shape, _ in facts]

    def infer_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
        return ins, [dtype for _, dtype in facts]

    def unreachable(xp: Any, attrs: Attrs, *arrays: Any) -> Any:
        raise NotImplementedError(f"{kind} runs through its body")

    return OpDef(
        kind,
        unreachable,
        inputs=(),
        variadic="num_args",
        attrs=(Attr("num_args", "int"),),
        outputs=tuple(f"output{i}" for i in range(len(facts))),
        infer_shape=infer_shape,
        infer_dtype=infer_dtype,
    )
