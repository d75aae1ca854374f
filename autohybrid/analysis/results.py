"""Results: what a hybrid method returns, where a graph cannot give that back."""

from __future__ import annotations

import ast

from autohybrid.analysis.events import EventKind
from autohybrid.analysis.frame import Env, Frame
from autohybrid.analysis.index import FunctionNode
from autohybrid.analysis.value_queries import walk
from autohybrid.analysis.values import Instance, Map, Never, Seq, Static, Tensor, Union, Value, is_none, members_of
from autohybrid.diagnostics.model import Confidence


def check_results(frame: Frame, definition: FunctionNode, inputs: Env) -> None:
    """Report what the `return` statements of a hybrid method give that a graph cannot."""
    for node, value in frame.returns:
        if node.value is None:
            continue
        _check_kinds(frame, node, value)
        if not _depends(value):
            frame.report(
                EventKind.RESULT, node, name="constant", subject=node.value, confidence=_constant_confidence(value)
            )
    if len(frame.returns) == 1 and definition.body and definition.body[-1] is frame.returns[0][0]:
        _check_unchanged(frame, *frame.returns[0])


def _constant_confidence(value: Value) -> Confidence:
    return Confidence.DEFINITE if isinstance(value, Tensor) and value.sure else Confidence.LIKELY


def _check_kinds(frame: Frame, node: ast.Return, value: Value) -> None:
    assert node.value is not None
    parts = _named_parts(node.value, value)
    for where, part in parts:
        kind = _refused_kind(part, inside=len(parts) > 1 or where is not node.value)
        if kind:
            frame.report(EventKind.RESULT, node, name=kind, subject=where, confidence=Confidence.LIKELY)


def _named_parts(node: ast.expr, value: Value) -> list[tuple[ast.expr, Value]]:
    """The elements of a returned display with their values, or the whole."""
    items = value.items if isinstance(value, Seq) else None
    if not isinstance(node, ast.Tuple | ast.List) or items is None or len(node.elts) != len(items):
        return [(node, value)]
    pairs = []
    for element, item in zip(node.elts, items):
        pairs.extend(_named_parts(element, item))
    return pairs


def _refused_kind(value: Value, inside: bool) -> str:
    if isinstance(value, Map):
        return "dict"
    if isinstance(value, Instance):
        return "object"
    if isinstance(value, Seq) and value.kind in ("set", "iterator", "namedtuple"):
        return value.kind
    if isinstance(value, Static):
        if value.type in ("int", "float", "str", "bool"):
            return "number" if value.type != "str" else "text"
        return "none" if is_none(value) and inside else ""
    if isinstance(value, Union) and inside and any(is_none(member) for member in value.members):
        others = [member for member in value.members if not is_none(member)]
        return "none" if any(isinstance(member, Tensor) and member.key is not None for member in others) else ""
    return ""


def _depends(value: Value) -> bool:
    """Whether some part of a result depends on an input, a parameter or something unknown."""
    tensors = False
    for part in walk(value, 4):
        if isinstance(part, Tensor):
            if part.depends or not part.graph:
                return True
            tensors = True
        elif not isinstance(part, Seq | Union | Map | Static | Never):
            return True
    return not tensors


def _check_unchanged(frame: Frame, node: ast.Return, value: Value) -> None:
    """`return x, f(x)`: the input itself is an output, which has no gradient of its own once hybridized."""
    if not isinstance(node.value, ast.Tuple | ast.List) or not isinstance(value, Seq) or value.items is None:
        return
    for element, item in zip(node.value.elts, value.items):
        unchanged = [member for member in members_of(item) if isinstance(member, Tensor) and member.key is not None]
        if unchanged and len(members_of(item)) == 1 and not unchanged[0].listlike:
            nodes = {"subject": element}
            frame.report(
                EventKind.RESULT, node, name="input", subject=element, nodes=nodes, confidence=Confidence.LIKELY
            )
