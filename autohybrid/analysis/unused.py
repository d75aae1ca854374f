"""Children and parameters that the graph of a block does not hold while some shape is open.

Open shapes are inferred over the whole graph; a parameter that no node uses makes that fail for all of them. A child is
unused when nothing calls it, or when every use stands under a test of a field that comes out the other way for the
default and for every constant that the project gives.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from autohybrid.analysis.events import EventKind
from autohybrid.analysis.frame import Frame
from autohybrid.analysis.index import ClassInfo, FunctionNode
from autohybrid.analysis.nodes import walk_nodes
from autohybrid.analysis.values import ANY, Layer, Parameter, Value
from autohybrid.diagnostics.model import Confidence


@dataclass(frozen=True, slots=True)
class Guard:
    """The code runs when `self.field` is true (or equals `const`), or, unless `positive`, when it does not."""

    field: str
    positive: bool
    const: object = ANY

    def holds(self, value: object) -> bool:
        """Whether the code runs for this constant."""
        met = bool(value) if self.const is ANY else value == self.const and type(value) is type(self.const)
        return met is self.positive

    def negated(self) -> Guard:
        """The guard of the other side."""
        return Guard(self.field, not self.positive, self.const)


def check_unused(frame: Frame, info: ClassInfo, definition: FunctionNode, fields: Mapping[str, Value]) -> None:
    """Report children and parameters made without condition that the graph does not hold by default."""
    constructor = info.methods.get("__init__")
    if constructor is None:
        return
    uses = _uses(definition)
    names = [node for node in walk_nodes(definition) if isinstance(node, ast.Name)]
    _check_inputs(frame, definition, fields, {node.id for node in names})
    taken = {node.id for node in names if isinstance(node.ctx, ast.Load)}
    for name, node in _unconditional_assignments(constructor.body):
        value = fields.get(name)
        if isinstance(value, Parameter):
            if name in _arguments(definition) and name not in taken and not _is_mentioned(info, name):
                _report(frame, node, name, "parameter", "")
        elif isinstance(value, Layer) and value.facts.size:
            guards = uses.get(name)
            if guards is None:
                if not _is_mentioned(info, name):
                    _report(frame, node, name, "child", "")
            elif all(guard is not None and _is_off(frame, info, guard) for guard in guards):
                flag = next(guard.field for guard in guards if guard is not None)
                _report(frame, node, name, "child", flag)


def _check_inputs(frame: Frame, definition: FunctionNode, fields: Mapping[str, Value], names: set[str]) -> None:
    """An input that nothing reads is no input of the graph, and its shape cannot be inferred."""
    arguments = definition.args.args[2 : len(definition.args.args) - len(definition.args.defaults)]
    if "locals" in names or isinstance(definition.body[-1], ast.Raise):
        return
    for argument in arguments:
        if argument.arg not in names and not isinstance(fields.get(argument.arg), Parameter):
            frame.report(EventKind.SIGNATURE, argument, name="unused", subject=argument, confidence=Confidence.LIKELY)


def _report(frame: Frame, node: ast.AST, name: str, what: str, flag: str) -> None:
    frame.report(EventKind.CHILD, node, name=name, how="unused", confidence=Confidence.LIKELY, flag=flag, what=what)


def _arguments(definition: FunctionNode) -> set[str]:
    return {argument.arg for argument in (*definition.args.args, *definition.args.kwonlyargs)}


def _unconditional_assignments(body: list[ast.stmt]) -> Iterator[tuple[str, ast.Assign]]:
    for statement in body:
        if isinstance(statement, ast.With):
            yield from _unconditional_assignments(statement.body)
        elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
            if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
                yield target.attr, statement


def _uses(definition: FunctionNode) -> dict[str, list[Guard | None]]:
    """For each field read in the method: the guard of each read, None where it is always reached."""
    receiver = definition.args.args[0].arg if definition.args.args else "self"
    found: dict[str, list[Guard | None]] = {}

    def visit_body(body: list[ast.stmt], guard: Guard | None) -> None:
        for statement in body:
            visit(statement, guard)
            if isinstance(statement, ast.If) and not statement.orelse and _leaves(statement.body):
                inner = _guard(statement.test, receiver)
                guard = inner.negated() if inner is not None else guard

    def visit(node: ast.AST, guard: Guard | None) -> None:
        if isinstance(node, ast.If | ast.IfExp):
            inner = _guard(node.test, receiver)
            visit(node.test, guard)
            sides = ((node.body, inner or guard), (node.orelse, inner.negated() if inner is not None else guard))
            for side, side_guard in sides:
                visit_body(side, side_guard) if isinstance(side, list) else visit(side, side_guard)
            return
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == receiver:
            found.setdefault(node.attr, []).append(guard)
        for inner_node in ast.iter_child_nodes(node):
            visit(inner_node, guard)

    visit_body(definition.body, None)
    return found


def _leaves(body: list[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], ast.Return | ast.Raise)


def _guard(test: ast.expr, receiver: str) -> Guard | None:
    """The guard that a test of one field makes: `self.flag`, `not self.flag`, `self.mode == "a"`, `self.x is None`."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _guard(test.operand, receiver)
        return None if inner is None else inner.negated()
    if isinstance(test, ast.Attribute) and isinstance(test.value, ast.Name) and test.value.id == receiver:
        return Guard(test.attr, True)
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.comparators[0], ast.Constant):
        left = _guard(test.left, receiver)
        if left is not None and isinstance(test.ops[0], ast.Eq | ast.NotEq | ast.Is | ast.IsNot):
            same = isinstance(test.ops[0], ast.Eq | ast.Is)
            return Guard(left.field, same, test.comparators[0].value)
    return None


def _is_off(frame: Frame, info: ClassInfo, guard: Guard) -> bool:
    """Whether the guarded code runs neither by default nor for any constant given in the project."""
    value = frame.session.field_source.find_field(info, guard.field)
    field = getattr(value, "field", None)
    constants = frame.session.constants.given(field) if field is not None else frozenset()
    return bool(constants) and not any(guard.holds(constant) for constant in constants)


def _is_mentioned(info: ClassInfo, name: str) -> bool:
    """Whether something else in the file may reach the field."""
    text = info.module.file.text
    return text.count(f".{name}") > 1 or "getattr(" in text or "_children" in text or "in self:" in text
