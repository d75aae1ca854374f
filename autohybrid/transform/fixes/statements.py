"""Fixes that take a statement out: what only counts, prints, waits or asserts has no place in a graph."""

from __future__ import annotations

import ast

from autohybrid.diagnostics.model import Edit, Fix
from autohybrid.spans import Span
from autohybrid.transform.fixes.site import Site, make_fix

_WAITS = frozenset({"wait_to_read", "wait_to_write", "waitall"})
_HOOKS = frozenset({"register_forward_hook", "register_forward_pre_hook"})


def remove_statement(site: Site) -> Fix | None:
    """The marked statement, when it is an expression or an assignment to a field that this method does not read."""
    node = next(iter(site.nodes), None)
    statement = None if node is None else site.statement(node)
    if not isinstance(statement, ast.Expr | ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Delete | ast.Assert):
        return None
    function = site.function(statement)
    if function is None or _is_read(site, statement):
        return None
    return make_fix("remove the statement", site.removal(statement))


def _is_read(site: Site, statement: ast.stmt) -> bool:
    """Whether what a statement sets or changes is read anywhere else in the file."""
    wanted = {name for item in _changed(statement) for name in _names(item)}
    inside = set(ast.walk(statement))
    return any(
        _name(node) in wanted and isinstance(getattr(node, "ctx", None), ast.Load) and not _only_changes(site, node)
        for node in ast.walk(site.file.tree)
        if isinstance(node, ast.Name | ast.Attribute) and node not in inside
    )


def _changed(statement: ast.stmt) -> list[ast.expr]:
    """The targets of an assignment, or the container that a method call changes."""
    if isinstance(statement, ast.Assign | ast.Delete):
        return statement.targets
    if isinstance(statement, ast.AugAssign | ast.AnnAssign):
        return [statement.target]
    value = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        return [value.func.value]
    return []


def _names(target: ast.expr) -> list[str]:
    if isinstance(target, ast.Tuple | ast.List):
        return [name for item in target.elts for name in _names(item)]
    while isinstance(target, ast.Subscript | ast.Starred):
        target = target.value
    name = _name(target)
    return [name] if name else []


def _name(node: ast.AST) -> str:
    """The field of `self`, or the name, that an expression is."""
    if isinstance(node, ast.Attribute):
        return f".{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _only_changes(site: Site, node: ast.AST) -> bool:
    """Whether a container is read only to be changed by a statement of its own: `self.log.append(1)`."""
    call = site.parent(site.parent(node)) if isinstance(site.parent(node), ast.Attribute) else None  # type: ignore[arg-type]
    return isinstance(call, ast.Call) and isinstance(site.parent(call), ast.Expr)


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
    outer = site.parent(branch)
    chained = any(isinstance(item, ast.If) for item in branch.orelse)
    if chained or (isinstance(outer, ast.If) and branch in outer.orelse):
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
    if scope.body[0].lineno != scope.lineno + 1 and "#" not in site.file.text.line(scope.lineno + 1):
        return None
    if not isinstance(call, ast.Call) or not ast.unparse(call.func).endswith("pause") or call.args or call.keywords:
        return None
    space = site.space(scope)
    edits = [*_dedented(site, scope)]
    for statement in scope.body:
        if not isinstance(statement, ast.Assign) or not site.is_tensor(statement.value):
            return None
        text = site.text(statement.value)
        if not text.startswith((f"{space}.stop_gradient(", f"{space}.BlockGrad(")):
            edits += [site.insert(statement.value, f"{space}.stop_gradient("), site.append(statement.value, ")")]
    return make_fix("use `stop_gradient`", edits)


def _dedented(site: Site, scope: ast.With) -> list[Edit]:
    """The edits that take the head of a scope away and move its body to the left."""
    path, first = site.file.path, scope.body[0].lineno
    width = scope.body[0].col_offset - scope.col_offset
    edits = [Edit(Span(path, scope.lineno, 1, scope.lineno + 1, 1), "")]
    for number in range(scope.lineno + 1, (scope.end_lineno or first) + 1):
        if not site.file.text.line(number)[:width].strip() and site.file.text.line(number).strip():
            edits.append(Edit(Span(path, number, 1, number, width + 1), ""))
    return edits
