"""Builder: collects the nodes that running a block's code on GraphTensors adds, and what the code read of its inputs.

While a builder is active (`with builder:`) every operator call of the thread is staged here instead of being run, also
calls on plain NDArrays: those are lifted, by reference, to inputs of the graph that are fed anew at each call. So the
graph computes what the code computes at every call, unless the code itself does something no graph can hold; that
raises, with the user's place.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from types import CodeType
from typing import Any, Protocol

from autohybrid.context import Context, current_context
from autohybrid.errors import HybridizeError, MXNetError
from autohybrid.graph.control import Defined, make_effect
from autohybrid.graph.graph_tensor import GraphTensor, HostValueNeeded, Storage, View
from autohybrid.graph.modes import ScopedModes
from autohybrid.graph.node import Head, Node
from autohybrid.spans import Span, column_from_bytes
from autohybrid.tensor.array import INPLACE_REFUSED, NDArray
from autohybrid.tensor.attrs import Attrs
from autohybrid.tensor.imperative import gives_numpy
from autohybrid.tensor.numpy_array import ndarray
from autohybrid.tensor.opdef import OpDef, Shape
from autohybrid.tensor.ops import get_operator
from autohybrid.tensor.shapes import is_known, same_dtype, same_shape
from autohybrid.tensor.tape import state

_PACKAGE = str(Path(__file__).resolve().parent.parent)


@dataclass(frozen=True, slots=True)
class Fact:
    """What is known of an output: its shape and dtype, and whether a gradient can flow into it."""

    shape: Shape
    dtype: str | None
    differentiable: bool


#: Stands for an attribute that is not there.
ABSENT = object()


class Watch(Protocol):
    """What observes every call of the code that builds a graph (Python's profiler hook), and may rest meanwhile."""

    def pause(self) -> bool:
        """Rest while autohybrid works for itself; whether it was awake."""

    def resume(self) -> None:
        """Go on."""


class Builder:
    """Builds one graph. `reads` collects which facts of the inputs the code depended on: 'shape', 'dtype',
    'context'; a graph that read nothing serves every signature."""

    def __init__(
        self,
        recording: bool,
        training: bool,
        call_block: Callable[[Any, Sequence[Any]], Any],
        enter_function: Callable[[Any], None],
        control: Any = None,
        run_hybrid_forward: Callable[[Any, Sequence[Any]], Any] | None = None,
    ) -> None:
        #: How a block that the code calls is put into the graph; blocks are of a higher layer, so it is passed in.
        self.call_block = call_block
        #: How `contrib.cond` and `contrib.while_loop` become nodes.
        self.control = control
        #: How the `hybrid_forward` of a block runs that calls it from a `forward` of its own.
        self.run_hybrid_forward = run_hybrid_forward
        #: Observes the user's code, not what staging it takes.
        self.watch: Watch | None = None
        #: Tells the user's expression that a call belongs to.
        self.find_span: Callable[[], Span | None] = user_span
        #: Told of every function of the user's that is about to run.
        self.enter_function = enter_function
        self.recording = recording
        self.training = training
        self.facts: dict[Head, Fact] = {}
        self.reads: set[str] = set()
        #: What the code read of its inputs at all, and where it did first.
        self.read_places: dict[str, Span | None] = {}
        self.captured: dict[str, Callable[[], NDArray]] = {}
        self.written: dict[int, Storage] = {}
        #: Refusals that were raised; the user's own `except` must not hide one.
        self.refused: list[HybridizeError] = []
        #: Why the block cannot be kept as a graph, though it could be built.
        self.left: str | None = None
        #: Memory written since this was last emptied, with what it held before; branches undo their writes by it.
        self.write_log: dict[int, tuple[Storage, Head]] = {}
        #: Attributes of blocks set since this was last emptied, with what they were before.
        self.attribute_log: dict[tuple[int, str], tuple[Any, str, Any]] = {}
        #: Outputs that stand for a local variable which only some ways assign: the output that says whether (1 or 0),
        #: and its name.
        self.maybe_undefined: dict[Head, tuple[Head, str]] = {}
        #: Outputs of nodes that exist for what they raise (`assert`).
        self.effects: list[Head] = []
        #: Outputs that stand for Python numbers which a loop on tensors changes.
        self.numbers: set[Head] = set()
        #: Those of them that stand for a number on one side of a branch and for an array on the other.
        self.mixed: set[Head] = set()
        #: Blocks (by identity) that the code told to begin a sequence anew.
        self.restarted: set[int] = set()
        self._lifted: dict[int, tuple[NDArray, GraphTensor]] = {}
        self._variables: dict[str, GraphTensor] = {}
        self._names: dict[str, int] = {}
        self._previous: list[tuple[Any, bool, bool]] = []

    # -- activation ----------------------------------------------------------------------------------------------------
    def __enter__(self) -> Builder:
        self._previous.append((state.builder, state.recording, state.training))
        state.builder = self
        return self

    def __exit__(self, *exc: Any) -> None:
        state.builder, state.recording, state.training = self._previous.pop()

    # -- inputs --------------------------------------------------------------------------------------------------------
    def input(self, name: str, array: NDArray) -> GraphTensor:
        """A graph input that stands for `array`, an argument of the call."""
        tensor = self._variable(name, array)
        self._lifted[id(array)] = (array, tensor)
        return tensor

    def lift(
        self, array: NDArray, name: str | None = None, provider: Callable[[], NDArray] | None = None
    ) -> GraphTensor:
        """The tensor for an NDArray that the code captured (a parameter's data, an attribute): fed at every call.

        `provider` gives the array anew at each call, where the array itself may be replaced (a parameter that is cast).
        """
        if isinstance(array, GraphTensor):
            return array
        known = self._lifted.get(id(array))
        if known is not None:
            return known[1]
        label = self.fresh_name(name or "captured", name is not None)
        tensor = self._variable(label, array)
        self.captured[label] = provider or (lambda: array)
        self._lifted[id(array)] = (array, tensor)
        return tensor

    def constant(self, array: NDArray) -> GraphTensor:
        """A fresh tensor with the values of `array`, which the code made while the graph was built."""
        return self.apply("_copy", self.lift(array))

    def _variable(self, name: str, array: NDArray) -> GraphTensor:
        node = Node(None, None, (), name)
        self.facts[node, 0] = Fact(tuple(array._data.shape), array._data.dtype.name, array._entry is not None)
        tensor = self._variables[name] = self.tensor((node, 0), array._ctx)
        return tensor.as_class(numpy=isinstance(array, ndarray))

    def fresh_name(self, hint: str, exact: bool = False) -> str:
        """A name no other node of this graph has: `hint` + counter, or `hint` itself the first time if `exact`."""
        count = self._names.get(hint, 0)
        self._names[hint] = count + 1
        return hint if exact and count == 0 else f"{hint}{count}"

    # -- calls ---------------------------------------------------------------------------------------------------------
    def apply(self, name: str, *inputs: Any, **attrs: Any) -> GraphTensor:
        """Stage a call by operator name; the first output."""
        op = get_operator(name)
        result = self.stage(op, op.parse(attrs), inputs)
        return result if isinstance(result, GraphTensor) else result[0]

    def stage(self, op: OpDef, attrs: Attrs, inputs: Sequence[Any], out: Any = None) -> Any:
        """Add an operator call to the graph; what `invoke` does while a builder is active.

        Raises MXNetError where the operator refuses the shapes or dtypes, as the imperative call would.
        """
        with self.unwatched():
            return self._stage(op, attrs, inputs, out)

    @contextmanager
    def unwatched(self) -> Iterator[None]:
        """Do autohybrid's own work inside, which `watch` need not see: each call in it would cost several."""
        paused = self.watch is not None and self.watch.pause()
        try:
            yield
        finally:
            if paused and self.watch is not None:
                self.watch.resume()

    def _stage(self, op: OpDef, attrs: Attrs, inputs: Sequence[Any], out: Any) -> Any:
        tensors = [self._as_tensor(op, x) for x in inputs]
        numbers = [t.head in self.numbers for t in tensors]
        if any(numbers) and not all(numbers):
            tensors = self._numbers_cast(tensors, numbers)
        node = Node(
            op,
            attrs,
            [t.head for t in tensors],
            self.fresh_name(op.name.lower().lstrip("_")),
            span=self.find_span(),
            extra=self._modes(op),
        )
        self._infer(node)
        ctx = tensors[0]._ctx if tensors else current_context()
        self._stage_mutations(node, tensors)
        outputs = [self.tensor((node, i), ctx) for i in range(node.visible_count)]
        if gives_numpy(op, inputs):
            for output in outputs:
                output.as_class(numpy=True)
        if numbers and all(numbers):
            self.numbers.update([o.head for o in outputs])
            if self.mixed and any([t.head in self.mixed for t in tensors]):
                self.mixed.update([o.head for o in outputs])
        if out is not None:
            return self._write_out(op, outputs, out)
        return outputs[0] if len(outputs) == 1 else outputs

    def _numbers_cast(self, tensors: list[GraphTensor], numbers: list[bool]) -> list[GraphTensor]:
        """The inputs of a call, with those that stand for Python numbers in the dtype of the others, as numbers are."""
        dtypes = {self.facts[t.head].dtype for t, number in zip(tensors, numbers) if not number}
        dtype = dtypes.pop()
        if dtypes or dtype not in ("float16", "float64"):
            return tensors
        return [self.apply("Cast", t, dtype=dtype) if number else t for t, number in zip(tensors, numbers)]

    def _modes(self, op: OpDef) -> ScopedModes | None:
        """Remember recording and train mode of the scopes around the call, where they differ from the caller's."""
        if state.recording == self.recording and state.training == self.training:
            return None
        return ScopedModes(
            None if state.recording == self.recording else state.recording,
            None if state.training == self.training else state.training,
        )

    def _as_tensor(self, op: OpDef, value: Any) -> GraphTensor:
        if isinstance(value, GraphTensor):
            if value._builder is not self:
                raise self.refusal("a tensor of another graph was used; it must not outlive the call that made it")
            self.use(value)
            return value
        if isinstance(value, NDArray):
            return self.lift(value)
        if value is None:
            raise MXNetError(f"operator {op.name}: an input was not given")
        raise AssertionError(f"operator {op.name}: inputs must be NDArrays, got {type(value).__name__}")

    def _infer(self, node: Node) -> None:
        op, attrs = node.op, node.attrs
        assert op is not None and attrs is not None
        known = [self.facts[h] for h in node.inputs]
        count = node.output_count
        shapes, dtypes = [f.shape for f in known], [f.dtype for f in known]
        try:
            _, out_shapes = (op.infer_shape or same_shape)(attrs, shapes, [None] * count)
            _, out_dtypes = (op.infer_dtype or same_dtype)(attrs, dtypes, [None] * count)
        except MXNetError as error:
            listed = ", ".join(f"{n}: {f.shape} {f.dtype}" for n, f in zip(node.input_names(), known))
            place = f"{node.span}: " if node.span else ""
            raise MXNetError(f"{place}operator {op.name}({listed}): {error}") from error
        flows = op.differentiable != "zero" and state.recording and any(f.differentiable for f in known)
        for index, (shape, dtype) in enumerate(zip(out_shapes, out_dtypes)):
            self.facts[node, index] = Fact(shape, dtype, flows)

    def _stage_mutations(self, node: Node, tensors: Sequence[GraphTensor]) -> None:
        assert node.op is not None
        if node.op.mutates or node.op.backward_state is not None:
            # The interpreter and the executor write into the fed arrays themselves, as the imperative call does.
            for tensor, name in zip(tensors, node.input_names()):
                if name in node.op.mutates and tensor.head[0].op is not None:
                    raise self.refusal(
                        f"operator {node.op.name} writes into `{name}`, which must be a parameter or an input"
                    )

    def _write_out(self, op: OpDef, outputs: list[GraphTensor], out: Any) -> Any:
        targets = list(out) if isinstance(out, (list, tuple)) else [out]
        for target, value in zip(targets, outputs):
            lifted = self.lift(target)
            have, want = self.facts[lifted.head], self.facts[value.head]
            if have.shape != want.shape:
                raise MXNetError(f"operator {op.name}: `out` has shape {have.shape}, the result has shape {want.shape}")
            if have.dtype != want.dtype:
                value = self.apply("Cast", value, dtype=have.dtype)
            lifted.assign(value.head)
        return out

    def known_fact(self, head: Head) -> tuple[tuple[int, ...], str]:
        """Shape and dtype of an output of which both are known."""
        fact = self.facts[head]
        assert fact.shape is not None and fact.dtype is not None
        return fact.shape, fact.dtype

    def use(self, tensor: GraphTensor) -> None:
        """The value of `tensor` counts: one for a variable that may be unassigned is checked when it runs."""
        found = self.maybe_undefined.get(tensor.head)
        if found is not None:
            fact = [((1,), "float32")]
            node = make_effect([found[0]], Defined(found[1]), fact, self.fresh_name("defined"), self.find_span())
            self.register(node, fact, False)
            self.effects.append((node, 0))

    def note_attribute(self, block: Any, name: str) -> None:
        """Called before an attribute of a block is set. What the library's own code keeps there (the counter that a
        recurrent cell numbers its steps with) is no state of the model."""
        frame = sys._getframe(1)
        while frame.f_code.co_name == "__setattr__" and frame.f_back is not None:
            frame = frame.f_back
        if not frame.f_code.co_filename.startswith(_PACKAGE):
            self.log_attribute(block, name)

    def log_attribute(self, block: Any, name: str) -> None:
        """Remember what an attribute is now, before it is set."""
        self.attribute_log.setdefault((id(block), name), (block, name, block.__dict__.get(name, ABSENT)))

    # -- memory --------------------------------------------------------------------------------------------------------
    def tensor(self, head: Head, ctx: Context) -> GraphTensor:
        """A tensor with memory of its own that holds `head`."""
        return GraphTensor(self, Storage(head), ctx)

    def view(self, base: GraphTensor, read: Callable[[Any], Any], write: Callable[[Any, Any], Any]) -> GraphTensor:
        """A tensor that shares the memory of `base`; see View."""
        tensor = GraphTensor(self, View(base, read, write, read(base).head), base._ctx)
        return tensor.as_class(numpy=isinstance(base, ndarray))

    def note_write(self, storage: Storage) -> None:
        """Called before memory is written. Raises MXNetError where the imperative write would, under recording."""
        if state.recording and self.facts[storage.head].differentiable:
            raise MXNetError(INPLACE_REFUSED)
        if any([partner.handles > 0 for partner in storage.partners]):
            raise self.refusal(
                "this writes into an array that a branch on a tensor chose, or chose from: which arrays it changes is "
                "known only when the graph runs; make a copy (`x = x + 0`) in the branch"
            )
        self.written[id(storage)] = storage
        self.write_log.setdefault(id(storage), (storage, storage.head))

    def register(self, node: Node, facts: Sequence[tuple[tuple[int, ...], str]], differentiable: bool) -> None:
        """Make the outputs of a node known that was made elsewhere (branches and loops).

        Such a node holds the shapes of its outputs, so the graph serves no other shapes.
        """
        self.reads.add("shape")
        for index, (shape, dtype) in enumerate(facts):
            self.facts[node, index] = Fact(shape, dtype, differentiable)

    def written_inputs(self) -> list[tuple[str, Head]]:
        """The inputs and captured arrays (by variable name) that the code wrote into, and what they must hold."""
        return [
            (name, tensor.head)
            for name, tensor in self._variables.items()
            if isinstance(tensor._place, Storage) and id(tensor._place) in self.written
        ]

    # -- reads ---------------------------------------------------------------------------------------------------------
    def note_read(self, fact: str) -> None:
        """The code read a fact of a tensor: 'shape', 'dtype' or 'context'."""
        self.reads.add(fact)
        if fact not in self.read_places:
            self.read_places[fact] = self.find_span()

    def read_shape(self, tensor: GraphTensor) -> tuple[int, ...]:
        """The shape, noting that the graph now depends on it. Raises HostValueNeeded when it depends on values."""
        self.note_read("shape")
        shape = self.facts[tensor.head].shape
        if shape is None or not is_known(shape):
            raise self.host_value("the shape of a tensor whose shape depends on values")
        return shape

    def read_dtype(self, tensor: GraphTensor) -> str:
        """The dtype, noting that the graph now depends on it."""
        self.note_read("dtype")
        dtype = self.facts[tensor.head].dtype
        return dtype or "float32"

    # -- refusals ------------------------------------------------------------------------------------------------------
    def host_value(self, what: str) -> HostValueNeeded:
        """The error for code that needs a value which does not exist while the graph is built."""
        error = HostValueNeeded(
            f"{_place()}{what} is needed while the graph is built, but it exists only when the graph runs; keep the "
            "computation in tensors (`F.where`, `F.contrib.cond`...), or compute it outside the block"
        )
        self.refused.append(error)
        return error

    def leave_graph(self, why: str) -> None:
        """The block has to run imperatively, in every mode: `why` says what no graph can hold, after the place."""
        if self.left is None:
            self.left = f"{_place()}{why}"

    def refusal(self, message: str) -> HybridizeError:
        """The error for something a graph cannot hold, with the user's place."""
        error = HybridizeError(f"{_place()}{message}")
        self.refused.append(error)
        return error


def user_span() -> Span | None:
    """The range of the user's expression that is being evaluated: the innermost frame outside this package."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back  # type: ignore[assignment]
    if frame is None:
        return None
    code = frame.f_code
    return _span(code.co_filename, code, frame.f_lasti, frame.f_lineno)


@lru_cache(maxsize=4096)
def _span(path: str, code: CodeType, instruction: int, line_number: int) -> Span:
    """The range of the expression that an instruction belongs to. Equal code objects may be of several files."""
    positions = next(islice(code.co_positions(), instruction // 2, None))
    line, end_line, start, end = (p or 0 for p in positions)
    return Span(path, line or line_number, *_columns(path, line, start, end_line, end))


def _columns(path: str, line: int, start: int, end_line: int, end: int) -> tuple[int, int, int]:
    first = column_from_bytes(linecache.getline(path, line), start)
    last = column_from_bytes(linecache.getline(path, end_line), end)
    return first, end_line, last


def _place() -> str:
    span = user_span()
    return "" if span is None else f"{span}: "
