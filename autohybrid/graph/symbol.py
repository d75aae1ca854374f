"""Symbol: a handle on outputs of a graph, with MXNet 1.9.1's methods. Composition is in `graph/compose.py`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from autohybrid.errors import MXNetError, NotImplementedForSymbol
from autohybrid.graph.inference import infer_dtypes, infer_shapes, infer_shapes_partially, shape_of_extents
from autohybrid.graph.node import Head, Node, auxiliary_variables, depth_first
from autohybrid.graph.notes import shown_notes, stored_notes
from autohybrid.numpy_semantics import is_np_shape
from autohybrid.tensor.attrs import dtype_name
from autohybrid.tensor.shapes import is_known

ShapeLists = tuple[list[tuple[int, ...]] | None, list[tuple[int, ...]] | None, list[tuple[int, ...]] | None]


class Symbol:
    """One or several outputs of a graph. It has no values: bind it, or evaluate it, to get some.

    >>> import autohybrid as mx
    >>> (mx.sym.var('a') + 1).list_arguments()
    ['a']
    """

    __slots__ = ("_heads",)
    __array_priority__ = 1000.0

    def __init__(self, heads: Sequence[Head]) -> None:
        self._heads: tuple[Head, ...] = tuple(heads)

    # -- numpy mode ---------------------------------------------------------------------------------------------------
    def as_np_ndarray(self) -> Symbol:
        """The same outputs with numpy's operators and methods."""
        from autohybrid.graph.numpy_symbol import NumpySymbol

        return NumpySymbol(self._heads)

    def as_nd_ndarray(self) -> Symbol:
        """Itself: a classic symbol."""
        return self

    # -- structure ---------------------------------------------------------------------------------------------------
    @property
    def name(self) -> str | None:
        """The name of the node; None for a group."""
        return self._heads[0][0].name if len({n for n, _ in self._heads}) == 1 else None

    def list_arguments(self) -> list[str]:
        """Names of the variables that are not auxiliary states, in the order of use."""
        return [n.name for n in self._variables(False)]

    def list_auxiliary_states(self) -> list[str]:
        """Names of the auxiliary states (running means and variances)."""
        return [n.name for n in self._variables(True)]

    def list_inputs(self) -> list[str]:
        """Names of all variables, auxiliary states included."""
        return [n.name for n in depth_first(self._heads) if n.op is None]

    def list_outputs(self) -> list[str]:
        """Names of the outputs."""
        return [node.output_label(index) for node, index in self._heads]

    @property
    def num_outputs(self) -> int:
        """Number of outputs."""
        return len(self._heads)

    def _variables(self, auxiliary: bool) -> list[Node]:
        nodes = depth_first(self._heads)
        states = auxiliary_variables(nodes)
        return [n for n in nodes if n.op is None and (n in states) == auxiliary]

    def get_internals(self) -> Symbol:
        """A group of every output of every node."""
        return Symbol([(n, i) for n in depth_first(self._heads) for i in range(n.visible_count)])

    def get_children(self) -> Symbol | None:
        """A group of the inputs of the outputs' nodes; None for a variable."""
        heads = [head for node in dict.fromkeys(n for n, _ in self._heads) for head in node.inputs]
        return Symbol(heads) if heads else None

    def __len__(self) -> int:
        return len(self._heads)

    def __iter__(self) -> Iterator[Symbol]:
        return (Symbol([head]) for head in self._heads)

    def __getitem__(self, index: Any) -> Symbol:
        if isinstance(index, str):
            return self._output_named(index)
        if isinstance(index, slice):
            picked = self._heads[index]
            if not picked:
                raise TypeError("Expected a list of symbols as input")
            return Symbol(picked)
        if not isinstance(index, int):
            raise TypeError("Symbol only support integer index to fetch i-th output")
        if index >= len(self._heads):
            raise IndexError(
                f"output {index} of a symbol with {len(self._heads)}; a subscript of a Symbol picks an output, not a "
                "row: use `slice_axis` for rows"
            )
        if index < 0:
            raise MXNetError(f"output {index}: a subscript of a Symbol picks an output; use `slice_axis` for rows")
        return Symbol([self._heads[index]])

    def _output_named(self, name: str) -> Symbol:
        for head, label in zip(self._heads, self.list_outputs()):
            if label == name or head[0].name == name:
                return Symbol([head])
        raise ValueError(f"There is no output named '{name}'; there are {', '.join(self.list_outputs()[:20])}")

    def __bool__(self) -> bool:
        raise NotImplementedForSymbol("__bool__", "bool")

    __hash__ = None  # type: ignore[assignment]  # as in MXNet: `==` builds a graph, so a Symbol is no key

    def __copy__(self) -> Symbol:
        return Symbol(self._heads)

    def __reduce__(self) -> tuple[Any, ...]:
        from autohybrid.graph.compose import load_json

        return load_json, (self.tojson(),)

    def __deepcopy__(self, memo: dict[int, Any]) -> Symbol:
        return Symbol(self._heads)

    def __repr__(self) -> str:
        name = self.name
        return f"<Symbol {name if name is not None else 'group [' + ', '.join(n.name for n, _ in self._heads) + ']'}>"

    def __call__(self, *args: Symbol, name: str | None = None, **kwargs: Symbol) -> Symbol:
        """Composition: this graph with variables replaced, by position or by name."""
        from autohybrid.graph.substitute import compose

        return Symbol(compose(self._heads, self.list_arguments(), args, kwargs, name))

    # -- attributes --------------------------------------------------------------------------------------------------
    def attr(self, key: str) -> str | None:
        """One attribute of the node, as text."""
        return _all_attrs(self._heads[0][0]).get(key)

    def list_attr(self, recursive: bool = False) -> dict[str, str]:
        """The attributes of the node, as text."""
        if recursive:
            raise DeprecationWarning("Symbol.list_attr with recursive=True has been deprecated; use attr_dict instead.")
        return _all_attrs(self._heads[0][0])

    def attr_dict(self) -> dict[str, dict[str, str]]:
        """The attributes of every node that has some, by node name; those of nodes of one name together."""
        found: dict[str, dict[str, str]] = {}
        for node in depth_first(self._heads):
            found.setdefault(node.name, {}).update(_all_attrs(node))
        return {name: attrs for name, attrs in found.items() if attrs}

    def _set_attr(self, **attrs: str) -> None:
        for key, value in attrs.items():
            if not isinstance(value, str):
                raise ValueError("Set Attr only accepts string values")
            self._heads[0][0].notes.update(stored_notes({key: value}))

    # -- inference ---------------------------------------------------------------------------------------------------
    def infer_shape(self, *args: Any, **kwargs: Any) -> ShapeLists:
        """Shapes of arguments, outputs and auxiliary states from some arguments' shapes; all None if not all follow.

        Raises MXNetError where shapes contradict each other.
        """
        lists = self._shape_lists(args, kwargs)
        if not all(is_known(s) for shapes in lists for s in shapes):
            self._warn_undecided("shape", [not is_known(s) for s in lists[0]])
            return None, None, None
        return lists

    def _warn_undecided(self, what: str, undecided: Sequence[bool]) -> None:
        names = [n for n, open_ in zip(self.list_arguments(), undecided) if open_]
        if names:
            warnings.warn(
                f"cannot decide the {what} of these arguments; consider giving them: {', '.join(names)}", stacklevel=3
            )

    def infer_shape_partial(self, *args: Any, **kwargs: Any) -> ShapeLists:
        """As `infer_shape`, with `()` for what does not follow and 0 for unknown extents.

        Where `np_shape` is on, these are shapes too, and None and -1 stand for what is unknown.
        """
        lists = self._shape_lists(args, kwargs, infer_shapes_partially)
        if is_np_shape():
            return lists
        shown = [[() if s is None else tuple(max(e, 0) for e in s) for s in shapes] for shapes in lists]
        return shown[0], shown[1], shown[2]

    def _shape_lists(
        self, args: Any, kwargs: Any, infer: Callable[..., dict[Head, Any]] = infer_shapes
    ) -> tuple[list[Any], list[Any], list[Any]]:
        given = self._by_name(args, kwargs, "shapes")
        known = {}
        for name, shape in given.items():
            if shape is None:
                continue
            if not isinstance(shape, (tuple, list)):
                raise TypeError(f"the shape of `{name}` must be a tuple, got {shape!r}")
            given_shape = shape_of_extents(shape)
            if given_shape is not None:
                known[name] = given_shape
        return self._lists(infer(self._heads, known))

    def infer_type(self, *args: Any, **kwargs: Any) -> tuple[Any, Any, Any]:
        """Dtypes of arguments, outputs and auxiliary states from some arguments' dtypes; all None if not all follow."""
        lists = self._type_lists(args, kwargs)
        if any(t is None for types in lists for t in types):
            self._warn_undecided("type", [t is None for t in lists[0]])
            return None, None, None
        return lists

    def infer_type_partial(self, *args: Any, **kwargs: Any) -> tuple[Any, Any, Any]:
        """As `infer_type`, with None for what does not follow."""
        return self._type_lists(args, kwargs)

    def _type_lists(self, args: Any, kwargs: Any) -> tuple[list[Any], list[Any], list[Any]]:
        given = self._by_name(args, kwargs, "types")
        known = {name: dtype_name(value) for name, value in given.items() if value is not None}
        lists = self._lists(infer_dtypes(self._heads, known))
        types = [[None if t is None else np.dtype(t).type for t in column] for column in lists]
        return types[0], types[1], types[2]

    def _by_name(self, args: tuple[Any, ...], kwargs: dict[str, Any], what: str) -> dict[str, Any]:
        if args and kwargs:
            raise ValueError(f"give {what} by position or by name, not both")
        if args:
            return dict(zip(self.list_arguments(), args))
        known = self.list_inputs()
        for name in kwargs:
            if name not in known:
                raise MXNetError(
                    f"{what} were given for `{name}`, which the symbol does not have; it has {', '.join(known)}"
                )
        return kwargs

    def _lists(self, facts: Mapping[Head, Any]) -> tuple[list[Any], list[Any], list[Any]]:
        arguments = [facts[n, 0] for n in self._variables(False)]
        states = [facts[n, 0] for n in self._variables(True)]
        return arguments, [facts[h] for h in self._heads], states

    # -- files -------------------------------------------------------------------------------------------------------
    def tojson(self, remove_amp_cast: bool = True) -> str:
        """The graph as MXNet's JSON text."""
        from autohybrid.graph.json_file import write_graph

        return write_graph(self._heads)

    def save(self, fname: str, remove_amp_cast: bool = True) -> None:
        """Write the JSON to a file, in one step. Raises MXNetError when it cannot be written."""
        from autohybrid.files import write_atomically

        text = self.tojson(remove_amp_cast)
        try:
            write_atomically(fname, text.encode())
        except OSError as error:
            raise MXNetError(f"cannot write {str(fname)!r}: {error.strerror or error}") from error

    def debug_str(self) -> str:
        """The graph as text: outputs, variables, and calls with their inputs and attributes."""
        from autohybrid.graph.debug_text import graph_text

        return graph_text(self._heads)

    def _gen_atomic_symbol(self) -> Symbol:
        """The operator of this symbol alone, without a name and inputs."""
        node = self._heads[0][0]
        if node.op is None:
            raise MXNetError(f"`{node.name}` is a variable, which has no operator")
        alone = Node(node.op, node.attrs, (), "")
        return Symbol([(alone, index) for index in range(alone.visible_count)])

    # -- running -----------------------------------------------------------------------------------------------------
    def bind(
        self, ctx: Any, args: Any, args_grad: Any = None, grad_req: Any = "write", aux_states: Any = None, **kwargs: Any
    ) -> Any:
        """An Executor over the given arrays."""
        from autohybrid.graph.executor_api import Executor

        return Executor(self, ctx, args, args_grad, grad_req, aux_states)

    def simple_bind(
        self,
        ctx: Any,
        grad_req: Any = "write",
        type_dict: Any = None,
        stype_dict: Any = None,
        group2ctx: Any = None,
        shared_arg_names: Any = None,
        shared_exec: Any = None,
        shared_buffer: Any = None,
        **kwargs: Any,
    ) -> Any:
        """An Executor over fresh arrays whose shapes follow from those given by name; other names are ignored.

        How memory is shared is the library's business: `group2ctx` and the `shared_*` arguments change no result.
        """
        from autohybrid.graph.executor_api import simple_bind

        return simple_bind(self, ctx, grad_req, type_dict, {k: v for k, v in kwargs.items() if k in self.list_inputs()})

    def eval(self, ctx: Any = None, **kwargs: Any) -> Any:
        """The outputs for the given arguments (NDArrays by name), as a list."""
        from autohybrid.context import current_context

        return self.bind(ctx or current_context(), kwargs).forward()


def _all_attrs(node: Node) -> dict[str, str]:
    return {**(node.attrs.given if node.attrs is not None else {}), **shown_notes(node.notes)}
