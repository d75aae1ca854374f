"""Gradients of a graph as more of the same graph: the tape's walk back, on tensors that stand for values.

Owns the symbolic backward pass: `differentiate` runs the gradients of the operator records on GraphTensors, in the
order in which the tape would run them on arrays, and so gives the same sums of the same operations.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autohybrid.context import Context
from autohybrid.errors import HybridizeError, MXNetError
from autohybrid.graph.builder import Builder, Fact
from autohybrid.graph.graph_tensor import GraphTensor
from autohybrid.graph.node import Head, Node
from autohybrid.tensor.gradient_namespace import OperatorNamespace
from autohybrid.tensor.imperative import invoke
from autohybrid.tensor.opdef import OpDef
from autohybrid.tensor.ops import get_operator
from autohybrid.tensor.tape import state
from autohybrid.tensor.templates import View


@dataclass(frozen=True, slots=True)
class Gradients:
    """What the backward pass of a graph computes.

    `head_variables` are the variables for the gradients of the outputs, None for those that are not differentiated;
    `of_variables` the gradient of every variable that is asked for and gets one; `moved` the nodes whose auxiliary
    states the pass moves. Nodes of the pass have an `order` of `start` or more.
    """

    head_variables: tuple[Node | None, ...]
    of_variables: Mapping[Node, Head]
    moved: tuple[Node, ...]
    start: int


def differentiate(
    order: Sequence[Node],
    outputs: Sequence[Head],
    active: Sequence[bool],
    wanted: frozenset[Node],
    facts: tuple[Mapping[Head, Any], Mapping[Head, Any]],
    train: bool,
    ctx: Context,
) -> Gradients | None:
    """The gradients of the `active` outputs with respect to the variables `wanted`; None where only the tape can tell.

    `order` are all nodes in program order, `facts` the shapes and dtypes of their outputs, all known.
    """
    builder = Builder(False, train, _no_block, _no_function)
    for head, shape in facts[0].items():
        builder.facts[head] = Fact(tuple(shape), facts[1][head], False)
    saved = state.recording, state.training
    state.recording, state.training = False, train
    try:
        with builder:
            walk = _Walk(builder, order, wanted, train, ctx)
            variables = [walk.open(head) if is_active else None for head, is_active in zip(outputs, active)]
            walk.run()
    except (HybridizeError, MXNetError):
        return None  # this gradient looks at values, or refuses: the tape runs it when it comes to that
    finally:
        state.recording, state.training = saved
    if builder.refused or builder.captured or any(map(_depends_on_mode, walk.added())):
        return None
    found = {node: tensor.head for node, tensor in walk.leaves.items()}
    return Gradients(tuple(variables), found, tuple(walk.moved), walk.start)


class _Namespace(OperatorNamespace):
    """The operators, as gradients call them on tensors of a graph."""

    def _unbroadcast(self, data: Any, like: Any) -> Any:
        """The operator `_unbroadcast`; a tensor that has the shape already passes as it is."""
        if data.shape == like.shape:
            return data
        op = get_operator("_unbroadcast")
        return invoke(op, op.parse({}), (data, like))


class _View:
    """A node as its gradient sees it."""

    __slots__ = ("_needed", "attrs", "inputs", "outputs", "train")

    def __init__(self, node: Node, inputs: Sequence[Any], outputs: Sequence[Any], needed: Sequence[bool], train: bool):
        self.attrs: Any = node.attrs
        self.inputs = inputs
        self.outputs = outputs
        self.train = train
        self._needed = needed

    def needs(self, index: int) -> bool:
        """Whether the gradient of this input goes anywhere."""
        return self._needed[index]


class _Walk:
    """The walk back. `leaves` are the sums for variables, `slots` those for outputs of nodes that are still to come."""

    def __init__(
        self, builder: Builder, order: Sequence[Node], wanted: frozenset[Node], train: bool, ctx: Context
    ) -> None:
        self.builder = builder
        self.train = train
        self.ctx = ctx
        self.leaves: dict[Node, GraphTensor] = {}
        self.slots: dict[Node, list[GraphTensor | None]] = {}
        self.moved: list[Node] = []
        self._queue: list[tuple[int, Node]] = []
        self._wanted = wanted
        self._forward = frozenset(order)
        self._on_tape = on_tape(order, wanted)
        self._copies: dict[Head, Head] = {}
        self._lent = borrowed(order, train)
        self.start = Node(None, None, (), "").order

    def open(self, output: Head) -> Node:
        """A variable for the gradient of `output`, which the walk starts from."""
        node = Node(None, None, (), self.builder.fresh_name("head_gradient"))
        self.builder.facts[node, 0] = self.builder.facts[output]
        self._add(output, self.builder.tensor((node, 0), self.ctx))
        return node

    def run(self) -> None:
        """Walk until nothing is left."""
        namespace = _Namespace()
        while self._queue:
            node = heapq.heappop(self._queue)[1]
            heads = self.slots.pop(node)
            assert node.op is not None and node.op.grad is not None
            self.builder.find_span = lambda node=node: node.span  # type: ignore[misc]
            needed = [source in self._on_tape for source, _ in node.inputs]
            outputs = [self._tensor((node, i)) for i in range(node.output_count)]
            view = _View(node, [self._tensor(h) for h in node.inputs], outputs, needed, self.train)
            filled = [outputs[i].zeros_like() if h is None else h for i, h in enumerate(heads)]
            gradients = node.op.grad(namespace, view, filled)
            if not isinstance(gradients, (list, tuple)):
                gradients = (gradients,)
            if node.op.backward_state is not None and self.train:
                self.moved.append(node)
            for head, gradient, is_needed in zip(node.inputs, gradients, needed):
                if is_needed and gradient is not None:
                    self._add(head, gradient)

    def added(self) -> list[Node]:
        """The nodes of operators that the walk has made."""
        return [n for n, _ in self.builder.facts if n.op is not None and n not in self._forward]

    def _add(self, head: Head, gradient: GraphTensor) -> None:
        node, index = head
        if node.op is None:
            known = self.leaves.get(node)
            self.leaves[node] = gradient if known is None else _plus(known, gradient)
            return
        slots = self.slots.get(node)
        if slots is None:
            slots = self.slots[node] = [None] * node.output_count
            heapq.heappush(self._queue, (-node.order, node))
        before = slots[index]
        slots[index] = gradient if before is None else _plus(before, gradient)

    def _tensor(self, head: Head) -> GraphTensor:
        """The tensor that stands for a value of the graph while the gradients are computed."""
        if head[0] in self._lent:
            head = self._own(head)
        return self.builder.tensor(head, self.ctx)

    def _own(self, head: Head) -> Head:
        """A copy of a value that lies in the memory of a variable: that may be written before the backward pass."""
        if head not in self._copies:
            copy = Node(_SNAPSHOT, _SNAPSHOT.parse({}), (head,), f"{head[0].name}_kept", span=head[0].span)
            copy.order = head[0].order
            self.builder.facts[copy, 0] = self.builder.facts[head]
            self._copies[head] = (copy, 0)
        return self._copies[head]


#: What a view of a variable held when the call ran.
_SNAPSHOT = OpDef("_snapshot", lambda xp, attrs, data: data.copy(), doc="A copy in memory of its own.")


def _plus(a: GraphTensor, b: GraphTensor) -> GraphTensor:
    total: GraphTensor = a + b  # type: ignore[assignment]
    return total


def on_tape(order: Sequence[Node], wanted: frozenset[Node]) -> set[Node]:
    """The variables `wanted` and the nodes that depend on them: those whose imperative results would be on the tape."""
    found: set[Node] = set(wanted)
    for node in order:
        if node.op is not None and any(source in found for source, _ in node.inputs):
            found.add(node)
    return found


def borrowed(order: Sequence[Node], train: bool) -> set[Node]:
    """The nodes whose outputs generated code may leave in the memory of a variable (views of one, identities)."""
    found: set[Node] = set()
    for node in order:
        if node.op is None or not (node.op.view or isinstance(node.op.fast, View) or is_identity(node, train)):
            continue
        if any(source.op is None or source in found for source, _ in node.inputs):
            found.add(node)
    return found


def is_identity(node: Node, train: bool) -> bool:
    """Whether the node's first output is its first input."""
    assert node.op is not None and node.attrs is not None
    return node.op.is_identity is not None and node.op.is_identity(node.attrs, train)


def _depends_on_mode(node: Node) -> bool:
    """Whether a call of the backward pass is more than a function of its inputs: on the tape it runs in the mode of
    `backward()`, and draws when that runs."""
    op = node.op
    assert op is not None
    return bool(node.extra is not None or op.random or op.train_dependent or op.mutates or op.session is not None)


def _no_block(block: Any, args: Sequence[Any]) -> Any:
    raise AssertionError("a gradient calls no block")


def _no_function(function: Any) -> None:
    """Functions that gradients call are the project's own."""
