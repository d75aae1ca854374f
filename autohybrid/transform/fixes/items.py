"""Fixes of writing into a tensor: a new tensor under the same name.

`_slice_assign` has no gradient in MXNet 1.9.1; where the value can take the shape of the tensor, it only makes the mask
of a `where`, which has one.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from autohybrid.diagnostics.model import Edit, Fix
from autohybrid.spans import Span
from autohybrid.transform.fixes.site import Site, make_fix, place_of
from autohybrid.transform.fixes.subscripts import Bounds, bounds_of

_SYMBOLS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}


def fix_item_assignment(site: Site) -> Fix | None:
    """`x[index] = value` and `x[index] += value`."""
    node = next(iter(site.nodes), None)
    statement = None if node is None else site.statement(node)
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target, operator = statement.targets[0], ""
    elif isinstance(statement, ast.AugAssign):
        target, operator = statement.target, _SYMBOLS.get(type(statement.op), "?")
    else:
        return None
    space = site.space(statement)
    if not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Name) or operator == "?" or not space:
        return None
    name = target.value.id
    text = _new_tensor(site, target, statement.value, operator, space)
    if text is None:
        return None
    return make_fix(f"rebind `{name}`", [site.restated(statement, statement, f"{name} = {text}")])


def _new_tensor(site: Site, target: ast.Subscript, value: ast.expr, operator: str, space: str) -> str | None:
    name = site.text(target.value)
    if site.is_tensor(target.slice):
        return _masked(site, target, value, operator, space)
    bounds = bounds_of(site, target.slice)
    if bounds is None:
        return None
    number = not site.is_tensor(value)
    number = not site.is_tensor(value)
    new = site.text(value) if isinstance(value, ast.Constant | ast.Name | ast.Attribute) else f"({site.text(value)})"
    filled = f"{space}.ones_like({name}) * {new}"
    if not number:
        placed = _placed(site, value, bounds, space)
        filled = f"{space}.broadcast_add({space}.zeros_like({name}), {placed})"
    if operator:
        names = {"+": "add", "-": "sub", "*": "mul", "/": "div"}
        filled = f"{name} {operator} {new}" if number else f"{space}.broadcast_{names[operator]}({name}, {placed})"
    if all(item.is_whole for item in bounds):
        return filled
    ranges = _ranges(bounds)
    if number or all(item.is_whole or item.drops for item in bounds):
        mask = f"{space}._internal._slice_assign_scalar({space}.zeros_like({name}), scalar=1, {ranges})"
        return f"{space}.where({mask}, {filled}, {name})"
    if operator:
        part = f"{space}.slice({name}, {_ranges([replace(item, drops=False) for item in bounds])})"
        placed = f"{space}.broadcast_{names[operator]}({part}, {placed})"
    return f"{space}._internal._slice_assign({name}, {placed}, {ranges})"


def _placed(site: Site, value: ast.expr, bounds: list[Bounds], space: str) -> str:
    """The value with the axes that the index drops."""
    text = site.text(value)
    for axis, item in enumerate(bounds):
        if item.drops:
            text = f"{space}.expand_dims({text}, axis={axis})"
    return text


def _ranges(bounds: list[Bounds]) -> str:
    begin, end = ", ".join(item.begin for item in bounds), ", ".join(item.end for item in bounds)
    comma = "," if len(bounds) == 1 else ""
    text = f"begin=({begin}{comma}), end=({end}{comma})"
    if any(item.step != "None" for item in bounds):
        text += f", step=({', '.join(item.step for item in bounds)}{comma})"
    return text


def _masked(site: Site, target: ast.Subscript, value: ast.expr, operator: str, space: str) -> str | None:
    """`x[mask] = value`: chosen element by element."""
    name, index = site.text(target.value), site.text(target.slice)
    if not isinstance(target.slice, ast.Compare):
        return None
    new = site.text(value) if not operator else f"({name} {operator} {site.text(value)})"
    if not site.is_tensor(value) and not operator:
        new = f"{space}.ones_like({name}) * {new}"
    return f"{space}.where({index}, {new}, {name})"


def fix_out_argument(site: Site) -> Fix | None:
    """`F.relu(x, out=y)`: `y = F.relu(x)`."""
    call = site.find(ast.Call)
    statement = None if call is None else site.parent(call)
    if not isinstance(call, ast.Call) or not isinstance(statement, ast.Expr):
        return None
    word = next((item for item in call.keywords if item.arg == "out"), None)
    if word is None or not isinstance(word.value, ast.Name):
        return None
    edits = [site.insert(call, f"{word.value.id} = "), without_argument(site, call, word)]
    return make_fix(f"rebind `{word.value.id}`", edits)


def without_argument(site: Site, call: ast.Call, gone: ast.keyword | ast.expr) -> Edit:
    """Remove one argument from a call with the comma beside it."""
    parts: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    parts.sort(key=place_of)
    place = parts.index(gone)
    if place:
        return _cut(site, parts[place - 1], gone, after=True)
    if len(parts) > 1:
        return _cut(site, gone, parts[1], after=False)
    return site.edit(gone, "")


def _cut(site: Site, first: ast.AST, second: ast.AST, *, after: bool) -> Edit:
    start, end = site.file.text.span(first), site.file.text.span(second)
    if after:
        return Edit(Span(start.path, start.end_line, start.end_column, end.end_line, end.end_column), "")
    return Edit(Span(start.path, start.line, start.column, end.line, end.column), "")


def fix_operator_module(site: Site) -> Fix | None:
    """`operator.iadd(a, b)`: `operator.add(a, b)`."""
    call = site.find(ast.Call)
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return None
    name = call.func.attr
    if name not in ("iadd", "isub", "imul", "itruediv"):
        return None
    text = f"{site.text(call.func.value)}.{name[1:]}"
    return make_fix(f"use `{text}`", [site.edit(call.func, text)])
