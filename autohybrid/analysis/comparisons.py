"""Comparisons: `==`, `<`, `is`, `in` and chains of them."""

from __future__ import annotations

import ast

from autohybrid.analysis.conditions import note_instance_test
from autohybrid.analysis.events import EventKind
from autohybrid.analysis.evidence import STATIC
from autohybrid.analysis.expressions import arithmetic_result, check_operands, is_list
from autohybrid.analysis.frame import Arguments, Frame
from autohybrid.analysis.kinds import class_names
from autohybrid.analysis.values import (
    ANY,
    NEVER,
    Seq,
    Static,
    Tensor,
    Union,
    Unknown,
    Value,
    element_of,
    is_none,
    tensors_in,
)

_COMPARISONS = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}


def evaluate_compare(frame: Frame, node: ast.Compare) -> Value:
    """A comparison or a chain of them."""
    values = [frame.eval(node.left), *(frame.eval(comparator) for comparator in node.comparators)]
    nodes = [node.left, *node.comparators]
    result: Value = Static("bool")
    for place, operator in enumerate(node.ops):
        result = _compare(frame, values[place], values[place + 1], operator, node, nodes[place], nodes[place + 1])
        tensor, _ = tensors_in(result)
        if tensor is not None and tensor.graph and place < len(node.ops) - 1:
            frame.report(EventKind.CONDITION, node, name="chained comparison", value=result, subject=node, bare=False)
    return result


def _compare(
    frame: Frame, left: Value, right: Value, op: ast.cmpop, node: ast.Compare, left_node: ast.expr, right_node: ast.expr
) -> Value:
    if isinstance(left_node, ast.Call) and getattr(left_node.func, "id", "") == "type" and left_node.args:
        note_instance_test(frame, frame.eval(left_node.args[0]), class_names(right))
    if isinstance(op, ast.Is | ast.IsNot):
        return _identity(left, right, isinstance(op, ast.Is))
    if isinstance(op, ast.In | ast.NotIn):
        return _membership(frame, left, right, node)
    symbol = _COMPARISONS[op.__class__]
    left_tensor, left_sure = tensors_in(left)
    right_tensor, right_sure = tensors_in(right)
    if left_tensor is None and right_tensor is None:
        return Static("bool", _compare_constants(left, right, op), _taint(left, right))
    tensor = left_tensor or right_tensor
    assert tensor is not None
    other = right if left_tensor is not None else left
    if isinstance(other, Static) and other.type == "str":
        frame.session.evidence.note_static(tensor.key, "a comparison with a text")
    if tensor.listlike or (isinstance(other, Static) and other.type == "str" and tensor.key is not None):
        return Static("bool")
    if (isinstance(other, Static) and other.type in ("none", "str")) or is_list(other):
        if left_sure or right_sure:
            kind = other.type if isinstance(other, Static) else "list"
            value = left if left_tensor else right
            nodes = {"left": left_node, "right": right_node} if len(node.ops) == 1 else None
            frame.report(EventKind.COMPARE, node, name=symbol, value=value, nodes=nodes, operand=kind)
        return Static("bool")
    check_operands(frame, left, right, symbol, node, left_node, right_node)
    return arithmetic_result(frame, left, right, node)


def _taint(left: Value, right: Value) -> str:
    taints = [value.taint for value in (left, right) if isinstance(value, Static)]
    return next((taint for taint in taints if taint), "")


def _identity(left: Value, right: Value, positive: bool) -> Value:
    taint = _taint(left, right)
    if is_none(right) and not taint:
        if is_none(left):
            return Static("bool", positive)
        if not _may_turn_out_none(left):
            return Static("bool", not positive)
    return Static("bool", ANY, taint)


def _may_turn_out_none(value: Value) -> bool:
    if isinstance(value, Tensor):
        return value.key is not None
    if isinstance(value, Static):
        return value.type == "any" or value.field is not None
    return isinstance(value, Unknown | Union)


def _membership(frame: Frame, left: Value, right: Value, node: ast.Compare) -> Value:
    tensor, certain = tensors_in(left)
    inside = element_of(right) if isinstance(right, Seq) else NEVER
    other, _ = tensors_in(inside)
    if tensor is not None and tensor.graph and certain and other is not None and right.__class__ is Seq:
        if not (isinstance(node.comparators[0], ast.List | ast.Tuple) and len(node.comparators[0].elts) == 1):
            frame.report(EventKind.COMPARE, node, name="in", value=left, operand="tensor")
    elif tensor is not None and isinstance(inside, Static):
        frame.session.evidence.note(tensor.key, STATIC)
    return Static("bool", ANY, _taint(left, right))


def _compare_constants(left: Value, right: Value, op: ast.cmpop) -> object:
    if isinstance(left, Static) and isinstance(right, Static):
        a, b = left.const, right.const
        if a is ANY or b is ANY or left.field is not None or right.field is not None or type(a) is not type(b):
            return ANY
        if isinstance(op, ast.Eq):
            return a == b
        if isinstance(op, ast.NotEq):
            return a != b
    return ANY


def check_ordering(
    frame: Frame, name: str, value: Value, arguments: Arguments, node: ast.Call, where: ast.AST
) -> Tensor | None:
    """Report what is put in order by its truth value: `value`, or what the function `key=` makes of it. Gives the
    tensor that is compared."""
    key = arguments.keywords.get("key")
    if key is not None and not is_none(key):
        value = frame.call(key, Arguments((value,)), node)
    tensor, certain = tensors_in(value)
    if tensor is None or not tensor.graph or not certain or tensor.listlike:
        return None
    frame.report(EventKind.CONDITION, node, name=name, value=value, subject=where, bare=False)
    return tensor
