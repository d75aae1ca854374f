"""Make symbols: variables, groups, and operator calls with MXNet's names for nodes and missing inputs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.graph.node import Node
from autohybrid.graph.notes import stored_notes
from autohybrid.graph.symbol import Symbol
from autohybrid.naming import AttrScope, NameManager
from autohybrid.tensor.attrs import DTYPE_FLAGS, dtype_name
from autohybrid.tensor.frontend import BoundCall
from autohybrid.tensor.namespaces import name_hint

__all__ = ["Group", "Variable", "call_operator", "var"]


def var(
    name: str,
    attr: Mapping[str, str] | None = None,
    shape: tuple[int, ...] | None = None,
    lr_mult: float | None = None,
    wd_mult: float | None = None,
    dtype: Any = None,
    init: Any = None,
    stype: str | None = None,
    profiler_scope: str | None = None,
    **kwargs: str,
) -> Symbol:
    """A variable: an input of the graph to be. Keywords of the form `__key__` are kept as attributes.

    Raises TypeError when `name` is not text, ValueError for other keywords.
    """
    if not isinstance(name, str):
        raise TypeError(f"the name of a variable is text, not {type(name).__name__}")
    notes = stored_notes(AttrScope.current.get(dict(attr) if attr else None))
    if shape is not None:
        notes["__shape__"] = str(tuple(shape) if isinstance(shape, (tuple, list)) else shape)
    if lr_mult is not None:
        notes["__lr_mult__"] = str(lr_mult)
    if wd_mult is not None:
        notes["__wd_mult__"] = str(wd_mult)
    if dtype is not None:
        notes["__dtype__"] = str(dtype if isinstance(dtype, int) else DTYPE_FLAGS.index(dtype_name(dtype)))
    if init is not None:
        notes["__init__"] = init if isinstance(init, str) else init.dumps()
    if stype is not None:
        notes["__storage_type__"] = str({"default": 0, "row_sparse": 1, "csr": 2}[stype])
    if profiler_scope is not None:
        notes["__profiler_scope__"] = profiler_scope
    for key, value in kwargs.items():
        if not (key.startswith("__") and key.endswith("__")):
            raise ValueError(f"attribute name={key} is not supported; additional attributes must start and end with __")
        notes[key] = str(value)
    return Symbol([(Node(None, None, (), name, notes), 0)])


Variable = var


def Group(symbols: Any) -> Symbol:
    """One symbol with all outputs of several."""
    listed = list(symbols)
    if not listed or any(not isinstance(s, Symbol) for s in listed):
        raise TypeError("Expected a list of symbols as input")
    return Symbol([head for s in listed for head in s._heads])


def call_operator(call: BoundCall) -> Symbol:
    """Add an operator call to the graph: what `sym.<operator>(...)` does.

    Inputs that were not given become variables `<node>_<input>`. Raises AssertionError for an input that is no Symbol.
    """
    op = call.op
    for value in call.inputs:
        if value is not None and not isinstance(value, Symbol):
            delegate = getattr(type(value), "__tensor_call__", None)
            if delegate is not None:
                return delegate(value, call)  # type: ignore[no-any-return]
            # An AssertionError is what MXNet's generated functions raise here.
            raise AssertionError(
                f"operator {op.name}: inputs of a symbolic call are Symbols, got {type(value).__name__}; "
                "wrap constants as variables or use the `_scalar` form"
            )
    return make_call(call, name_hint(call.registered))


def make_call(call: BoundCall, hint: str) -> Symbol:
    """`call_operator` for checked inputs; `hint` is what the NameManager counts for an unnamed node."""
    op = call.op
    name = NameManager.current.get(call.name, hint)
    names = op.input_names(call.attrs)
    notes = stored_notes(AttrScope.current.get(dict(call.attr) if call.attr else None))
    heads = []
    for label, value in zip(names, call.inputs):
        if value is None:
            # MXNet copies all attributes of the operator to the variables it makes for missing inputs.
            start = {"__init__": op.variable_init[label]} if label in op.variable_init else {}
            heads.append((Node(None, None, (), f"{name}_{label}", {**start, **call.attrs.given, **notes}), 0))
        elif len(value._heads) != 1:
            raise MXNetError(
                f"operator {op.name} `{name}`: input `{label}` is a symbol with {len(value._heads)} outputs; pick one, "
                f"as in `symbol[0]`"
            )
        else:
            heads.append(value._heads[0])
    node = Node(op, call.attrs, heads, name, notes)
    # An operator of numpy mode gives a symbol of that mode, and any that gets one: the class of the first that is.
    kind = next((type(s) for s in call.inputs if isinstance(s, Symbol) and type(s) is not Symbol), Symbol)
    return kind([(node, i) for i in range(node.visible_count)])


def load_json(text: str) -> Symbol:
    """A symbol from MXNet's JSON text. Raises MXNetError when it is not a graph."""
    from autohybrid.graph.json_file import read_graph

    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MXNetError(f"this is not the JSON of a symbol: {error}") from error
    return Symbol(read_graph(data))
