"""Fixes of loops that a tensor ends, and of rows that a loop runs over."""

from __future__ import annotations

import ast

from autohybrid.diagnostics.model import Fix
from autohybrid.transform.fixes.branches import condition_text
from autohybrid.transform.fixes.selection import mask
from autohybrid.transform.fixes.site import Site, make_fix

#: How many rounds a loop of unknown length is unrolled to.
ROUNDS = 64


def fix_while(site: Site) -> Fix | None:
    """`while condition: x = f(x)`: a bounded number of rounds, each of which counts while the condition holds."""
    node = next((item for item in site.nodes if isinstance(item, ast.expr)), None)
    loop = next((item for item in ([] if node is None else site.above(node)) if isinstance(item, ast.While)), None)
    if loop is None or loop.orelse or not site.space(loop):
        return None
    space = site.space(loop)
    condition = condition_text(site, loop.test, space)
    names = _assigned(site, loop.body)
    if condition is None or names is None:
        return None
    going, indent = site.free_name("going", loop), site.indent(loop)
    lines = [f"for _ in range({ROUNDS}):", f"{indent}    {going} = {condition}"]
    lines += [f"{indent}    {_kept(space, going, name, site.text(value))}" for name, value in names]
    message = f"run at most {ROUNDS} rounds in the graph"
    return make_fix(message, [site.restated(loop, loop, "\n".join(lines))])


def fix_early_exit(site: Site) -> Fix | None:
    """`for ...: x = f(x); if condition: break`: later rounds leave `x` as it is."""
    node = next((item for item in site.nodes if isinstance(item, ast.expr)), None)
    branch = None if node is None else site.parent(node)
    loop = None if branch is None else site.parent(branch)
    if not isinstance(branch, ast.If) or not isinstance(loop, ast.For) or loop.orelse or branch.orelse:
        return None
    ends = len(branch.body) == 1 and isinstance(branch.body[0], ast.Break) and loop.body[-1] is branch
    space = site.space(loop)
    names = _assigned(site, loop.body[:-1])
    condition = condition_text(site, branch.test, space) if space else None
    if not ends or names is None or condition is None:
        return None
    going = site.free_name("going", loop)
    edits = [site.insert(loop, f"{going} = {space}.ones((1,))\n{site.indent(loop)}")]
    for statement, (name, value) in zip(loop.body, names):
        edits.append(site.restated(statement, statement, _kept(space, going, name, site.text(value))))
    edits.append(site.restated(branch, branch, f"{going} = {space}.broadcast_mul({going}, 1 - ({condition}))"))
    return make_fix("keep the loop going in the graph", edits)


def _assigned(site: Site, body: list[ast.stmt]) -> list[tuple[str, ast.expr]] | None:
    """The names that a body assigns, when it does nothing else and all are tensors."""
    found: list[tuple[str, ast.expr]] = []
    for statement in body:
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return None
        target = statement.targets[0]
        if not isinstance(target, ast.Name) or not site.is_tensor(statement.value):
            return None
        if not any(isinstance(item, ast.Name) and item.id == target.id for item in ast.walk(statement.value)):
            return None
        found.append((target.id, statement.value))
    return found or None


def _kept(space: str, going: str, name: str, value: str) -> str:
    return f"{name} = {space}.where({mask(space, name, going)}, {value}, {name})"


