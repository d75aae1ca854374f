"""OpDef: everything about one operator in one record.

From the records come `nd.*`, `sym.*`, methods, the graph's inference and executors, the linter's table of names, the
documentation and the tests. A record imports no array library: kernels receive the namespace `xp` (numpy or cupy).

Conventions
- A shape is a tuple of ints, -1 standing for an unknown extent; None is a shape of unknown rank.
- A dtype is its name (`'float32'`); None is unknown.
- A kernel is `kernel(xp, attrs, *arrays)` over the active inputs and returns an array, or a tuple with one array for
  each output (hidden outputs included). It never writes into its inputs. Operators that draw random numbers get the
  keyword `rng` (a NumPy-like Generator of `xp`), those that depend on the train mode the keyword `train`.
- Kernels of operators listed in `mutates` return, behind their outputs, the new value of each mutated input.
- A gradient is `grad(F, node, heads)`, written with operators of `F` (nd or sym), so that it can be differentiated
  and compiled: `node.attrs`, `node.inputs`, `node.outputs`, `node.train`, `node.needs(k)`; `heads` holds one head
  gradient for each output. It returns one gradient for each input (None: no gradient), or a single one for a single
  input.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Protocol

from autohybrid.tensor.attrs import Attr, Attrs, parse_attrs

Shape = tuple[int, ...] | None
Shapes = list[Shape]
Dtypes = list[str | None]
InferShape = Callable[[Attrs, Shapes, Shapes], tuple[Sequence[Shape], Sequence[Shape]]]
InferDtype = Callable[[Attrs, Dtypes, Dtypes], tuple[Sequence[str | None], Sequence[str | None]]]
Gradient = Callable[[Any, "GradNode", Sequence[Any]], Any]
Flops = Callable[[Attrs, Shapes, tuple[int, ...]], int]


class GradNode(Protocol):
    """What a gradient sees of the call it differentiates."""

    attrs: Attrs
    inputs: Sequence[Any]
    outputs: Sequence[Any]
    train: bool

    def needs(self, index: int) -> bool:
        """Whether the gradient of this input goes anywhere; one that does not may be given as None."""
        ...


@dataclass(frozen=True, slots=True)
class Sample:
    """One example call, run by the tests on every array library, through nd and sym, with finite differences.

    Input k is drawn uniformly from `[low, high)` with shape `shapes[k]` and dtype `dtypes[k]` (float32 by default;
    integers are drawn from the same range), unless `values[k]` gives it. `nograd` lists inputs to leave out of the
    gradient check. `error` names the exception class that the call must raise.
    """

    shapes: tuple[tuple[int, ...], ...] = ()
    attrs: Mapping[str, Any] = field(default_factory=dict)
    low: float = -1.0
    high: float = 1.0
    dtypes: tuple[str, ...] | None = None
    values: Mapping[int, Any] = field(default_factory=dict)
    nograd: tuple[int, ...] = ()
    error: str | None = None


def zero_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> list[None]:
    """The gradient of operators that are constant almost everywhere (round, argmax, comparisons...): none flows."""
    return [None] * len(node.inputs)


@dataclass(frozen=True, eq=False)
class OpDef:
    """The record of one operator. `name` is MXNet's canonical name (`'Convolution'`, `'_plus_scalar'`).

    inputs         declared input names in order; `active_inputs(attrs)` limits them (no_bias, use_sequence_length...)
    variadic       name of the attribute that counts the inputs (`num_args`); inputs are then `arg0`, `arg1`... and the
                   caller need not give the count. With `active_inputs` too, the attribute counts groups of inputs
                   (`weight_0`, `grad_0`, `weight_1`...), is given by the caller, and `mutates` lists names of a group
    attrs          schema, in MXNet's positional order
    outputs        names of all outputs, or a function of the attributes (split); `visible(attrs)` counts those that
                   the caller sees (BatchNorm hides mean and var)
    aux            inputs that are auxiliary states in a graph (moving_mean); a subset of `inputs`
    variable_init  input name -> initializer (JSON) that a graph's variable gets when it is made for a missing input
    mutates        inputs whose buffers the kernel replaces
    aliases        further names that resolve to this record
    methods        names of NDArray/Symbol methods that call it with self as the first input
    grad           see the module; None means not differentiable (backward raises); `zero_gradient`: no gradient flows
    backward_state `(xp, attrs, inputs, outputs) -> {input name: new value}` applied to states during backward in
                   train mode (BatchNorm moves its running statistics there)
    random, train_dependent   the kernel takes `rng`, `train`
    view           the kernel may return a view of an input (the imperative front end copies it)
    validate       run shape and dtype inference before the kernel in imperative calls; switch off only where the
                   kernel itself refuses everything inference would refuse
    open_attrs     unknown keywords are kept (CustomOp)
    session        makes, from the attributes' text, the object that forward and backward of one call share; it is
                   `attrs.session`, and says through `active_inputs` what inputs there are, by position or by name
    out_join       names, for some attributes, the operator that joins the result with what `out=` holds; None: `out` is
                   overwritten
    stores_sparse  imperative calls may give a sparse array even of dense inputs; see tensor/sparse_calls
    is_identity    `(attrs, train)`: whether the first output is then the first input, unchanged
    fast           optional code template for the generated executor, see tensor/templates
    wants_border   for operators that passes make: how many zeros the executor should keep around the first input
    by_rows        `(attrs, input shapes)`: positions of the inputs of which row i (along the first axis) is all that
                   row i of every output needs, the other inputs being whole; with () or None there are none.
                   Element-wise and view templates need not say it
    flops          `(attrs, input shapes, shape of the first output)`: floating-point operations of a call, a
                   multiplication and its addition counting as two; None: one for each element of the output
    onnx           optional exporter, see interop/onnx
    stored_outputs how many outputs MXNet's `-symbol.json` counts for a node, where that is another number than ours
                   (it counts workspaces)
    stored_as      the name of the node in `-symbol.json`, where MXNet has one operator for what is two records here
    """

    name: str
    kernel: Callable[..., Any]
    inputs: tuple[str, ...] = ("data",)
    attrs: tuple[Attr, ...] = ()
    outputs: tuple[str, ...] | Callable[[Attrs], tuple[str, ...]] = ("output",)
    infer_shape: InferShape | None = None
    infer_dtype: InferDtype | None = None
    grad: Gradient | None = None
    active_inputs: Callable[[Attrs], tuple[str, ...]] | None = None
    variadic: str | None = None
    visible: Callable[[Attrs], int] | None = None
    aux: tuple[str, ...] | Callable[[Attrs], tuple[str, ...]] = ()
    variable_init: Mapping[str, str] = field(default_factory=dict)
    mutates: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    backward_state: Callable[..., Mapping[str, Any]] | None = None
    random: bool = False
    train_dependent: bool = False
    view: bool = False
    validate: bool = True
    open_attrs: bool = False
    session: Callable[[Mapping[str, str]], Any] | None = None
    out_join: Callable[[Attrs], str | None] | None = None
    stores_sparse: bool = False
    is_identity: Callable[[Attrs, bool], bool] | None = None
    fast: Callable[..., Any] | None = None
    wants_border: Callable[[Attrs], Any] | None = None
    by_rows: Callable[[Attrs, Shapes], Sequence[int]] | None = None
    flops: Flops | None = None
    onnx: Callable[..., Any] | None = None
    stored_outputs: Callable[[Attrs], int] | None = None
    stored_as: str | None = None
    doc: str = ""
    samples: tuple[Sample, ...] = ()

    @cached_property
    def schema(self) -> dict[str, Attr]:
        """Attributes by name, in order."""
        return {attr.name: attr for attr in self.attrs}

    @cached_property
    def is_plain(self) -> bool:
        """Whether a call is nothing but `kernel(xp, attrs, *arrays)` that gives one fresh array (the fast path)."""
        special = self.random or self.train_dependent or self.mutates or self.view or self.stores_sparse
        one = not callable(self.outputs) and len(self.outputs) == 1
        return one and not special and self.visible is None and self.backward_state is None and self.session is None

    @cached_property
    def is_numpy(self) -> bool:
        """Whether the operator is one of numpy mode, whose results are `mx.np` arrays whatever it gets."""
        return self.name.startswith("_np")

    @cached_property
    def default_attrs(self) -> Attrs | None:
        """The attributes of a call without keywords; None where a required one is missing."""
        if any(attr.required for attr in self.attrs):
            return None
        return self.parse({})

    @cached_property
    def _parsed(self) -> dict[Any, Attrs]:
        return {}

    def parse(self, given: Mapping[str, Any], session: Any = None) -> Attrs:
        """Keyword arguments (Python values or text) as Attrs; memoised, unless each call has a session of its own (or
        the one given). Raises MXNetError, see `parse_attrs`."""
        if self.session is not None:
            attrs = parse_attrs(self.name, self.schema, given, not self.open_attrs)
            attrs.session = self.session(attrs.given) if session is None else session
            return attrs
        try:
            # 0.0 equals -0.0, but is another attribute.
            key = tuple([(name, value or repr(value), type(value)) for name, value in given.items()])
            cached = self._parsed.get(key)
        except (TypeError, ValueError):  # a list, an array or another unhashable value: parse afresh
            return parse_attrs(self.name, self.schema, given, not self.open_attrs)
        if cached is None:
            cached = parse_attrs(self.name, self.schema, given, not self.open_attrs)
            if len(self._parsed) > 4096:
                self._parsed.clear()
            self._parsed[key] = cached
        return cached

    def input_names(self, attrs: Attrs) -> tuple[str, ...]:
        """The names of the inputs that a call with these attributes has."""
        if self.active_inputs is not None:
            return self.active_inputs(attrs)
        if self.variadic is not None:
            return tuple(f"arg{i}" for i in range(getattr(attrs, self.variadic)))
        return self.inputs

    def aux_names(self, attrs: Attrs) -> tuple[str, ...]:
        """The inputs that are auxiliary states in a graph."""
        return self.aux(attrs) if callable(self.aux) else self.aux

    def mutated_names(self, attrs: Attrs) -> tuple[str, ...]:
        """The inputs whose buffers the kernel replaces, in the order in which it returns them."""
        names = self.input_names(attrs)
        if self.variadic is not None:
            return tuple(n for n in names if n.rpartition("_")[0] in self.mutates)
        return tuple(n for n in self.mutates if n in names)

    def output_names(self, attrs: Attrs) -> tuple[str, ...]:
        """The names of all outputs, hidden ones included."""
        return self.outputs(attrs) if callable(self.outputs) else self.outputs

    def visible_outputs(self, attrs: Attrs) -> int:
        """How many outputs the caller sees."""
        return self.visible(attrs) if self.visible is not None else len(self.output_names(attrs))

    @property
    def differentiable(self) -> Literal["yes", "zero", "no"]:
        """Whether a gradient flows, is zero everywhere, or is not defined."""
        return "no" if self.grad is None else "zero" if self.grad is zero_gradient else "yes"

    def __repr__(self) -> str:
        return f"OpDef({self.name!r})"
