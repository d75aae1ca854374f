"""Structure: what the fields of a hybrid block and the signature of its method say together."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from autohybrid.analysis.events import EventKind
from autohybrid.analysis.frame import Frame
from autohybrid.analysis.index import ClassInfo, FunctionNode
from autohybrid.analysis.unused import check_unused
from autohybrid.analysis.values import Layer, Parameter, Value
from autohybrid.diagnostics.model import Confidence


def check_structure(frame: Frame, info: ClassInfo, definition: FunctionNode, fields: Mapping[str, Value]) -> None:
    """Report a method without a namespace, parameters that it does not take, and what the graph leaves unused."""
    _check_namespace(frame, definition)
    _check_parameters(frame, definition, fields)
    if any(isinstance(value, Layer) and value.deferred for value in fields.values()):
        check_unused(frame, info, definition, fields)


def _check_namespace(frame: Frame, definition: FunctionNode) -> None:
    signature = definition.args
    if definition.name != "hybrid_forward" or signature.vararg is not None or len(signature.args) != 2:
        return
    if signature.args[1].arg not in ("F", "ops", "op", "mx", "nd", "sym"):
        frame.report(EventKind.SIGNATURE, definition_line(definition), name="namespace")


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
