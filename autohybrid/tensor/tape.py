"""The autograd tape: what was computed while recording, and the walk back over it.

Owns recording state, tape nodes and `run_backward`. The public functions are in `tensor/autograd.py`. An array that
takes part carries `_entry = (source, output index)`, where the source is a TapeNode or a Variable (a leaf).
"""

from __future__ import annotations

import heapq
import itertools
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attrs
from autohybrid.tensor.versions import note_write

if TYPE_CHECKING:
    from autohybrid.tensor.array import NDArray

Entry = tuple[Any, int]
_sequence = itertools.count()


class _State(threading.local):
    recording = False
    training = False
    #: The graph builder that stages calls instead of running them (graph/builder.py), while a graph is being built.
    builder: Any = None


state = _State()


class Variable:
    """A leaf: an array that was marked with `attach_grad` or `mark_variables`. Holds where its gradient goes.

    `fresh` says that a backward pass has written the gradient since someone (Trainer) last cleared it.
    """

    __slots__ = ("array_ref", "fresh", "grad", "grad_req", "order")

    def __init__(self, grad: NDArray | None, grad_req: str) -> None:
        self.grad = grad
        self.grad_req = grad_req
        self.fresh = False
        self.order = -1


class TapeNode:
    """One recorded call. `grad(F, view, heads)` differentiates it (see tensor/opdef.py)."""

    __slots__ = (
        "attrs",
        "count",
        "entries",
        "grad",
        "inputs",
        "name",
        "on_backward",
        "order",
        "outputs",
        "parts",
        "train",
    )

    def __init__(
        self,
        name: str,
        grad: Callable[..., Any] | None,
        attrs: Attrs | None,
        inputs: Sequence[NDArray],
        outputs: Sequence[Any],
        train: bool,
        on_backward: Callable[[], None] | None = None,
    ) -> None:
        self.name = name
        self.grad = grad
        self.attrs = attrs
        self.inputs: tuple[NDArray, ...] | None = tuple(inputs)
        self.entries: tuple[Entry | None, ...] = tuple([x._entry for x in inputs])
        self.outputs = tuple(outputs)
        self.count = len(self.outputs)
        self.train = train
        self.on_backward = on_backward
        self.order: float = next(_sequence)
        #: What the outputs are on the tape where the node stands for several, which took its place: entries.
        self.parts: Sequence[Entry | None] | None = None

    def pass_back(
        self, sums: GradientSums, heads: Sequence[NDArray | None], namespace: Any, retain: bool, linked: bool
    ) -> None:
        """Add the gradients of the inputs to `sums`, for one head gradient an output (None: zeros; not all are None).

        `retain`: the call will be gone back through again. `linked`: the gradients are to be differentiable.
        """
        if self.grad is None:
            raise MXNetError(f"operator {self.name} is not differentiable: it has no gradient")
        view = NodeView(self, linked)
        filled = (
            [view.outputs[i].zeros_like() if h is None else h for i, h in enumerate(heads)]
            if any([h is None for h in heads])
            else heads
        )
        gradients = self.grad(namespace, view, [h.as_nd_ndarray() for h in filled if h is not None])
        if not isinstance(gradients, (list, tuple)):
            gradients = (gradients,)
        if self.on_backward is not None:
            self.on_backward()
        for entry, gradient in zip(self.entries, gradients):
            if entry is None:
                continue
            if gradient is None:
                sums.touch(entry)
            else:
                sums.add(entry, gradient)

    def pass_nothing(self, sums: GradientSums, outputs: Sequence[int]) -> None:
        """Note that no gradient comes to these outputs, so that leaves behind them get zeros."""
        for entry in self.entries:
            if entry is not None:
                sums.touch(entry)

    def release(self) -> None:
        """Forget the saved arrays after a backward pass that does not retain the graph.

        A gradient that needs none of them (of an addition, a reshape) can still pass through the node.
        """
        self.inputs = None
        self.outputs = ()
        self.on_backward = None


class NodeView:
    """A TapeNode as its gradient sees it: inputs and outputs as arrays, linked into the tape for higher derivatives.

    They are classic arrays, also where the call was on `mx.np` arrays: gradients are written with those' operators.
    """

    __slots__ = ("_linked", "_node", "_outputs")

    def __init__(self, node: TapeNode, linked: bool) -> None:
        self._node = node
        self._linked = linked
        self._outputs: list[NDArray] | None = None

    @property
    def attrs(self) -> Any:
        return self._node.attrs

    @property
    def train(self) -> bool:
        return self._node.train

    def needs(self, index: int) -> bool:
        return self._node.entries[index] is not None

    @property
    def inputs(self) -> Sequence[NDArray]:
        node = self._node
        if node.inputs is None:
            raise freed(node)
        inputs = node.inputs
        if any([x.is_numpy for x in inputs]):
            inputs = tuple([x.as_nd_ndarray() for x in inputs])
        if not self._linked:
            return inputs
        return [x if x._entry is e else x._alias(e) for x, e in zip(inputs, node.entries)]

    @property
    def outputs(self) -> Sequence[NDArray]:
        if self._outputs is None:
            from autohybrid.tensor.array import wrap

            node = self._node
            if node.inputs is None:
                raise freed(node)
            ctx = node.inputs[0]._ctx
            self._outputs = [wrap(a, ctx) for a in node.outputs]
            if self._linked:
                for index, array in enumerate(self._outputs):
                    array._entry = (node, index)
        return self._outputs


