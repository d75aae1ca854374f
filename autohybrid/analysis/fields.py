"""Fields of objects as their constructor's source says.

`ConstructorFields` interprets `__init__` along the method resolution order once per class, with unknown arguments (a
default tells the type), and keeps what `self` holds at the end. It implements `FieldSource`; a live object offers the
same interface (see `facts`). Fields that a hybrid method sets itself change between calls, so nothing is assumed of
them but that.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from autohybrid.analysis.blocks import is_plain_child, report_plain_child
from autohybrid.analysis.calls import default_value, run_function_body
from autohybrid.analysis.frame import Env, Frame
from autohybrid.analysis.index import ClassInfo, FunctionNode
from autohybrid.analysis.nodes import walk_nodes
from autohybrid.analysis.registration import check_registration
from autohybrid.analysis.values import (
    ANY,
    Func,
    Instance,
    Map,
    Seq,
    Static,
    Unknown,
    Value,
    is_none,
)

if TYPE_CHECKING:
    from autohybrid.analysis.frame import Session

_EMPTY: Mapping[str, Value] = {}
_STATIC_TYPES = frozenset({"int", "float", "bool", "str", "bytes"})


class ConstructorFields:
    """The fields of the classes of a project."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._fields: dict[ClassInfo, Mapping[str, Value]] = {}

    def find_field(self, info: ClassInfo, name: str) -> Value | None:
        """The value of a field, None when the constructor does not set it."""
        fields = self.all_fields(info)
        value = fields.get(name)
        if value is None and name != "*" and "*" in fields:
            return fields["*"]
        return value

    def all_fields(self, info: ClassInfo) -> Mapping[str, Value]:
        """Every field that the constructor sets."""
        known = self._fields.get(info)
        if known is None:
            self._fields[info] = _EMPTY
            known = self._fields[info] = self._run_constructor(info)
        return known

    def _run_constructor(self, info: ClassInfo) -> Mapping[str, Value]:
        session = self._session
        found = session.classes.find_method(info, "__init__")
        if found is None:
            return self._without_constructor(info)
        owner, definition = found
        receiver = Instance(info, 0)
        frame = Frame(session, owner.module, function=definition, owner=owner, receiver=receiver, quiet=True)
        frame.constructing = True
        frame.block, frame.method = info.qualname, "__init__"
        frame.env.update(constructor_arguments(frame, owner, definition, receiver))
        run_function_body(frame)
        fields = {key[1]: value for key, value in frame.env.items() if isinstance(key, tuple) and key[0] == 0}
        for name in mutated_fields(session, info):
            if name in fields:
                fields[name] = Static("any", ANY, "state")
        if owner is info and session.classes.block_kind(info) == "hybrid":
            _report_children(frame, definition, fields)
            check_registration(frame, info, definition, fields)
        return fields

    def _without_constructor(self, info: ClassInfo) -> Mapping[str, Value]:
        fields: dict[str, Value] = {}
        for name in info.annotations:
            fields[name] = Unknown("field without a known value")
        return fields


def _report_children(frame: Frame, definition: FunctionNode, fields: Mapping[str, Value]) -> None:
    """Report fields of a hybrid block that hold a plain one, where the constructor sets them."""
    plain = {name for name, value in fields.items() if is_plain_child(frame, value)}
    if not plain:
        return
    for statement in walk_nodes(definition):
        if not isinstance(statement, ast.Assign):
            continue
        for target in statement.targets:
            if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.attr in plain:
                report_plain_child(frame, fields[target.attr], statement, True, "assigned")


def constructor_arguments(frame: Frame, owner: ClassInfo, definition: FunctionNode, receiver: Value) -> Env:
    """The names that a constructor starts with: of an argument only its default or annotation tells the type."""
    signature = definition.args
    parameters = [*signature.posonlyargs, *signature.args]
    env: Env = {parameters[0].arg: receiver} if parameters else {}
    defaults = dict(zip([parameter.arg for parameter in reversed(parameters)], reversed(signature.defaults)))
    keyword_defaults = {p.arg: d for p, d in zip(signature.kwonlyargs, signature.kw_defaults) if d is not None}
    function = Func(definition, owner.module)
    for parameter in (*parameters[1:], *signature.kwonlyargs):
        default = defaults.get(parameter.arg) or keyword_defaults.get(parameter.arg)
        env[parameter.arg] = _argument(frame, owner, function, parameter, default)
    if signature.vararg is not None:
        env[signature.vararg.arg] = Seq("tuple", None, Unknown("argument of the constructor"))
    if signature.kwarg is not None:
        env[signature.kwarg.arg] = Map((), Unknown("argument of the constructor"))
    return env


def _argument(frame: Frame, owner: ClassInfo, function: Func, parameter: ast.arg, default: ast.expr | None) -> Value:
    annotated = annotated_type(parameter.annotation)
    if default is None:
        if annotated in _STATIC_TYPES:
            return Static(annotated, ANY, field=(owner, parameter.arg))
        return Unknown("argument of the constructor", (owner, parameter.arg))
    value = default_value(frame, function, default)
    if isinstance(value, Static) and value.type in _STATIC_TYPES:
        return Static(value.type, ANY, field=(owner, parameter.arg))
    if is_none(value):
        return Unknown("argument of the constructor")
    if isinstance(value, Seq):
        return Seq(value.kind, None, Unknown("element"))
    return Unknown("argument of the constructor")


def annotated_type(annotation: ast.expr | None) -> str:
    """The name of the type of an annotation: `int`, `Tensor`, `List`; empty for anything less plain."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return annotation.value.partition("[")[0].rpartition(".")[2]
    if isinstance(annotation, ast.Subscript):
        return annotated_type(annotation.value)
    if isinstance(annotation, ast.Attribute):
        return annotation.attr
    return annotation.id if isinstance(annotation, ast.Name) else ""


def mutated_fields(session: Session, info: ClassInfo) -> frozenset[str]:
    """The fields that hybrid methods of the class assign."""
    names: set[str] = set()
    for method in session.settings.hybrid_methods:
        found = session.classes.find_method(info, method)
        if found is not None and found[1].args.args:
            names.update(_assigned(found[1]))
    return frozenset(names)


def _assigned(definition: FunctionNode) -> Iterator[str]:
    receiver = definition.args.args[0].arg
    waiting: list[ast.stmt] = list(definition.body)
    while waiting:
        statement = waiting.pop()
        for target in _targets(statement):
            if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == receiver:
                yield target.attr
        for name in ("body", "orelse", "finalbody"):
            waiting.extend(getattr(statement, name, ()))
        for handler in getattr(statement, "handlers", ()):
            waiting.extend(handler.body)


def _targets(statement: ast.stmt) -> Iterator[ast.expr]:
    if isinstance(statement, ast.Assign):
        for target in statement.targets:
            if isinstance(target, ast.Tuple | ast.List):
                yield from target.elts
            else:
                yield target
    elif isinstance(statement, ast.AugAssign | ast.AnnAssign):
        yield statement.target