def fix_captured(site: Site) -> Fix | None:
    """A tensor from outside in `while_loop`: it becomes one of the loop's variables."""
    call = next(
        (
            item
            for node in site.nodes
            for item in (node, *site.above(node))
            if isinstance(item, ast.Call) and site.text(item.func).endswith("while_loop")
        ),
        None,
    )
    if call is None or not site.space(call):
        return None
    words = {word.arg: word.value for word in call.keywords}
    parts = dict(zip(("cond", "func", "loop_vars"), call.args)) | words
    test, step, start = parts.get("cond"), parts.get("func"), parts.get("loop_vars")
    if not (isinstance(test, ast.Lambda) and isinstance(step, ast.Lambda) and isinstance(start, ast.List | ast.Tuple)):
        return None
    result = step.body
    if not isinstance(result, ast.Tuple) or len(result.elts) != 2 or not isinstance(result.elts[1], ast.List):
        return None
    own = {item.arg for item in (*test.args.args, *step.args.args)} | {site.space(call), "self"}
    outer = [
        item.id
        for part in (test.body, step.body)
        for item in ast.walk(part)
        if isinstance(item, ast.Name) and item.id not in own and site.is_tensor(item)
    ]
    names = list(dict.fromkeys(outer))
    if not names or not test.args.args or not step.args.args or not result.elts[1].elts:
        return None
    extra = "".join(f", {name}" for name in names)
    edits = [site.append(item.args.args[-1], extra) for item in (test, step)]
    edits.append(site.append(result.elts[1].elts[-1], extra))
    space = site.space(call)
    for item in start.elts:
        if isinstance(item, ast.Name):
            edits.append(site.edit(item, f"{space}.identity({item.id})"))
    added = "".join(f", {space}.identity({name})" for name in names)
    last = start.elts[-1]
    if isinstance(last, ast.Name):
        edits[-1] = site.edit(last, f"{space}.identity({last.id}){added}")
    else:
        edits.append(site.append(last, added))
    return make_fix("carry the tensor through the loop", edits)


def fix_rows(site: Site) -> Fix | None:
    """Rows of a tensor: `sum(x)`, `F.concat(*x, dim=0)`, `F.stack(*[f(row) for row in x])`, `for row in x: ...`."""
    node = next((item for item in site.nodes if isinstance(item, ast.expr)), None)
    if node is None or not site.space(node):
        return None
    space, tensor, parent = site.space(node), site.text(node), site.parent(node)
    if isinstance(parent, ast.Call) and site.text(parent.func) == "sum" and len(parent.args) == 1:
        return make_fix("sum the first axis", [site.edit(parent, f"{space}.sum({tensor}, axis=0)")])
    if isinstance(parent, ast.Starred):
        return _joined(site, parent, tensor, space)
    if isinstance(parent, ast.comprehension) and parent.iter is node:
        return _mapped(site, parent, tensor, space)
    if isinstance(parent, ast.For) and parent.iter is node:
        return _folded(site, parent, tensor, space)
    return None


def _joined(site: Site, star: ast.Starred, rows: str, space: str) -> Fix | None:
    """An operator of all rows: `concat`, `stack`, `add_n`."""
    call = site.parent(star)
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or len(call.args) != 1:
        return None
    words = {word.arg: word.value for word in call.keywords}
    first = all(isinstance(value, ast.Constant) and value.value == 0 for value in words.values())
    name = call.func.attr
    if name == "concat" and set(words) == {"dim"} and first:
        text = f"{space}.reshape({rows}, shape=(-3, -2))"
    elif name == "stack" and set(words) <= {"axis"} and first:
        text = rows if rows.startswith(space) else f"{space}.identity({rows})"
    elif name in ("add_n", "ElementWiseSum") and not words:
        text = f"{space}.sum({rows}, axis=0)"
    else:
        return None
    return make_fix("use the rows where they are", [site.edit(call, text)])


def _mapped(site: Site, clause: ast.comprehension, tensor: str, space: str) -> Fix | None:
    """`[f(row) for row in x]` that is joined again."""
    listed = site.parent(clause)
    if not isinstance(listed, ast.ListComp | ast.GeneratorExp) or len(listed.generators) != 1 or clause.ifs:
        return None
    if not isinstance(clause.target, ast.Name):
        return None
    rows = foreach(space, clause.target.id, site.text(listed.elt), tensor)
    holder = site.parent(listed)
    if isinstance(holder, ast.Starred):
        return _joined(site, holder, rows, space)
    if isinstance(holder, ast.Call) and site.text(holder.func) == "sum" and len(holder.args) == 1:
        return make_fix("use `foreach`", [site.edit(holder, f"{space}.sum({rows}, axis=0)")])
    return None


def foreach(space: str, row: str, step: str, tensor: str) -> str:
    """What a step gives for every row, stacked."""
    return f"{space}.contrib.foreach(lambda {row}, states: ({step}, states), {tensor}, [])[0]"


