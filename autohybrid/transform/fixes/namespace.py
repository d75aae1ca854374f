"""Fixes that give a function the namespace `F`: as an argument of a helper, or by making `forward` a hybrid method."""

from __future__ import annotations

import ast

from autohybrid.diagnostics.model import Edit, Fix
from autohybrid.spans import Span
from autohybrid.transform.fixes.site import SAFE, FunctionNode, Site, is_receiver, make_fix

_ARRAYS = frozenset({"nd", "mx.nd", "mxnet.nd", "mx.ndarray", "mxnet.ndarray", "ndarray", "F"})


def take_namespace(site: Site, node: ast.AST, name: str, seen: frozenset[ast.AST] = frozenset()) -> list[Edit] | None:
    """The edits that give the function around `node` the argument `name`, at its `def` and at every call."""
    function = site.function(node)
    if function is None or function in seen or any(item.arg == name for item in function.args.args):
        return [] if function in seen else None
    owner = site.parent(function)
    if isinstance(owner, ast.ClassDef) and function.name == "forward":
        return _make_hybrid(site, owner, function, name)
    static = isinstance(owner, ast.ClassDef) and "staticmethod" in {ast.unparse(d) for d in function.decorator_list}
    calls = _calls(site, function, isinstance(owner, ast.ClassDef))
    if not calls or function.args.vararg is not None:
        return None
    edits = [_add_argument(site, function, name, skip=isinstance(owner, ast.ClassDef) and not static)]
    for call in calls:
        space = Site(site.file, site.finding).space(call)
        if not space:
            more = take_namespace(site, call, name, seen | {function})
            if more is None:
                return None
            edits += [edit for edit in more if edit not in edits]
        edits.append(_add_to_call(site, call, space or name))
    return edits


def _calls(site: Site, function: FunctionNode, is_method: bool) -> list[ast.Call] | None:
    """Every call of a function in the file; None when it is used in another way."""
    found: list[ast.Call] = []
    for node in ast.walk(site.file.tree):
        used = node.attr if is_method and isinstance(node, ast.Attribute) and is_receiver(site, node.value) else ""
        if not is_method and isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            used = node.id
        if used == function.name:
            call = site.parent(node)
            if not isinstance(call, ast.Call) or call.func is not node:
                return None
            found.append(call)
    return found


def _add_argument(site: Site, function: FunctionNode, name: str, *, skip: bool) -> Edit:
    arguments = function.args.args
    if skip and arguments:
        return site.append(arguments[0], f", {name}")
    if arguments:
        return site.insert(arguments[0], f"{name}, ")
    return _after_bracket(site, function, function.lineno, f"{name}")


def _add_to_call(site: Site, call: ast.Call, name: str) -> Edit:
    first = min([*call.args, *[word.value for word in call.keywords]], key=lambda item: item.lineno, default=None)
    if call.args:
        return site.insert(call.args[0], f"{name}, ")
    text = f"{name}, " if first is not None else name
    end = site.file.text.span(call.func)
    return Edit(Span(end.path, end.end_line, end.end_column + 1, end.end_line, end.end_column + 1), text)


def _after_bracket(site: Site, function: FunctionNode, line: int, text: str) -> Edit:
    column = site.file.text.line(line).index("(", function.col_offset) + 2
    return Edit(Span(site.file.path, line, column, line, column), text)


def _make_hybrid(site: Site, owner: ast.ClassDef, function: FunctionNode, name: str) -> list[Edit] | None:
    """`forward(self, x)` becomes `hybrid_forward(self, F, x)`, and the class a HybridBlock."""
    if any(isinstance(item, FunctionNode) and item.name == "hybrid_forward" for item in owner.body):
        return None
    base = _hybrid_base(site, owner)
    arguments = function.args.args
    if base is None or not arguments:
        return None
    line = site.file.text.line(function.lineno)
    column = line.index("forward", function.col_offset) + 1
    renamed = Edit(Span(site.file.path, function.lineno, column, function.lineno, column), "hybrid_")
    return [*base, renamed, site.append(arguments[0], f", {name}")]


def _hybrid_base(site: Site, owner: ast.ClassDef) -> list[Edit] | None:
    """Edits that make a class derive from HybridBlock, none where it does; None where it derives from neither."""
    texts = [site.text(base) for base in owner.bases]
    if any(text.endswith("HybridBlock") for text in texts):
        return []
    for base, text in zip(owner.bases, texts):
        prefix, _, last = text.rpartition(".")
        if last == "Block":
            if prefix:
                return [site.edit(base, f"{prefix}.HybridBlock")]
            return [site.edit(base, "HybridBlock"), *_import(site)]
    return None


def _import(site: Site) -> list[Edit]:
    """Import HybridBlock from where Block comes from, where the file does not have it yet."""
    for node in site.file.tree.body:
        if isinstance(node, ast.ImportFrom):
            names = {alias.name for alias in node.names}
            if "HybridBlock" in names:
                return []
    for node in site.file.tree.body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if alias.name == "Block":
                    return [site.append(alias, ", HybridBlock")]
    return []


def fix_plain_child(site: Site) -> Fix | None:
    """`nn.Sequential()` becomes `nn.HybridSequential()`; a class of the file becomes a HybridBlock."""
    for marked in site.nodes:
        statement = site.statement(marked)
        for node in ast.walk(statement or marked):
            if not isinstance(node, ast.Call):
                continue
            text = site.text(node.func)
            prefix, _, last = text.rpartition(".")
            if last == "Sequential":
                new = f"{prefix}.HybridSequential" if prefix else "HybridSequential"
                return make_fix("use `HybridSequential`", [site.edit(node.func, new)], SAFE)
            found = [item for item in site.file.tree.body if isinstance(item, ast.ClassDef) and item.name == text]
            for owner in found:
                method = next((x for x in owner.body if isinstance(x, FunctionNode) and x.name == "forward"), None)
                edits = None if method is None else _make_hybrid(site, owner, method, "F")
                if edits:
                    return make_fix(f"make `{owner.name}` a HybridBlock", edits)
    return None


def fix_array_operator(site: Site) -> Fix | None:
    """`nd.softmax(x)` on a tensor of the graph: `F.softmax(x)`; `nd.array(x)`: `F.identity(x)`."""
    node = site.find((ast.Call, ast.Attribute))
    call = site.parent(node) if isinstance(node, ast.Attribute) else node
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return None
    space = site.space(call)
    root: ast.expr = call.func
    path: list[str] = []
    while isinstance(root, ast.Attribute) and site.text(root) not in _ARRAYS:
        path.insert(0, root.attr)
        root = root.value
    if site.text(root) not in _ARRAYS or not path or not space:
        return None
    rebinding = _rebinding(site, call, space)
    if rebinding is not None:
        return make_fix(f"keep `{space}`", site.removal(rebinding))
    if path == ["array"] and call.args:
        return make_fix("keep the tensor", [site.edit(call, f"{space}.identity({site.text(call.args[0])})")])
    if site.text(root) == space:
        # The name of the module is the one the argument takes: the argument is all that is missing.
        return make_fix("take the namespace as an argument", [])
    return make_fix(f"use `{space}`", [site.edit(root, space)])


def _rebinding(site: Site, node: ast.AST, space: str) -> ast.Assign | None:
    """`F = mx.nd` in the function."""
    function = site.function(node)
    for item in ast.walk(function) if function is not None else ():
        if isinstance(item, ast.Assign) and [site.text(target) for target in item.targets] == [space]:
            return item
    return None
