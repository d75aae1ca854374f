"""From a Python call to an operator's inputs and attributes: the one binding of arguments, for nd, sym and methods.

The positional order is MXNet's: declared inputs, then attributes, then `out`, then `name`. What a tensor is, and what
to do with the bound call, is the caller's business (`tensor/imperative.py`, `graph/compose.py`).
"""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attrs, spell, unknown_keyword
from autohybrid.tensor.opdef import OpDef


class _Null:
    """MXNet's marker for "not given", accepted wherever an attribute is."""

    def __repr__(self) -> str:
        return "_Null"


NULL = _Null()
#: Keywords that any operator takes for its node, plain or behind an input's name (`weight_lr_mult`).
NOTES = ("ctx_group", "lr_mult", "wd_mult", "force_mirroring", "mirror_stage", "profiler_scope")


class BoundCall(NamedTuple):
    """A call with its arguments sorted out. `inputs` has one entry for each active input; None where not given."""

    op: OpDef
    registered: str
    attrs: Attrs
    inputs: tuple[Any, ...]
    out: Any
    name: str | None
    attr: Mapping[str, str] | None


Dispatch = Callable[[BoundCall], Any]


_PACKAGE = __name__.partition(".")[0] + "."
_PLAIN_TYPES = frozenset((bool, int, float, str, tuple, type(None)))
#: How many combinations of attribute values a function remembers.
_REMEMBERED = 1024


def make_function(op: OpDef, registered: str, dispatch: Dispatch) -> Callable[..., Any]:
    """The public function of an operator under one of its names.

    A call with all inputs by position is sorted out once for each combination of attribute values, and then found
    again: binding would otherwise be the larger half of a small call.
    """
    known: dict[Any, tuple[Attrs, int]] = {}
    width = len(op.inputs)

    def function(*args: Any, **kwargs: Any) -> Any:
        name = kwargs.pop("name", None) if kwargs else None
        given = len(args)
        if kwargs or given > width:
            values = (*args[width:], *kwargs.values())
            key: Any = (given, *kwargs, *values, *map(type, values))
        else:
            key = given
        try:
            found = known.get(key)
        except TypeError:  # a list or another unhashable value
            return dispatch(bind(op, registered, args, {**kwargs, "name": name}))
        if found is not None:
            attrs, count = found
            if given == count:
                return dispatch(BoundCall(op, registered, attrs, args, None, name, None))
            if all(a is None for a in args[count:width]):
                return dispatch(BoundCall(op, registered, attrs, args[:count], None, name, None))
        call = bind(op, registered, args, {**kwargs, "name": name})
        if _is_repeatable(op, args, kwargs, call):
            if len(known) > _REMEMBERED:
                known.clear()
            known[key] = call.attrs, len(call.inputs)
        return dispatch(call)

    function.__name__ = function.__qualname__ = registered
    function.__doc__ = op.doc
    function.__signature__ = signature(op)  # type: ignore[attr-defined]
    return function


def _is_repeatable(op: OpDef, args: Sequence[Any], kwargs: Mapping[str, Any], call: BoundCall) -> bool:
    """Whether another call of this form binds the same way: inputs by position, attributes as plain values."""
    width = len(op.inputs)
    return (
        op.variadic is None
        and op.session is None
        and len(call.inputs) <= min(len(args), width)
        and len(args) <= width + len(op.schema)
        and not any(a is NULL for a in args)
        and all(type(a) in _PLAIN_TYPES for a in args[width:])
        and all(name in op.schema for name in kwargs)
    )


def is_note(keyword: str) -> bool:
    """Whether a keyword is no attribute of the operator but a note on the node of a graph: `__layout__`, `lr_mult`."""
    return (keyword.startswith("__") and keyword.endswith("__")) or keyword.endswith(NOTES)


