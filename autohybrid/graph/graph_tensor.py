"""GraphTensor: the array that stands for a value of a graph while the graph is being built.

It is an NDArray for the user's code (`isinstance`, methods, operators, subscripts, in-place writes all behave as on an
NDArray), but every operation adds a node to the builder's graph. Its shape, dtype and device are known; its values
are not, and asking for them raises `HostValueNeeded`.

Memory is modelled, so that writes reach every alias: a tensor is a handle on a Storage, directly or through a View.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from autohybrid.context import Context
from autohybrid.errors import HybridizeError
from autohybrid.graph.node import Head
from autohybrid.tensor.array import NDArray
from autohybrid.tensor.frontend import BoundCall
from autohybrid.tensor.numpy_array import ndarray
from autohybrid.tensor.opdef import Shape

if TYPE_CHECKING:
    from autohybrid.graph.builder import Builder


class HostValueNeeded(HybridizeError):
    """The code asked for the value of a tensor while the graph was being built."""


class Storage:
    """A block of memory: the output that it holds at this point of the program, and how often it was written.

    `handles` counts the tensors on it. After a branch on a tensor that chose between two pieces of memory, the result
    has memory of its own here, and is one of the two in Python: each is among the others' `partners`, and writing into
    one while another can still be read is refused.
    """

    __slots__ = ("born", "handles", "head", "partners", "version")

    def __init__(self, head: Head) -> None:
        self.head = head
        self.version = 0
        self.born = head[0].order
        self.handles = 0
        self.partners: list[Storage] = []

    def write(self, head: Head) -> None:
        self.head = head
        self.version += 1


class View:
    """A part of another tensor's memory. `read(base)` gives the part, `write(base, part)` the base with it replaced."""

    __slots__ = ("base", "cached", "cached_version", "read", "write")

    def __init__(
        self, base: GraphTensor, read: Callable[[Any], Any], write: Callable[[Any, Any], Any], head: Head
    ) -> None:
        self.base = base
        self.read = read
        self.write = write
        self.cached = head
        self.cached_version = base.version


