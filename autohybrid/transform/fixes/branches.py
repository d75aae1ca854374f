"""Fixes of branches on tensors: `if`, conditional expressions, `and`, `or`, `not` and `bool`."""

from __future__ import annotations

import ast

from autohybrid.diagnostics.model import Edit, Fix
from autohybrid.transform.fixes.selection import Choice, choose, mask
from autohybrid.transform.fixes.site import Site, make_fix, needs_brackets


def fix_condition(site: Site) -> Fix | None:
    """`if`, `elif` or a conditional expression on a tensor."""
    test = _test_of(site)
    space = "" if test is None else site.space(test)
    condition = None if test is None or not space else condition_text(site, test, space)
    if test is None or condition is None:
        return None
    return _fix_branch(site, site.parent(test), condition, "choose in the graph")


def fix_training_branch(site: Site) -> Fix | None:
    """`if autograd.is_training()`: a tensor of one element that is 1 in training and 0 elsewhere, and a choice by it.

    Dropout of a one gives 0 or 2 in training and 1 elsewhere, so its distance from 1 is the mode.
    """
    call = site.find(ast.Call)
    test = _test_of(site)
    if not isinstance(call, ast.Call) or test is None or not site.text(call.func).endswith("is_training"):
        return None
    space = site.space(call)
    condition = f"{space}.abs({space}.Dropout({space}.ones((1,)), p=0.5) - 1)"
    if isinstance(test, ast.UnaryOp) and test.operand is call:
        condition = f"1 - {condition}"
    elif test is not call:
        return None
    return (
        _fix_branch(site, site.parent(test), condition, "choose by the mode in the graph", both=True) if space else None
    )


def _test_of(site: Site) -> ast.expr | None:
    """The whole condition of the branch that the marked expression is a part of."""
    test = next((node for node in site.nodes if isinstance(node, ast.expr)), None)
    while test is not None:
        parent = site.parent(test)
        if isinstance(parent, ast.If | ast.IfExp) and parent.test is test:
            return test
        test = parent if isinstance(parent, ast.BoolOp | ast.UnaryOp | ast.Compare) else None
    return None


def _fix_branch(site: Site, branch: ast.AST | None, condition: str, message: str, *, both: bool = False) -> Fix | None:
    if isinstance(branch, ast.IfExp):
        choice = choose(site, condition, branch.body, branch.orelse, branch, both=both)
        if choice is None:
            return None
        return make_fix(message, [*choice.insertions(site, branch), site.edit(branch, choice.text)])
    if not isinstance(branch, ast.If):
        return None
    return _fix_statement(site, branch, condition, site.space(branch), message, both=both)


def fix_boolean_operator(site: Site) -> Fix | None:
    """`a or b`, `a and b`: one of the two, by the truth of the first."""
    node = site.find(ast.BoolOp)
    if node is None:
        marked = next(iter(site.nodes), None)
        node = marked if marked is None else site.parent(marked)
    if not isinstance(node, ast.BoolOp) or len(node.values) != 2 or not site.space(node):
        return None
    if isinstance(site.parent(node), ast.If | ast.IfExp | ast.While | ast.Assert | ast.UnaryOp):
        return None
    space = site.space(node)
    first, second = node.values
    if _may_be_none(site, first):
        if not isinstance(node.op, ast.Or):
            return None
        text = f"{site.text(first)} if {site.text(first)} is not None else {site.text(second)}"
        alone = isinstance(site.parent(node), ast.Assign | ast.Return | ast.keyword)
        return make_fix("ask for None", [site.edit(node, text if alone else f"({text})")])
    condition = condition_text(site, node.values[0], space)
    if condition is None:
        return None
    sides = (first, second) if isinstance(node.op, ast.Or) else (second, first)
    choice = choose(site, condition, *sides, node)
    if choice is None:
        return None
    return make_fix("choose in the graph", [*choice.insertions(site, node), site.edit(node, choice.text)])


