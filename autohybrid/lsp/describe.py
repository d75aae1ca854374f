"""What the analysis knows of an expression, in words."""

from __future__ import annotations

from collections.abc import Iterator

from autohybrid.analysis.values import (
    ANY,
    ClassRef,
    External,
    Func,
    Instance,
    Layer,
    Map,
    Method,
    ModuleRef,
    Namespace,
    Never,
    Operator,
    Origin,
    Parameter,
    Partial,
    Seq,
    Static,
    Super,
    Tensor,
    Union,
    Unknown,
    Value,
)
from autohybrid.diagnostics.model import Label

_LONGEST = 60


def describe(value: Value) -> str:
    """What a value is, for people."""
    match value:
        case Tensor():
            return _tensor(value)
        case Static(type=name, const=const):
            return _static(name, const)
        case Seq():
            return _sequence(value)
        case Map():
            return "dictionary"
        case Union(members=members):
            return " or ".join(dict.fromkeys(describe(member) for member in members))
        case Parameter(name=name, shape=shape):
            return f"parameter `{name}`{_shape(shape)}" if name else f"parameter{_shape(shape)}"
        case Unknown(reason=reason):
            return f"not known: {reason}" if reason else "not known"
        case Never():
            return "never reached"
        case _:
            return _object(value)


def _object(value: Value) -> str:
    match value:
        case Layer(facts=facts):
            return f"block `{facts.name}`"
        case Instance(info=info):
            return f"`{info.qualname}` object"
        case ClassRef(info=info):
            return f"class `{info.qualname}`"
        case Namespace(root=root, path=path):
            return f"namespace `{root}.{path}`" if path else f"namespace `{root}`"
        case Operator(root=root, name=name):
            return f"operator `{root}.{name}`"
        case Method(name=name):
            return f"method `{name}`"
        case Func(node=node):
            return f"function `{getattr(node, 'name', 'lambda')}`"
        case External(name=name):
            return f"`{name}`"
        case ModuleRef(module=module):
            return f"module `{module.name}`"
        case Partial(function=function):
            return f"partial of {describe(function)}"
        case Super(owner=owner):
            return f"`super()` of `{owner.qualname}`"
        case _:
            return "not known"


def _tensor(value: Tensor) -> str:
    kind = "tensor" if value.graph else "array"
    sure = "" if value.sure else "likely a "
    many = ", used as a list of tensors" if value.listlike else ""
    return f"{sure}{kind}{_shape(value.shape)}{many}"


def to_shape(shape: tuple[int | None, ...]) -> str:
    """A shape as Python writes it, with `?` for a size that is not known, which Gluon writes 0.

    >>> to_shape((None, 3, 0)), to_shape((4,))
    ('(?, 3, ?)', '(4,)')
    """
    sizes = [str(size) if size else "?" for size in shape]
    return f"({sizes[0]},)" if len(sizes) == 1 else f"({', '.join(sizes)})"


def _shape(shape: tuple[int | None, ...] | None) -> str:
    return "" if shape is None else f" of shape {to_shape(shape)}"


def _static(name: str, const: object) -> str:
    if name == "none":
        return "`None`"
    if const is ANY:
        return f"Python `{name}`, the same for every call of the graph"
    text = repr(const)
    return f"Python `{name}`: `{text if len(text) <= _LONGEST else text[: _LONGEST - 3] + '...'}`"


def _sequence(value: Seq) -> str:
    kind = "outputs of an operator" if value.kind == "outputs" else value.kind
    if value.items is None:
        return f"{kind}, each: {describe(value.element)}"
    same = list(dict.fromkeys(describe(item) for item in value.items))
    return f"{kind} of {len(value.items)}: {', '.join(same[:3])}{', ...' if len(same) > 3 else ''}"


def reasons(value: Value) -> Iterator[Label]:
    """Why the value is believed to be what it is, the first cause first."""
    origin: Origin | None = getattr(value, "origin", None)
    if isinstance(value, Union):
        origin = next((found for member in value.members if (found := getattr(member, "origin", None))), None)
    chain: list[Origin] = []
    while origin is not None:
        chain.append(origin)
        origin = origin.cause
    for step in reversed(chain):
        text = step.module.text
        yield Label(text.span(step.node), step.note.replace("{}", text.excerpt(step.node)))
