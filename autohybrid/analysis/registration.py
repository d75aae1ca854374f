"""Registration: children that a list hides, and constructors that set fields before the block exists."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from autohybrid.analysis.events import EventKind
from autohybrid.analysis.frame import Frame
from autohybrid.analysis.index import ClassInfo, FunctionNode
from autohybrid.analysis.nodes import walk_nodes
from autohybrid.analysis.value_queries import walk
from autohybrid.analysis.values import Instance, Layer, Map, Parameter, Seq, Value, members_of
from autohybrid.diagnostics.model import Confidence

_REGISTERS = ("register_child", "setattr(", "_children", "__setattr__", "collect_params", ".add(*")


def check_registration(frame: Frame, info: ClassInfo, constructor: FunctionNode, fields: Mapping[str, Value]) -> None:
    """Report what the constructor of a block does that leaves children out."""
    _check_super(frame, info, constructor, fields)
    known: set[object] | None = None
    for name, value in fields.items():
        if isinstance(value, Seq | Map) and not name.startswith("<"):
            hidden = [part for part in walk(value, 3) if _has_parameters(frame, part)]
            if hidden and known is None:
                if _registers(frame, constructor):
                    return
                known = set(_registered(fields))
            if hidden and known is not None and not any(_kind(part) in known for part in hidden):
                node = _assignment(constructor, name)
                if node is not None:
                    frame.report(EventKind.CHILD, node, name=name, how="unregistered", confidence=Confidence.LIKELY)


def _registers(frame: Frame, constructor: FunctionNode) -> bool:
    """Whether the constructor does something else that may make children of blocks."""
    text = "\n".join(frame.module.text.lines[constructor.lineno - 1 : constructor.end_lineno])
    return any(word in text for word in _REGISTERS)


def _kind(value: Value) -> object:
    if isinstance(value, Layer):
        return value.facts.name
    return value.info if isinstance(value, Instance) else None


def _registered(fields: Mapping[str, Value]) -> Iterator[object]:
    """The kinds of block that are fields themselves, or children of containers that are."""
    for value in fields.values():
        for member in members_of(value):
            if isinstance(member, Layer | Instance):
                yield _kind(member)
            if isinstance(member, Layer):
                for child in walk(member.children, 2):
                    yield _kind(child)


def _has_parameters(frame: Frame, value: Value) -> bool:
    if isinstance(value, Layer):
        return bool(value.facts.size)
    return isinstance(value, Instance) and any(
        isinstance(part, Parameter) or (isinstance(part, Layer) and part.facts.size)
        for field in frame.session.field_source.all_fields(value.info).values()
        for part in walk(field, 1)
    )


def _assignment(constructor: FunctionNode, name: str) -> ast.stmt | None:
    for node in walk_nodes(constructor):
        if isinstance(node, ast.Assign) and any(_field_of(target) == name for target in node.targets):
            return node
    return None


def _field_of(target: ast.expr) -> str:
    if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
        return target.attr
    return ""


def _check_super(frame: Frame, info: ClassInfo, constructor: FunctionNode, fields: Mapping[str, Value]) -> None:
    """The base constructor makes the tables of children and parameters; nothing can be set before it has run."""
    for statement in constructor.body:
        if _calls_constructor(statement):
            return
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                value = fields.get(_field_of(target))
                if isinstance(value, Layer | Parameter):
                    frame.report(EventKind.CHILD, statement, name=_field_of(target), how="early")
                    return
    if not constructor.decorator_list and frame.session.classes.library_base(info) is not None:
        marker = ast.Pass()
        marker.lineno = marker.end_lineno = constructor.lineno
        marker.col_offset = constructor.col_offset
        marker.end_col_offset = constructor.col_offset + len("def __init__")
        frame.report(EventKind.CHILD, marker, name=info.name, how="super")


def _calls_constructor(statement: ast.stmt) -> bool:
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("__init__", "super")
        for node in walk_nodes(statement)
    )
