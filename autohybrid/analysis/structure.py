"""Structure: what the fields of a hybrid block and the signature of its method say together."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from autohybrid.analysis.events import EventKind
from autohybrid.analysis.frame import Frame
from autohybrid.analysis.index import ClassInfo, FunctionNode
from autohybrid.analysis.values import Layer, Parameter, Value
from autohybrid.diagnostics.model import Confidence


def check_structure(frame: Frame, info: ClassInfo, definition: FunctionNode, fields: Mapping[str, Value]) -> None:
    """Report parameters that the method does not take, and children that a flag leaves unused."""
    _check_parameters(frame, definition, fields)
    layers = {name: value for name, value in fields.items() if isinstance(value, Layer) and value.facts.size}
    if any(layer.deferred for layer in layers.values()):
        _check_unused(frame, info, definition, layers)


def _check_parameters(frame: Frame, definition: FunctionNode, fields: Mapping[str, Value]) -> None:
    signature = definition.args
    if signature.kwarg is not None or definition.name != "hybrid_forward":
        return
    names = {argument.arg for argument in (*signature.posonlyargs, *signature.args, *signature.kwonlyargs)}
    for name, value in fields.items():
        if isinstance(value, Parameter) and name not in names and name.isidentifier():
            frame.report(
                EventKind.SIGNATURE,
                definition_line(definition),
                name="parameter",
                confidence=Confidence.DEFINITE,
                parameter=name,
                value=None,
                arguments=", ".join(argument.arg for argument in signature.args),
            )


def definition_line(definition: FunctionNode) -> ast.AST:
    """A node that covers the line of a `def` up to its last argument."""
    arguments = [*definition.args.posonlyargs, *definition.args.args, *definition.args.kwonlyargs]
    last = arguments[-1] if arguments else None
    marker = ast.Pass()
    marker.lineno, marker.col_offset = definition.lineno, definition.col_offset
    marker.end_lineno = last.end_lineno if last is not None else definition.lineno
    end = last.end_col_offset if last is not None else None
    marker.end_col_offset = end if end is not None else definition.col_offset + 4 + len(definition.name)
    return marker


def _check_unused(frame: Frame, info: ClassInfo, definition: FunctionNode, layers: Mapping[str, Layer]) -> None:
    """A child with parameters, made without condition and called only when a flag is set that is off by default, in a
    block where some shape is open: the graph does not hold its parameters, and inferring the open shape fails."""
    constructor = info.methods.get("__init__")
    if constructor is None:
        return
    uses = _uses(info, definition)
    for name, node in _unconditional_assignments(constructor.body):
        if name not in layers:
            continue
        guards = uses.get(name)
        if guards is None:
            if _is_mentioned(info, name):
                continue
            frame.report(EventKind.CHILD, node, name=name, how="unused", confidence=Confidence.LIKELY, flag="")
        elif all(guard and _is_off(frame, info, guard) for guard in guards):
            flag = next(guard for guard in guards if guard)
            frame.report(EventKind.CHILD, node, name=name, how="unused", confidence=Confidence.LIKELY, flag=flag)


def _unconditional_assignments(body: list[ast.stmt]) -> Iterator[tuple[str, ast.Assign]]:
    for statement in body:
        if isinstance(statement, ast.With):
            yield from _unconditional_assignments(statement.body)
        elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
            if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
                yield target.attr, statement


def _uses(info: ClassInfo, definition: FunctionNode) -> dict[str, list[str]]:
    """For each field read in the method: the flag that each read is guarded by, empty for none."""
    found: dict[str, list[str]] = {}
    receiver = definition.args.args[0].arg if definition.args.args else "self"

    def visit(node: ast.AST, guard: str) -> None:
        if isinstance(node, ast.If | ast.IfExp):
            flag = _flag(node.test, receiver)
            visit(node.test, guard)
            bodies = node.body if isinstance(node.body, list) else [node.body]
            for part in bodies:
                visit(part, flag or guard)
            others = node.orelse if isinstance(node.orelse, list) else [node.orelse]
            for part in others:
                visit(part, guard)
            return
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == receiver:
            found.setdefault(node.attr, []).append(guard)
        for inner in ast.iter_child_nodes(node):
            visit(inner, guard)

    for statement in definition.body:
        visit(statement, "")
    return found


def _flag(test: ast.expr, receiver: str) -> str:
    if isinstance(test, ast.Attribute) and isinstance(test.value, ast.Name) and test.value.id == receiver:
        return test.attr
    return ""


def _is_off(frame: Frame, info: ClassInfo, flag: str) -> bool:
    """Whether a flag is off by default and never switched on in the project."""
    value = frame.session.field_source.find_field(info, flag)
    field = getattr(value, "field", None)
    return field is not None and frame.session.constants.given(field) <= {False, None}


def _is_mentioned(info: ClassInfo, name: str) -> bool:
    """Whether another method, or another class of the file, mentions the field."""
    text = info.module.file.text
    return text.count(f".{name}") > 1 or "getattr" in text or "_children" in text or "for " in ast.unparse(info.node)