def _folded(site: Site, loop: ast.For, tensor: str, space: str) -> Fix | None:
    """`for row in x: total = total + f(row)`, or a state that each row changes."""
    statement = loop.body[0]
    target: ast.expr
    if loop.orelse or len(loop.body) != 1 or not isinstance(loop.target, ast.Name):
        return None
    row = loop.target.id
    if isinstance(statement, ast.Expr):
        return _listed(site, loop, statement.value, tensor, space)
    if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add):
        target, step = statement.target, statement.value
        added: ast.expr | None = step
    elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target, step = statement.targets[0], statement.value
        added = _added(step, target)
    else:
        return None
    if not isinstance(target, ast.Name):
        return None
    name = target.id
    start = _start(site, loop, name)
    if added is not None and start is not None and isinstance(start.value, ast.Constant) and start.value.value == 0:
        total = f"{name} = {space}.sum({foreach(space, row, site.text(added), tensor)}, axis=0)"
        edits = [*site.removal(start), site.restated(loop, loop, total)]
        return make_fix("sum over the rows", edits)
    if start is None or not site.is_tensor(start.value) or isinstance(statement, ast.AugAssign):
        return None
    state = site.spliced(step, {x: "states[0]" for x in ast.walk(step) if isinstance(x, ast.Name) and x.id == name})
    text = f"{name} = {space}.contrib.foreach(lambda {row}, states: ([], [{state}]), {tensor}, [{name}])[1][0]"
    return make_fix("use `foreach`", [site.restated(loop, loop, text)])


def _listed(site: Site, loop: ast.For, call: ast.expr, tensor: str, space: str) -> Fix | None:
    """`for row in x: outs.append(f(row))`, where the list is only handed to an operator as `*outs`."""
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or len(call.args) != 1:
        return None
    name, function = site.text(call.func.value), site.function(loop)
    start = _start(site, loop, name)
    if call.func.attr != "append" or start is None or function is None or site.text(start.value) != "[]":
        return None
    reads = [
        item
        for item in ast.walk(function)
        if isinstance(item, ast.Name) and item.id == name and isinstance(item.ctx, ast.Load)
    ]
    if any(item is not call.func.value and not isinstance(site.parent(item), ast.Starred) for item in reads):
        return None
    assert isinstance(loop.target, ast.Name)
    rows = foreach(space, loop.target.id, site.text(call.args[0]), tensor)
    return make_fix("use `foreach`", [*site.removal(start), site.restated(loop, loop, f"{name} = {rows}")])


def _added(step: ast.expr, target: ast.expr) -> ast.expr | None:
    """What `total = total + x` adds."""
    if not isinstance(step, ast.BinOp) or not isinstance(step.op, ast.Add) or not isinstance(target, ast.Name):
        return None
    left, right = step.left, step.right
    if isinstance(left, ast.Name) and left.id == target.id:
        return right
    return left if isinstance(right, ast.Name) and right.id == target.id else None


def _start(site: Site, loop: ast.For, name: str) -> ast.Assign | None:
    """The statement before a loop that sets a name."""
    body = site.body_of(loop)
    for statement in reversed(body[: body.index(loop)] if loop in body else []):
        if isinstance(statement, ast.Assign) and [site.text(item) for item in statement.targets] == [name]:
            return statement
    return None


def fix_unpacking(site: Site) -> Fix | None:
    """`a, b = x`: `F.split` along the first axis."""
    node = next((item for item in site.nodes if isinstance(item, ast.expr)), None)
    statement = None if node is None else site.parent(node)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1 or not site.space(statement):
        return None
    target = statement.targets[0]
    if not isinstance(target, ast.Tuple | ast.List) or any(isinstance(item, ast.Starred) for item in target.elts):
        return None
    assert isinstance(node, ast.expr)
    parts = f"num_outputs={len(target.elts)}, axis=0, squeeze_axis=True"
    text = f"{site.space(statement)}.split({site.text(node)}, {parts})"
    return make_fix("use `split`", [site.edit(node, text)])
