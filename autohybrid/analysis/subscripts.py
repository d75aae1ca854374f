"""Subscripts: reading, unpacking and iterating values, and the events of doing so with a tensor."""

from __future__ import annotations

import ast

from autohybrid.analysis.events import EventKind
from autohybrid.analysis.evidence import LIST
from autohybrid.analysis.frame import Arguments, Frame
from autohybrid.analysis.values import (
    ANY,
    NEVER,
    ClassRef,
    External,
    Instance,
    Layer,
    Map,
    Seq,
    Static,
    Tensor,
    Union,
    Unknown,
    Value,
    element_of,
    is_none,
    members_of,
    tensors_in,
    union,
)
from autohybrid.diagnostics.model import Confidence

_WHOLE = ((None, None, None), (0, None, None), (None, None, 1), (0, None, 1))


def is_silent(kind: str, const: object) -> bool:
    """Whether a Symbol gives the whole tensor for this index, where an array gives its first item or row."""
    if kind == "int":
        return type(const) is int and const == 0
    if kind == "bool":
        return const is False
    if kind != "slice" or not isinstance(const, tuple):
        return False
    begin, end, step = const
    if begin not in (None, 0) or not (step is None or (isinstance(step, int) and step > 0)):
        return False
    return end == 1 or (end is None and step not in (None, 1))


def evaluate_subscript(frame: Frame, node: ast.Subscript) -> Value:
    """The value of `base[index]`."""
    base = frame.eval(node.value)
    kind, const, index = describe_index(frame, node.slice)
    return subscript(frame, base, kind, const, index, node)


def describe_index(frame: Frame, node: ast.expr) -> tuple[str, object, Value]:
    """What an index is: its kind (int, slice, tuple, none, ellipsis, tensor, list, str, bool, numpy, unknown), the
    constant (for a slice the three bounds) or ANY, and its value."""
    if isinstance(node, ast.Slice):
        bounds = tuple(_bound(frame, part) for part in (node.lower, node.upper, node.step))
        return "slice", bounds, Static("slice", ANY)
    value = frame.eval(node)
    if isinstance(node, ast.Tuple):
        return "tuple", ANY, value
    return (*_index_kind(value), value)


def _bound(frame: Frame, node: ast.expr | None) -> object:
    if node is None:
        return None
    value = frame.eval(node)
    if isinstance(value, Static):
        return value.const
    return ANY


def _index_kind(value: Value) -> tuple[str, object]:
    if isinstance(value, Static):
        kinds = {"int": "int", "bool": "bool", "str": "str", "none": "none", "ellipsis": "ellipsis", "slice": "slice"}
        if value.type == "slice" and value.const is ANY:
            return "slice", (ANY, ANY, ANY)
        return kinds.get(value.type, "numpy" if value.type == "numpy" else "unknown"), value.const
    if isinstance(value, Tensor):
        return "tensor", ANY
    if isinstance(value, Seq):
        return ("tuple" if value.kind == "tuple" else "list"), ANY
    return "unknown", ANY


def subscript(frame: Frame, base: Value, kind: str, const: object, index: Value, node: ast.expr) -> Value:
    """`base[index]`, the index being described by `kind` and `const`."""
    if isinstance(base, Tensor):
        return _subscript_tensor(frame, base, base, kind, const, node)
    if isinstance(base, Union):
        parts: list[Value] = []
        for member in base.members:
            if isinstance(member, Tensor):
                parts.append(_subscript_tensor(frame, base, member, kind, const, node))
            elif not is_none(member):
                parts.append(subscript(frame, member, kind, const, index, node))
        return union(parts)
    if isinstance(base, Seq):
        return _subscript_seq(frame, base, kind, const, node)
    if isinstance(base, Map):
        return _subscript_map(base, const)
    if isinstance(base, Static):
        return _subscript_static(base, kind)
    if isinstance(base, Layer):
        return child_of(base) if kind != "slice" else base
    if isinstance(base, Instance):
        return _subscript_instance(frame, base, index, node)
    if isinstance(base, ClassRef | External):
        return base
    return NEVER if base is NEVER else Unknown("item")