def freed(node: TapeNode) -> MXNetError:
    """The error for going back a second time through a call whose saved arrays are gone."""
    return MXNetError(
        f"the saved arrays of {node.name} were freed by an earlier backward pass; "
        "call backward(retain_graph=True) the first time to go back twice"
    )


def run_backward(
    heads: Sequence[NDArray],
    head_grads: Sequence[NDArray | None] | None,
    variables: Sequence[Variable] | None,
    retain_graph: bool,
    create_graph: bool,
    train: bool,
) -> list[NDArray | None]:
    """Differentiate `heads` back to the leaves.

    With `variables`, returns their gradients (None where none flows) and writes nothing; without, writes each leaf's
    gradient as its `grad_req` says and returns []. Raises MXNetError when a head was not recorded, or a call on the
    way is not differentiable.
    """
    from autohybrid.tensor.gradient_namespace import gradient_namespace

    previous = state.recording, state.training
    state.recording, state.training = create_graph, train
    try:
        sums = GradientSums(heads, head_grads, variables is None)
        _walk(sums, gradient_namespace(), retain_graph or create_graph, create_graph)
        if variables is not None:
            return [sums.leaves.get(v) for v in variables]
        for leaf, gradient in sums.leaves.items():
            _write(leaf, gradient)
        for leaf in sums.reached - sums.leaves.keys():
            _write_zeros(leaf)
        return []
    finally:
        state.recording, state.training = previous


class GradientSums:
    """Gradients on their way: for each node one slot an output, for each leaf one."""

    def __init__(
        self, heads: Sequence[NDArray], head_grads: Sequence[NDArray | None] | None, writes_leaves: bool
    ) -> None:
        #: Whether the sums for leaves go into their `grad` in the end.
        self.writes_leaves = writes_leaves
        self.queue: list[tuple[float, TapeNode]] = []
        self.slots: dict[TapeNode, list[NDArray | None]] = {}
        self.leaves: dict[Variable, NDArray] = {}
        self.reached: set[Variable] = set()
        self.touched: dict[TapeNode, set[int]] = {}
        for position, head in enumerate(heads):
            if head._entry is None:
                raise MXNetError(
                    "cannot differentiate an array that was not computed under `autograd.record()` from an array with "
                    "an attached gradient; call `attach_grad()` on the input first"
                )
            source = _in_parts(head._entry)[0]
            if isinstance(source, TapeNode) and source.inputs is None:
                raise freed(source)
            given = head_grads[position] if head_grads is not None else None
            self.add(head._entry, head.ones_like() if given is None else given)

    def touch(self, entry: Entry) -> None:
        """Note that no gradient comes this way: leaves behind it get zeros, unless one comes by another way."""
        source, index = _in_parts(entry)
        if isinstance(source, Variable):
            self.reached.add(source)
            return
        self.touched.setdefault(source, set()).add(index)
        if source not in self.slots:
            self._open(source)

    def _open(self, source: TapeNode) -> list[NDArray | None]:
        slots: list[NDArray | None] = [None] * source.count
        self.slots[source] = slots
        heapq.heappush(self.queue, (-source.order, source))
        return slots

    def add(self, entry: Entry, gradient: NDArray) -> None:
        source, index = _in_parts(entry)
        if isinstance(source, Variable):
            known = self.leaves.get(source)
            self.leaves[source] = gradient if known is None else known + gradient
            return
        slots = self.slots.get(source)
        if slots is None:
            slots = self._open(source)
        known = slots[index]
        slots[index] = gradient if known is None else known + gradient


def _in_parts(entry: Entry) -> Entry:
    """The entry of the part that stands for the output, for a node whose parts took its place."""
    source = entry[0]
    if type(source) is Variable or source.parts is None:
        return entry
    part: Entry = source.parts[entry[1]]
    return _in_parts(part)


def _walk(sums: GradientSums, namespace: Any, retain: bool, linked: bool) -> None:
    while sums.queue:
        node = heapq.heappop(sums.queue)[1]
        heads = sums.slots.pop(node)
        if all([h is None for h in heads]):
            node.pass_nothing(sums, sorted(sums.touched.get(node, ())))
            continue
        node.pass_back(sums, heads, namespace, retain, linked)
        if not retain:
            node.release()


def _write_zeros(leaf: Variable) -> None:
    """A leaf that the heads depend on, but through constant steps only (argmax, comparisons, indices)."""
    if leaf.grad is not None and leaf.grad_req == "write":
        leaf.fresh = True
        leaf.grad._store(leaf.grad.zeros_like()._data)


def _write(leaf: Variable, gradient: NDArray) -> None:
    target = leaf.grad
    if target is None or leaf.grad_req == "null":
        return
    leaf.fresh = True
    if gradient is target:  # written there already
        note_write(target._data)
        return
    value = gradient._data.astype(target.dtype, copy=False)
    if leaf.grad_req == "add":
        target._store(target._data + value)
    else:
        target._store(value)
