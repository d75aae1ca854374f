"""Fixes that take a statement out: what only counts, prints, waits or asserts has no place in a graph."""

from __future__ import annotations

import ast

from autohybrid.diagnostics.model import Edit, Fix
from autohybrid.spans import Span
from autohybrid.transform.fixes.site import FunctionNode, Site, make_fix

_WAITS = frozenset({"wait_to_read", "wait_to_write", "waitall"})
_HOOKS = frozenset({"register_forward_hook", "register_forward_pre_hook"})


def remove_statement(site: Site) -> Fix | None:
    """The marked statement, when it is an expression or an assignment to a field that this method does not read."""
    node = next(iter(site.nodes), None)
    statement = None if node is None else site.statement(node)
    if not isinstance(statement, ast.Expr | ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Delete | ast.Assert):
        return None
    function = site.function(statement)
    if function is None or _is_read(function, statement):
        return None
    return make_fix("remove the statement", site.removal(statement))


def _is_read(function: FunctionNode, statement: ast.stmt) -> bool:
    """Whether what a statement sets is read elsewhere in the function."""
    targets = getattr(statement, "targets", None) or [getattr(statement, "target", None)]
    wanted = {ast.unparse(item) for item in targets if isinstance(item, ast.expr)}
    inside = set(ast.walk(statement))
    return any(
        isinstance(node, ast.Name | ast.Attribute) and node not in inside and ast.unparse(node) in wanted
        for node in ast.walk(function)
        if isinstance(getattr(node, "ctx", None), ast.Load)
    )


def remove_effect(site: Site) -> Fix | None:
    """A call that stands alone: `print(...)`, `logging.info(...)`, `self.log.append(...)`."""
    node = next(iter(site.nodes), None)
    statement = None if node is None else site.statement(node)
    return make_fix("remove the statement", site.removal(statement)) if isinstance(statement, ast.Expr) else None


def remove_wait(site: Site) -> Fix | None:
    """`x.wait_to_read()` as a statement."""
    node = site.find(ast.Call)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _WAITS:
        return remove_effect(site)
    return None


def remove_hook(site: Site) -> Fix | None:
    """`self.body.register_forward_hook(...)` in the constructor, wherever the finding is reported."""
    node = next(iter(site.nodes), None)
    statement = None if node is None else site.statement(node)
    value = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _HOOKS:
        return make_fix("remove the hook", site.removal(statement))  # type: ignore[arg-type]
    return None


def keep_array_branch(site: Site) -> Fix | None:
    """`if isinstance(x, mx.nd.NDArray): ...`, `if F is mx.nd: ...`: what arrays get, for both."""
    test = next((node for node in site.nodes if isinstance(node, ast.expr)), None)
    branch = None if test is None else site.parent(test)
    if not isinstance(branch, ast.If) or branch.test is not test or not _asks_for_arrays(site, test):
        return None
    last = branch.body[-1]
    end: ast.stmt = branch
    if isinstance(last, ast.Return):
        body = site.body_of(branch)
        end = body[-1] if body else branch
    first, final = site.file.text.span(branch.body[0]), site.file.text.span(last)
    lines = [site.file.text.line(number) for number in range(first.line, final.end_line + 1)]
    width = branch.body[0].col_offset - branch.col_offset
    text = "\n".join(line[width:] if not line[:width].strip() else line for line in lines)
    whole = Span(first.path, branch.lineno, 1, end.end_lineno or end.lineno, site.file.text.span(end).end_column)
    return make_fix("keep what arrays get", [Edit(whole, text)])


def _asks_for_arrays(site: Site, test: ast.expr) -> bool:
    if isinstance(test, ast.Call):
        return site.text(test.func) == "isinstance" and site.text(test).rstrip(")").endswith("NDArray")
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Is | ast.Eq):
        return site.text(test.comparators[0]) in ("nd", "mx.nd", "mxnet.nd", "mx.ndarray", "mxnet.ndarray")
    return False


def read_attribute(site: Site) -> Fix | None:
    """`getattr(x, 'shape', default)`: `x.shape`, which has fixes of its own."""
    call = site.find(ast.Call)
    if not isinstance(call, ast.Call) or site.text(call.func) != "getattr" or len(call.args) != 3:
        return None
    name = call.args[1]
    if not isinstance(name, ast.Constant) or name.value not in ("shape", "size", "ndim"):
        return None
    return make_fix("read the attribute", [site.edit(call, f"{site.text(call.args[0])}.{name.value}")])


def remove_never_branch(site: Site) -> Fix | None:
    """`if x.stype == 'csr': ...`: a dense tensor never takes it."""
    node = site.find(ast.Attribute)
    compare = None if node is None else site.parent(node)
    branch = None if compare is None else site.parent(compare)
    if not isinstance(branch, ast.If) or not isinstance(compare, ast.Compare) or branch.test is not compare:
        return None
    right = compare.comparators[0]
    sparse = isinstance(right, ast.Constant) and right.value in ("csr", "row_sparse")
    if branch.orelse or not sparse or not isinstance(compare.ops[0], ast.Eq):
        return None
    return make_fix("remove the sparse case", site.removal(branch))


def unwrap_scope(site: Site) -> Fix | None:
    """`with autograd.pause(): y = f(x)`: `y = F.stop_gradient(f(x))`."""
    node = next(iter(site.nodes), None)
    scope = next(
        (item for item in ([] if node is None else [node, *site.above(node)]) if isinstance(item, ast.With)), None
    )
    if scope is None or len(scope.items) != 1 or not site.space(scope):
        return None
    call = scope.items[0].context_expr
    if not isinstance(call, ast.Call) or not ast.unparse(call.func).endswith("pause") or call.args or call.keywords:
        return None
    lines: list[str] = []
    for statement in scope.body:
        if not isinstance(statement, ast.Assign):
            return None
        text = f"{site.space(scope)}.stop_gradient({site.text(statement.value)})"
        lines.append(site.spliced(statement, {statement.value: text}))
    text = f"\n{site.indent(scope)}".join(lines)
    return make_fix("use `stop_gradient`", [site.restated(scope, scope, text)])