def _subscript_tensor(frame: Frame, whole: Value, tensor: Tensor, kind: str, const: object, node: ast.expr) -> Value:
    whole_slice = kind == "slice" and const in _WHOLE
    if not tensor.graph:
        return Tensor(graph=False, depends=tensor.depends)
    if tensor.listlike and kind in ("int", "slice", "unknown", "bool"):
        return tensor if kind == "slice" else Tensor(sure=False, listlike=True, origin=tensor.origin)
    if tensor.listlike and kind == "str":
        return Unknown("item of an argument")
    if whole_slice:
        return tensor
    frame.session.evidence.note_use(tensor.key, f"[{const}]" if kind == "int" and const is not ANY else "[]")
    if tensor.key is not None and kind == "str":
        frame.session.evidence.note(tensor.key, LIST)
    subject = node.value if isinstance(node, ast.Subscript) else node
    confidence = Confidence.LIKELY if kind in ("unknown", "bool") or tensor.listlike else None
    frame.report(
        EventKind.SUBSCRIPT,
        node,
        name=kind,
        value=whole,
        subject=subject,
        confidence=confidence,
        index=kind,
        const=const,
        index_text=frame.text(node.slice) if isinstance(node, ast.Subscript) else "",
        nodes={"subject": subject},
        single=tensor.single,
        silent=is_silent(kind, const),
    )
    origin = frame.origin(node, "`{}` is a tensor", tensor)
    return Tensor(sure=tensor.key is None and tensor.sure, depends=tensor.depends, origin=origin)


def _subscript_seq(frame: Frame, base: Seq, kind: str, const: object, node: ast.expr) -> Value:
    if kind == "slice":
        return _slice_seq(frame, base, const, node)
    if base.kind == "outputs" and kind == "int" and isinstance(const, int) and const < 0:
        subject = node.value if isinstance(node, ast.Subscript) else node
        frame.report(EventKind.SUBSCRIPT, node, name="output", value=base, subject=subject, index="output", const=const)
    if base.items is not None and kind in ("int", "bool") and isinstance(const, int):
        return base.items[const] if -len(base.items) <= const < len(base.items) else Unknown("index out of range")
    if kind in ("int", "bool", "unknown", "numpy"):
        return element_of(base)
    return Unknown("item")


def _slice_seq(frame: Frame, base: Seq, const: object, node: ast.expr) -> Value:
    bounds = const if isinstance(const, tuple) else (ANY, ANY, ANY)
    if base.kind == "outputs" and any(isinstance(bound, int) and bound < 0 for bound in bounds):
        subject = node.value if isinstance(node, ast.Subscript) else node
        frame.report(
            EventKind.SUBSCRIPT, node, name="output", value=base, subject=subject, index="output", const=bounds
        )
    known = all(bound is None or isinstance(bound, int) for bound in bounds) and bounds[2] != 0
    if base.items is not None and known:
        return Seq(base.kind, base.items[slice(*bounds)], NEVER, base.origin)
    return Seq(base.kind, None, element_of(base), base.origin)


def _subscript_map(base: Map, const: object) -> Value:
    for key, value in base.items:
        if const is not ANY and type(key) is type(const) and key == const:
            return value
    if const is not ANY and base.items and base.element is NEVER:
        return Unknown("key is not known")
    return union([*(value for _, value in base.items), base.element]) if base.items else _element_or_unknown(base)


def _element_or_unknown(base: Map) -> Value:
    return Unknown("item of a dictionary") if base.element is NEVER else base.element


def _subscript_static(base: Static, kind: str) -> Value:
    if base.type == "str":
        return Static("str")
    if base.type == "numpy":
        return Static("any")
    return Static("any", ANY, base.taint) if base.taint else Unknown("item")


def _subscript_instance(frame: Frame, base: Instance, index: Value, node: ast.expr) -> Value:
    found = frame.session.classes.find_method(base.info, "__getitem__")
    if found is not None and isinstance(node, ast.Subscript):
        from autohybrid.analysis.attributes import bind

        owner, definition = found
        method = bind(owner, definition, "__getitem__", base, frame)
        call = ast.copy_location(ast.Call(node.value, [], []), node)
        return frame.call(method, Arguments((index,)), call)
    return Unknown("item of an object")