def bind(op: OpDef, registered: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> BoundCall:
    """Sort the arguments of a call. Raises MXNetError (unknown keyword, bad attribute), TypeError (too many)."""
    rest = dict(kwargs)
    out, name, attr = rest.pop("out", None), rest.pop("name", None), rest.pop("attr", None)
    notes = {key: str(rest.pop(key)) for key in kwargs if key not in op.schema and is_note(key)}
    if not op.schema:
        notes.update(_idle_keywords(op, rest))
    if notes:
        attr = {**(attr or {}), **notes}
    if op.session is not None:
        return _bind_session(op, registered, args, rest, out, name, attr)
    if op.variadic is not None:
        return _bind_variadic(op, registered, args, rest, out, name, attr)
    slots = (*op.inputs, *op.schema)
    tensors: dict[str, Any] = {}
    given: dict[str, Any] = {}
    if len(args) > len(slots):
        extra = args[len(slots) :]
        if len(extra) > 2:
            raise TypeError(f"operator {op.name} takes at most {len(slots) + 2} positional arguments, got {len(args)}")
        out, name = (*extra, name)[:2] if len(extra) == 1 else extra
        args = args[: len(slots)]
    for slot, value in zip(slots, args):
        _put(op, slot, value, tensors, given)
    for slot, value in rest.items():
        if slot in tensors or slot in given:
            raise TypeError(f"operator {op.name} got two values for argument `{slot}`")
        _put(op, slot, value, tensors, given)
    attrs = op.parse(given)
    return BoundCall(op, registered, attrs, _active(op, attrs, tensors), out, name, attr)


def _idle_keywords(op: OpDef, rest: dict[str, Any]) -> dict[str, str]:
    """Take the keywords that mean nothing out of `rest`, with a warning, as text: operators without attributes ignore
    them in MXNet, and graphs keep them."""
    idle = {}
    for key in [k for k, v in rest.items() if k not in op.inputs and not is_tensor(v) and v is not NULL]:
        message = f"{unknown_keyword(op.name, key, op.inputs)}; it is ignored"
        warnings.warn(message, stacklevel=_user_level())
        idle[key] = spell(rest.pop(key))
    return idle


def _user_level() -> int:
    """How many frames above the caller's the first one outside this package is, for `warnings.warn`."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    return level


def _bind_session(
    op: OpDef, registered: str, args: Sequence[Any], rest: dict[str, Any], out: Any, name: Any, attr: Any
) -> BoundCall:
    """Bind a call whose attributes say what its inputs are: tensors by position, or by those names."""
    session = rest.pop("session", None)
    named = {key: rest.pop(key) for key in list(rest) if is_tensor(rest[key])}
    attrs = op.parse(rest, session)
    names = op.input_names(attrs)
    if len(args) > len(names):
        raise TypeError(f"operator {op.name} takes {len(names)} inputs with these attributes, got {len(args)}")
    bound = dict(zip(names, args))
    for key, value in named.items():
        if key not in names:
            raise MXNetError(unknown_keyword(op.name, key, names))
        if key in bound:
            raise TypeError(f"operator {op.name} got two values for argument `{key}`")
        bound[key] = value
    return BoundCall(op, registered, attrs, tuple([bound.get(n) for n in names]), out, name, attr)


def is_tensor(value: Any) -> bool:
    """Whether a keyword's value is an array or a symbol."""
    return hasattr(value, "_entry") or hasattr(value, "list_arguments")


def _put(op: OpDef, slot: str, value: Any, tensors: dict[str, Any], given: dict[str, Any]) -> None:
    if slot in op.inputs and slot not in op.schema:
        if value is not None and value is not NULL:
            tensors[slot] = value
    elif slot in op.schema or op.open_attrs:
        if value is not NULL:
            given[slot] = value
    else:
        raise MXNetError(unknown_keyword(op.name, slot, (*op.inputs, *op.schema)))


def _active(op: OpDef, attrs: Attrs, tensors: dict[str, Any]) -> tuple[Any, ...]:
    names = op.input_names(attrs)
    if len(names) < len(op.inputs):
        idle = [n for n in tensors if n not in names]
        if idle and len(tensors) == len(names):  # MXNet goes by order where the number is right
            return tuple([tensors[n] for n in op.inputs if n in tensors])
        if idle:
            raise MXNetError(
                f"operator {op.name}: input `{idle[0]}` was given, but these attributes use only "
                f"{', '.join(f'`{n}`' for n in names)}"
            )
    return tuple([tensors.get(n) for n in names])


def _bind_variadic(
    op: OpDef, registered: str, args: Sequence[Any], rest: dict[str, Any], out: Any, name: Any, attr: Any
) -> BoundCall:
    if len(args) == 1 and isinstance(args[0], (list, tuple)):
        args = args[0]
    inputs = list(args)
    keyed = {k: rest.pop(k) for k in list(rest) if k not in op.schema and not op.open_attrs}
    for key, value in keyed.items():
        if is_tensor(value):
            inputs.append(value)
        else:
            raise MXNetError(unknown_keyword(op.name, key, op.schema))
    assert op.variadic is not None
    rest = {k: v for k, v in rest.items() if v is not NULL}
    if op.active_inputs is not None:
        if op.schema[op.variadic].required and op.variadic not in rest:
            rest = {op.variadic: len(inputs), **rest}
        attrs = op.parse(rest)
        wanted = len(op.active_inputs(attrs))
        if len(inputs) > wanted:
            number = getattr(attrs, op.variadic)
            raise MXNetError(
                f"operator {op.name}: with {op.variadic}={number} it takes {wanted} inputs, got {len(inputs)}"
            )
        return BoundCall(op, registered, attrs, (*inputs, *[None] * (wanted - len(inputs))), out, name, attr)
    count = rest.pop(op.variadic, None)
    rest = {op.variadic: len(inputs) if inputs or count is None else count, **rest}
    attrs = op.parse(rest)
    padded = inputs + [None] * (getattr(attrs, op.variadic) - len(inputs))
    return BoundCall(op, registered, attrs, tuple(padded), out, name, attr)


def signature(op: OpDef) -> inspect.Signature:
    """The Python signature shown by `help(nd.<operator>)`."""
    kind = inspect.Parameter
    if op.variadic is not None:
        parameters = [kind("data", kind.VAR_POSITIONAL)]
        parameters += [_attr_parameter(n, a, kind.KEYWORD_ONLY) for n, a in op.schema.items() if n != op.variadic]
        how: Any = kind.KEYWORD_ONLY
    else:
        how = kind.POSITIONAL_OR_KEYWORD
        parameters = [kind(n, how, default=None) for n in op.inputs]
        parameters += [_attr_parameter(n, a, how) for n, a in op.schema.items() if n not in op.inputs]
    parameters += [kind("out", how, default=None), kind("name", how, default=None)]
    return inspect.Signature(parameters)


def _attr_parameter(name: str, attr: Any, kind: Any) -> inspect.Parameter:
    return inspect.Parameter(name, kind, default=NULL if attr.required else attr.default)
