"""Fixes in helpers of one expression that have no namespace: the expression takes the place of the call."""

from __future__ import annotations

import ast

from autohybrid.diagnostics.model import Edit, Fix
from autohybrid.spans import Span
from autohybrid.transform.fixes.site import FunctionNode, Site, is_receiver, make_fix, needs_brackets


def inline_helper(site: Site) -> Fix | None:
    """Replace every call of the function around the finding by its one expression, and take the function out."""
    node = next(iter(site.nodes), None)
    function = None if node is None else site.function(node)
    if function is None or site.space(function.body[0]):
        return None
    result = _only_expression(function)
    calls = None if result is None else _calls(site, function)
    if result is None or not calls or any(site.function(call) is function for call in calls):
        return None
    edits: list[Edit] = []
    for call in calls:
        text = _substituted(site, function, result, call)
        if text is None:
            return None
        brackets = needs_brackets(result) and not isinstance(site.parent(call), ast.stmt | ast.Call | ast.keyword)
        edits.append(site.edit(call, f"({text})" if brackets else text))
    return make_fix(f"write out `{function.name}`", [*edits, *_without(site, function)])


def _only_expression(function: FunctionNode) -> ast.expr | None:
    body = [item for item in function.body if not (isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant))]
    decorators = {ast.unparse(item) for item in function.decorator_list} - {"staticmethod"}
    if len(body) != 1 or not isinstance(body[0], ast.Return) or decorators:
        return None
    return body[0].value


def _calls(site: Site, function: FunctionNode) -> list[ast.Call] | None:
    """The calls of the function in its file, none of which is inside another; None when it is used in another way."""
    is_method = isinstance(site.parent(function), ast.ClassDef)
    found: list[ast.Call] = []
    for node in ast.walk(site.file.tree):
        used = node.attr if is_method and isinstance(node, ast.Attribute) and is_receiver(site, node.value) else ""
        if not is_method and isinstance(node, ast.Name):
            used = node.id
        if used == function.name:
            call = site.parent(node)
            if not isinstance(call, ast.Call) or call.func is not node or call.keywords:
                return None
            found.append(call)
    nested = any(other is not call and other in set(ast.walk(call)) for call in found for other in found)
    return None if nested else found


def _substituted(site: Site, function: FunctionNode, result: ast.expr, call: ast.Call) -> str | None:
    names = [argument.arg for argument in function.args.args]
    is_method = isinstance(site.parent(function), ast.ClassDef) and not function.decorator_list
    arguments: list[ast.expr] = list(call.args)
    if is_method and isinstance(call.func, ast.Attribute):
        arguments.insert(0, call.func.value)
    if len(names) != len(arguments) or any(isinstance(item, ast.Starred) for item in arguments):
        return None
    given = dict(zip(names, arguments))
    bound = {item.id for item in ast.walk(result) if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store)}
    bound |= {item.arg for item in ast.walk(result) if isinstance(item, ast.arg)}
    if bound & (set(names) | {name for item in arguments for name in site.names_in(item)}):
        return None
    texts: dict[ast.AST, str] = {}
    counts: dict[str, int] = {}
    for item in ast.walk(result):
        if isinstance(item, ast.Name) and item.id in given:
            argument = given[item.id]
            counts[item.id] = counts.get(item.id, 0) + 1
            if counts[item.id] > 1 and not isinstance(argument, ast.Name | ast.Constant | ast.Attribute):
                return None
            text = site.text(argument)
            texts[item] = f"({text})" if needs_brackets(argument) and item is not result else text
    return site.spliced(result, texts)


def _without(site: Site, function: FunctionNode) -> list[Edit]:
    """Take the function out, with the blank lines after it; a comment inside keeps it."""
    owner = site.parent(function)
    first = min([function.lineno, *[item.lineno for item in function.decorator_list]])
    last = function.end_lineno or function.lineno
    lines = [site.file.text.line(number) for number in range(first, last + 1)]
    if any("#" in line for line in lines) or (isinstance(owner, ast.ClassDef) and len(owner.body) == 1):
        return []
    while last < len(site.file.text.lines) and not site.file.text.line(last + 1).strip():
        last += 1
    return [Edit(Span(site.file.path, first, 1, last + 1, 1), "")]