def _may_be_none(site: Site, node: ast.expr) -> bool:
    """Whether an expression is an argument that is None unless given."""
    method = site.function(node)
    if not isinstance(node, ast.Name) or method is None:
        return False
    with_default = zip(reversed(method.args.args), reversed(method.args.defaults))
    return any(a.arg == node.id and isinstance(d, ast.Constant) and d.value is None for a, d in with_default)


def fix_bool_call(site: Site) -> Fix | None:
    """`bool(x)` that only decides a branch: the tensor itself, which the branch then reads."""
    node = site.find(ast.Call)
    if not isinstance(node, ast.Call) or len(node.args) != 1 or not isinstance(node.func, ast.Name):
        return None
    if node.func.id != "bool" or not site.space(node):
        return None
    return make_fix("keep the tensor", [site.edit(node, site.text(node.args[0]))])


def condition_text(site: Site, test: ast.expr, space: str) -> str | None:
    """A condition as a tensor: `and`, `or` and `not` become operators; None where a Python value takes part."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        if site.is_tensor(test.operand) and not isinstance(test.operand, ast.Compare | ast.BoolOp):
            operand = site.text(test.operand)
            return f"({operand}) == 0" if needs_brackets(test.operand) else f"{operand} == 0"
        inner = condition_text(site, test.operand, space)
        return None if inner is None else f"({inner}) == 0"
    if isinstance(test, ast.BoolOp):
        parts = [condition_text(site, value, space) for value in test.values]
        text: str | None = parts[0]
        operator = "and" if isinstance(test.op, ast.And) else "or"
        for part in parts[1:]:
            if text is None or part is None:
                return None
            text = f"{space}.broadcast_logical_{operator}({text}, {part})"
        return text
    if isinstance(test, ast.Compare) and len(test.ops) > 1:
        return _chain(site, test, space)
    if not site.is_tensor(test):
        return None
    # A bare input as the condition fails in MXNet's backward pass of `cond`.
    bare = f"({site.text(test)})" if needs_brackets(test) else site.text(test)
    return site.text(test) if isinstance(test, ast.Compare) else f"{bare} != 0"


def _chain(site: Site, test: ast.Compare, space: str) -> str | None:
    """`a < x < b` as the logical and of its links."""
    operands = [test.left, *test.comparators]
    signs = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
    links: list[str] = []
    for left, operator, right in zip(operands, test.ops, operands[1:]):
        sign = signs.get(type(operator))
        if sign is None or not (site.is_tensor(left) or site.is_tensor(right)):
            return None
        links.append(f"{site.text(left)} {sign} {site.text(right)}")
    text = links[0]
    for link in links[1:]:
        text = f"{space}.broadcast_logical_and({text}, {link})"
    return text


def _fix_statement(site: Site, branch: ast.If, condition: str, space: str, message: str, *, both: bool) -> Fix | None:
    """`if` with one statement a side, or with a `return` on one side and the other after it."""
    if site.file.text.line(branch.lineno).lstrip().startswith("elif"):
        return None
    if len(branch.body) != 1 or len(branch.orelse) > 1:
        return _fix_sides(site, branch, condition, space, message)
    then = branch.body[0]
    following = site.body_of(branch)
    after = following[following.index(branch) + 1 :] if branch in following else []
    if isinstance(then, ast.Return) and then.value is not None:
        rest = branch.orelse or after
        chain = _chained_returns(site, branch, after, space)
        if chain is not None:
            return make_fix(message, [site.restated(branch, chain[0], f"return {chain[1]}")])
        if len(rest) != 1 or not isinstance(rest[0], ast.Return) or rest[0].value is None:
            return None
        choice = choose(site, condition, then.value, rest[0].value, branch, both=both)
        end = branch if branch.orelse else rest[0]
        return None if choice is None else make_fix(message, [_stated(site, branch, end, "return", choice)])
    if not isinstance(then, ast.Assign) or len(then.targets) != 1 or not isinstance(then.targets[0], ast.Name):
        return None
    target = then.targets[0].id
    if not branch.orelse:
        other: ast.expr | str = target
    else:
        last = branch.orelse[0]
        if len(branch.orelse) != 1 or not isinstance(last, ast.Assign) or len(last.targets) != 1:
            return None
        if not isinstance(last.targets[0], ast.Name) or last.targets[0].id != target:
            return None
        other = last.value
    choice = choose(site, condition, then.value, other, branch, both=both)
    return None if choice is None else make_fix(message, [_stated(site, branch, branch, f"{target} =", choice)])


def _chained_returns(site: Site, branch: ast.If, after: list[ast.stmt], space: str) -> tuple[ast.stmt, str] | None:
    """`if a: return x`, `elif b: return y`, `return z`: the last statement and the nested choice."""
    if len(branch.orelse) != 1 or not isinstance(branch.orelse[0], ast.If):
        return None
    sides: list[tuple[str, ast.expr]] = []
    rest: list[ast.stmt] = [branch]
    while len(rest) == 1 and isinstance(rest[0], ast.If):
        current = rest[0]
        condition = condition_text(site, current.test, space)
        result = current.body[0]
        if len(current.body) != 1 or not isinstance(result, ast.Return) or result.value is None or condition is None:
            return None
        sides.append((condition, result.value))
        rest = current.orelse
    end: ast.stmt = branch if rest else (after[0] if len(after) == 1 else branch)
    last = rest[0] if len(rest) == 1 else end
    if not isinstance(last, ast.Return) or last.value is None or not site.is_tensor(last.value):
        return None
    text = site.text(last.value)
    for condition, value in reversed(sides):
        if not site.is_tensor(value):
            return None
        text = f"{space}.where({mask(space, site.text(value), condition)}, {site.text(value)}, {text})"
    return end, text


def _stated(site: Site, first: ast.stmt, last: ast.stmt, start: str, choice: Choice) -> Edit:
    lines = [choice.before] if choice.before else []
    text = f"\n{site.indent(first)}".join([*lines, f"{start} {choice.text}"])
    return site.restated(first, last, text)


def _fix_sides(site: Site, branch: ast.If, condition: str, space: str, message: str) -> Fix | None:
    """Sides of several assignments: both are computed under names of their own, then chosen name by name."""
    decided = site.free_name("condition", branch)
    lines = [f"{decided} = {condition}"]
    results: list[dict[str, str]] = []
    for body, suffix in ((branch.body, "then"), (branch.orelse, "otherwise")):
        renamed: dict[str, str] = {}
        for statement in body:
            if not isinstance(statement, ast.Assign) or not site.is_tensor(statement.value):
                return None
            target = statement.targets[0]
            if len(statement.targets) != 1 or not isinstance(target, ast.Name):
                return None
            reads = [item for item in ast.walk(statement.value) if isinstance(item, ast.Name) and item.id in renamed]
            value = site.spliced(statement.value, {item: renamed[item.id] for item in reads})
            renamed.setdefault(target.id, site.free_name(f"{target.id}_{suffix}", branch))
            lines.append(f"{renamed[target.id]} = {value}")
        results.append(renamed)
    then, otherwise = results
    function = site.function(branch)
    known = set() if function is None else {argument.arg for argument in function.args.args}
    body = site.body_of(branch)
    for statement in body[: body.index(branch)] if branch in body else []:
        known |= {item.id for item in ast.walk(statement) if isinstance(item, ast.Name)}
    for name in dict.fromkeys([*then, *otherwise]):
        if name not in known and not (name in then and name in otherwise):
            return None
        first, second = then.get(name, name), otherwise.get(name, name)
        lines.append(f"{name} = {space}.where({mask(space, first, decided)}, {first}, {second})")
    return make_fix(message, [site.restated(branch, branch, f"\n{site.indent(branch)}".join(lines))])