class GraphTensor(NDArray):
    """See the module. Made by the builder only."""

    __slots__ = ("_builder", "_place")

    def __init__(self, builder: Builder, place: Storage | View, ctx: Context) -> None:
        self._builder = builder
        self._place = place
        self._ctx = ctx
        self._entry = None
        self._grad = None
        if type(place) is Storage:
            place.handles += 1

    def __del__(self) -> None:
        if type(self._place) is Storage:
            self._place.handles -= 1

    # -- memory --------------------------------------------------------------------------------------------------------
    @property
    def version(self) -> int:
        place = self._place
        return place.version if isinstance(place, Storage) else place.base.version

    @property
    def memory(self) -> Storage:
        """The memory that this tensor is on, directly or through views."""
        place = self._place
        return place if isinstance(place, Storage) else place.base.memory

    @property
    def head(self) -> Head:
        """The graph output that this tensor's memory holds now."""
        place = self._place
        if isinstance(place, Storage):
            return place.head
        if place.cached_version != place.base.version:
            place.cached = place.read(place.base).head
            place.cached_version = place.base.version
        return place.cached

    def assign(self, head: Head) -> None:
        """Write `head` into this tensor's memory; aliases see it."""
        place = self._place
        if isinstance(place, Storage):
            self._builder.note_write(place)
            place.write(head)
            return
        whole = place.write(place.base, self._builder.tensor(head, self._ctx))
        place.base.assign(whole.head)
        place.cached, place.cached_version = head, place.base.version

    # -- what the builder knows ----------------------------------------------------------------------------------------
    @property
    def shape(self) -> tuple[int, ...]:
        return self._builder.read_shape(self)

    def known_shape(self) -> Shape:
        return self._builder.facts[self.head].shape

    @property
    def ndim(self) -> int:
        return len(self._builder.read_shape(self))

    @property
    def size(self) -> int:
        return int(np.prod(self._builder.read_shape(self), dtype=np.int64))

    @property
    def dtype(self) -> type[np.generic]:
        return np.dtype(self._builder.read_dtype(self)).type

    @property
    def context(self) -> Context:
        if not str(sys._getframe(1).f_globals.get("__name__")).startswith("autohybrid."):
            # Graphs are found by the devices of the arguments anyway, so this makes none of its own; a file is another.
            self._builder.read_places.setdefault("context", self._builder.find_span())
        return self._ctx

    ctx = context

    def __len__(self) -> int:
        return self.shape[0]

    def __bool__(self) -> bool:
        if self.size == 0:
            return False
        if self.size > 1:
            raise ValueError("The truth value of an NDArray with multiple elements is ambiguous.")
        raise self._builder.host_value("the truth value of a tensor")

    # -- values, which do not exist yet --------------------------------------------------------------------------------
    @property
    def _data(self) -> Any:
        raise self._builder.host_value("the values of a tensor")

    def asnumpy(self) -> Any:
        raise self._builder.host_value("`asnumpy()`")

    def asscalar(self) -> Any:
        """The one element as a tensor that stands for a number: arithmetic and conditions on it stay in the graph.

        No gradient flows through it, as none does through the number. Raises ValueError when there are several.
        """
        if self.size != 1:
            raise ValueError("The current array is not a scalar")
        builder = self._builder
        number = builder.apply("BlockGrad", builder.apply("Reshape", self, shape=(1,)))
        builder.numbers.add(number.head)
        return number

    def __float__(self) -> float:
        raise self._builder.host_value("`float()` of a tensor")

    def __int__(self) -> int:
        raise self._builder.host_value("`int()` of a tensor")

    def __index__(self) -> int:
        raise self._builder.host_value("a tensor used as an index")

    def wait_to_read(self) -> None:
        """Nothing is computed while a graph is built."""

    wait_to_write = wait_to_read

    # -- moving, copying, autograd -------------------------------------------------------------------------------------
    def copyto(self, other: Any) -> Any:
        if isinstance(other, Context):
            return self._builder.apply("_copy", self)
        if other is self:
            raise RuntimeError("cannot copy an array onto itself")
        target = self._builder.lift(other)
        target.assign(self._builder.apply("_copy", self).head)
        return other

    def as_in_context(self, context: Context) -> NDArray:
        self._builder.note_read("context")
        return self if context == self._ctx else self._builder.apply("_copy", self)

    as_in_ctx = as_in_context

    def detach(self) -> NDArray:
        builder = self._builder
        return builder.view(self, lambda whole: builder.apply("BlockGrad", whole), lambda whole, part: part)

    def attach_grad(self, grad_req: str = "write", stype: str | None = None) -> None:
        raise self._builder.refusal("`attach_grad()` inside a hybridized block: the tensor lives only in the graph")

    def backward(self, out_grad: Any = None, retain_graph: bool = False, train_mode: bool = True) -> None:
        raise self._builder.refusal("`backward()` inside a hybridized block: gradients are taken outside it")

    def _alias(self, entry: Any) -> NDArray:
        return self

    def as_class(self, numpy: bool) -> GraphTensor:
        self.__class__ = NumpyGraphTensor if numpy else GraphTensor
        return self

    def as_np_ndarray(self) -> Any:
        return self._same_memory().as_class(numpy=True)

    def as_nd_ndarray(self) -> GraphTensor:
        return self._same_memory().as_class(numpy=False)

    def _same_memory(self) -> GraphTensor:
        return self._builder.view(self, lambda whole: whole, lambda whole, part: part)

    def __tensor_call__(self, call: BoundCall) -> Any:
        return self._builder.stage(call.op, call.attrs, call.inputs, call.out)

    def __repr__(self) -> str:
        fact = self._builder.facts[self.head]
        return f"\n<GraphTensor {self.head[0].name} {fact.shape} {fact.dtype} @{self._ctx}>"

    __hash__ = NDArray.__hash__


class NumpyGraphTensor(GraphTensor, ndarray):
    """The stand-in for an `mx.np` array."""

    __slots__ = ()

    def as_np_ndarray(self) -> Any:
        return self

    def item(self, *place: int) -> Any:
        raise self._builder.host_value("`item()`")

    def tolist(self) -> Any:
        raise self._builder.host_value("`tolist()`")

    __hash__ = NDArray.__hash__


def _rebinding(operator: str) -> Callable[[GraphTensor, Any], Any]:
    """`+=` and its like: a tensor that stands for a Python number is not changed, the name gets another number."""

    def method(self: GraphTensor, other: Any) -> Any:
        is_number = self.head in self._builder.numbers
        if self.head in self._builder.mixed:
            raise self._builder.refusal(
                "an operator such as `+=` would change an array that is a Python number on the other side of a branch "
                "on a tensor; write `x = x + y`"
            )
        kind = ndarray if isinstance(self, ndarray) else NDArray
        return getattr(kind, f"__{operator}__" if is_number else f"__i{operator}__")(self, other)

    return method


for _operator in ("add", "sub", "mul", "truediv", "floordiv", "mod"):
    setattr(GraphTensor, f"__i{_operator}__", _rebinding(_operator))