def iterate(frame: Frame, value: Value, node: ast.expr, how: str) -> Value:
    """What one step of an iteration over `value` gives; `how` names the construct (for, list, zip, `*`, ...)."""
    if isinstance(value, Seq):
        return element_of(value)
    if isinstance(value, Tensor):
        return _iterate_tensor(frame, value, value, node, how)
    if isinstance(value, Union):
        parts: list[Value] = []
        for member in value.members:
            if isinstance(member, Tensor):
                parts.append(_iterate_tensor(frame, value, member, node, how))
            elif not is_none(member):
                parts.append(iterate(frame, member, node, how))
        return union(parts)
    if isinstance(value, Map):
        return _keys_of(value)
    if isinstance(value, Static):
        return Static("str" if value.type == "str" else "any", ANY, value.taint)
    if isinstance(value, Layer):
        return child_of(value)
    if isinstance(value, Instance):
        return _iterate_instance(frame, value)
    return NEVER if value is NEVER else Unknown("element")


def child_of(layer: Layer) -> Value:
    """One child of a container of the library."""
    return Unknown("child of a block") if layer.children is NEVER else layer.children


def _keys_of(value: Map) -> Value:
    return union(Static(type(key).__name__, key) for key, _ in value.items) if value.items else Static("any")


def _iterate_instance(frame: Frame, value: Instance) -> Value:
    from autohybrid.analysis.attributes import children_of

    if frame.session.classes.block_kind(value.info):
        return children_of(frame, value)
    return Unknown("element of an object")


def _iterate_tensor(frame: Frame, whole: Value, tensor: Tensor, node: ast.expr, how: str) -> Value:
    if not tensor.graph:
        return Tensor(graph=False, depends=tensor.depends)
    if tensor.listlike:
        return Tensor(sure=False, listlike=True, origin=tensor.origin)
    frame.session.evidence.note_use(tensor.key, "iterate")
    confidence = Confidence.POSSIBLE if how == "zip with" and tensor.key is not None else None
    frame.report(EventKind.ITERATE, node, name=how, value=whole, subject=node, confidence=confidence)
    origin = frame.origin(node, "an element of `{}`", tensor)
    return Tensor(sure=tensor.key is None and tensor.sure, depends=tensor.depends, origin=origin)


def unpack(frame: Frame, value: Value, count: int, starred: int | None, node: ast.expr) -> list[Value]:
    """The values that `count` targets receive; the one at `starred` receives a list."""
    if isinstance(value, Union):
        _report_unpack(frame, value, node)
        quiet, frame.quiet = frame.quiet, True
        columns = [unpack(frame, member, count, starred, node) for member in members_of(value) if not is_none(member)]
        frame.quiet = quiet
        return [union(column) for column in zip(*columns)] if columns else [NEVER] * count
    if isinstance(value, Seq) and value.items is not None:
        return _spread(value, count, starred)
    if isinstance(value, Tensor):
        return _unpack_tensor(frame, value, count, starred, node)
    element = iterate(frame, value, node, "unpack")
    return [Seq("list", None, element) if place == starred else element for place in range(count)]


def _spread(value: Seq, count: int, starred: int | None) -> list[Value]:
    items = value.items or ()
    if starred is None:
        return list(items) if len(items) == count else [element_of(value)] * count
    after = count - starred - 1
    if len(items) < count - 1:
        return [element_of(value)] * count
    middle = Seq("list", items[starred : len(items) - after], NEVER, value.origin)
    tail = items[len(items) - after :] if after else ()
    return [*items[:starred], middle, *tail]


def _unpack_tensor(frame: Frame, value: Tensor, count: int, starred: int | None, node: ast.expr) -> list[Value]:
    if not value.graph:
        return [Tensor(graph=False)] * count
    if not value.listlike:
        frame.session.evidence.note_use(value.key, "unpack")
        _report_unpack(frame, value, node)
    sure = value.key is None and value.sure and not value.listlike
    element = Tensor(sure=sure, listlike=value.listlike, origin=frame.origin(node, "a part of `{}`", value))
    return [Seq("list", None, element) if place == starred else element for place in range(count)]


def _report_unpack(frame: Frame, value: Value, node: ast.expr) -> None:
    tensor, _ = tensors_in(value)
    if tensor is not None and tensor.graph and not tensor.listlike:
        frame.report(EventKind.UNPACK, node, value=value, subject=node)
