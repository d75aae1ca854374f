"""Fixes at the level of a block: parameters, children, random numbers and results."""

from __future__ import annotations

import ast
import re

from autohybrid.diagnostics.model import Edit, Fix
from autohybrid.spans import Span
from autohybrid.transform.fixes.lift import Lift, NotLiftableError
from autohybrid.transform.fixes.site import FunctionNode, Site, make_fix

_FLAG = re.compile(r"used only when `(self\.\w+)` is set")


def fix_parameter_data(site: Site) -> Fix | None:
    """`self.weight.data()`: the argument `weight`."""
    call = site.find(ast.Call)
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return None
    parameter = call.func.value
    method = site.function(call)
    if not isinstance(parameter, ast.Attribute) or site.text(parameter.value) != "self" or method is None:
        return None
    if method.name != "hybrid_forward" or method.args.kwarg is not None or method.args.vararg is not None:
        return None
    name, edits = parameter.attr, []
    if all(argument.arg != name for argument in (*method.args.args, *method.args.kwonlyargs)):
        if name in site.names_in(method):
            return None
        edits.append(_added_argument(site, method, name))
    return make_fix(f"take `{name}` as an argument", [*edits, site.edit(call, name)])


def fix_parameter_operand(site: Site) -> Fix | None:
    """`F.dot(x, self.weight)`: the argument `weight`."""
    for marked in site.nodes:
        for node in ast.walk(marked):
            parent = site.parent(node)
            method = site.function(node)
            if not isinstance(node, ast.Attribute) or site.text(node.value) != "self" or method is None:
                continue
            names = [argument.arg for argument in method.args.args]
            if node.attr in names and not isinstance(parent, ast.Attribute):
                return make_fix(f"use the argument `{node.attr}`", [site.edit(node, node.attr)])
    return None


def fix_missing_argument(site: Site) -> Fix | None:
    """A parameter that `hybrid_forward` does not take: taken, as gluon passes every parameter of the block."""
    span = site.finding.span
    for item in ast.walk(site.file.tree):
        if isinstance(item, FunctionNode) and item.lineno == span.line and item.args.args:
            name = re.search(r" as `(\w+)`, which", site.finding.message)
            if name is None or item.args.vararg is not None:
                return None
            return make_fix(f"take `{name[1]}`", [_added_argument(site, item, name[1])])
    return None


def fix_keyword_input(site: Site) -> Fix | None:
    """`self.fc(x=x)`: the input by place."""
    call = site.find(ast.Call)
    if not isinstance(call, ast.Call) or len(call.keywords) != 1 or call.args or call.keywords[0].arg is None:
        return None
    word = call.keywords[0]
    return make_fix("pass the input by place", [site.edit(word, site.text(word.value))])


def fix_missing_super(site: Site) -> Fix | None:
    """A constructor without `super().__init__()`, or with it too late: called first."""
    span = site.finding.span
    for item in ast.walk(site.file.tree):
        inside = isinstance(item, FunctionNode) and item.lineno <= span.line <= (item.end_lineno or item.lineno)
        if not inside or not isinstance(item, FunctionNode) or item.name != "__init__":
            continue
        first = item.body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and len(item.body) > 1:
            first = item.body[1]
        late = next((x for x in item.body if isinstance(x, ast.Expr) and _is_super_call(x.value)), None)
        text = "super().__init__()" if late is None else site.text(late)
        gone = () if late is None else site.removal(late)
        return make_fix("call `super().__init__()` first", [site.insert(first, f"{text}\n{site.indent(first)}"), *gone])
    return None


def _is_super_call(node: ast.expr) -> bool:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "__init__":
        return False
    inner = node.func.value
    return isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name) and inner.func.id == "super"


def _added_argument(site: Site, method: FunctionNode, name: str) -> Edit:
    if method.args.defaults:
        return site.append(method.args.defaults[-1], f", {name}=None")
    return site.append(method.args.args[-1], f", {name}")


def fix_parameter_shape(site: Site) -> Fix | None:
    """`weight.shape` of the block's own parameter: `self.weight.shape`, known before the graph."""
    node = site.find(ast.Attribute)
    owner = None if node is None else site.owner(node)
    method = None if node is None else site.function(node)
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name) or owner is None or method is None:
        return None
    name = node.value.id
    if node.attr != "shape" or method.name != "hybrid_forward" or not _is_parameter(site, owner, name):
        return None
    return make_fix(f"read the shape of `self.{name}`", [site.edit(node, f"self.{name}.shape")])


def _is_parameter(site: Site, owner: ast.ClassDef, name: str) -> bool:
    for item in ast.walk(owner):
        if isinstance(item, ast.Assign) and [site.text(target) for target in item.targets] == [f"self.{name}"]:
            value = item.value
            if isinstance(value, ast.Call) and site.text(value.func).endswith(
                (".params.get", "Parameter", "get_constant")
            ):
                return True
    return False


def fix_unused_child(site: Site) -> Fix | None:
    """A child made for nothing: made under its flag, or not at all."""
    node = next(iter(site.nodes), None)
    statement = None if node is None else site.statement(node)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    flag = _FLAG.search(site.finding.message)
    if flag is not None:
        return make_fix(f"make it under `{flag[1]}`", [site.append(statement.value, f" if {flag[1]} else None")])
    return None


def fix_random(site: Site) -> Fix | None:
    """`random.random()`: a random number of the graph."""
    call = site.find(ast.Call)
    function = None if call is None else site.function(call)
    if not isinstance(call, ast.Call) or function is None or not site.space(call) or call.keywords:
        return None
    space, name = site.space(call), site.text(call.func).rpartition(".")[2]
    arguments = [site.text(item) for item in call.args]
    if name in ("random", "rand", "random_sample") and not arguments:
        drawn = f"{space}.random.uniform(0, 1, shape=(1,))"
    elif name == "uniform" and len(arguments) in (0, 2):
        drawn = f"{space}.random.uniform({', '.join(arguments) or '0, 1'}, shape=(1,))"
    elif name in ("gauss", "normalvariate", "normal", "randn") and len(arguments) in (0, 2):
        drawn = f"{space}.random.normal({', '.join(arguments) or '0, 1'}, shape=(1,))"
    else:
        return None
    try:
        return make_fix("draw in the graph", Lift(site, function, {call: drawn}, space, decides=True).edits())
    except NotLiftableError:
        return None


def fix_constant_result(site: Site) -> Fix | None:
    """A result that no input takes part in: an input takes part with nothing."""
    statement = site.find(ast.Return)
    method = None if statement is None else site.function(statement)
    if not isinstance(statement, ast.Return) or method is None or statement.value is None:
        return None
    names = [argument.arg for argument in method.args.args]
    space = site.space(statement)
    if len(names) < 3 or not site.is_tensor(statement.value):
        return None
    text = f"{space}.broadcast_add({site.text(statement.value)}, {space}.sum({names[2]}) * 0)"
    return make_fix("let an input take part", [site.edit(statement.value, text)])


def fix_unregistered(site: Site) -> Fix | None:
    """`self.layers = [nn.Dense(3), ...]`: every block in it registered at the end of the constructor."""
    statement = site.find((ast.Assign, ast.AnnAssign)) or next(iter(site.nodes), None)
    statement = None if statement is None else site.statement(statement)
    constructor = None if statement is None else site.function(statement)
    if statement is None or not isinstance(constructor, FunctionNode) or constructor.name != "__init__":
        return None
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    if len(targets) != 1 or not isinstance(targets[0], ast.Attribute) or site.text(targets[0].value) != "self":
        return None
    field, value = site.text(targets[0]), getattr(statement, "value", None)
    if isinstance(value, ast.Dict | ast.DictComp):
        blocks = f"{field}.values()"
    elif isinstance(value, ast.List | ast.Tuple | ast.ListComp):
        parts = value.elts if isinstance(value, ast.List | ast.Tuple) else [value.elt]
        if any(isinstance(part, ast.List | ast.Tuple | ast.ListComp | ast.Starred) for part in parts):
            return None
        blocks = field
    else:
        return None
    name, last = site.free_name("child", statement), constructor.body[-1]
    indent = site.indent(constructor.body[0])
    end = last.end_lineno or last.lineno
    at = len(site.file.text.line(end)) + 1
    text = f"\n{indent}for {name} in {blocks}:\n{indent}    self.register_child({name})"
    return make_fix("register the blocks", [Edit(Span(site.file.path, end, at, end, at), text)])


def fix_none_result(site: Site) -> Fix | None:
    """`return y, None`: what there is of it; for an argument that may be None, decided by that argument."""
    statement = site.find(ast.Return)
    method = None if statement is None else site.function(statement)
    if not isinstance(statement, ast.Return) or method is None or not isinstance(statement.value, ast.Tuple):
        return None
    optional = _optional_arguments(method)
    items = [x for x in statement.value.elts if not (isinstance(x, ast.Constant) and x.value is None)]
    doubtful = [x for x in items if isinstance(x, ast.Name) and x.id in optional]
    sure = [x for x in items if x not in doubtful]
    if not sure or len(doubtful) > 1 or (not doubtful and len(items) == len(statement.value.elts)):
        return None
    text = _listed([site.text(x) for x in sure])
    if doubtful:
        text = f"{text} if {site.text(doubtful[0])} is None else ({', '.join(site.text(x) for x in items)})"
    return make_fix("return the tensors there are", [site.edit(statement.value, text)])


def _optional_arguments(method: FunctionNode) -> set[str]:
    """The arguments that are None unless given."""
    with_default = zip(reversed(method.args.args), reversed(method.args.defaults))
    found = {a.arg for a, default in with_default if isinstance(default, ast.Constant) and default.value is None}
    return found - {x.id for x in ast.walk(method) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)}


def _listed(texts: list[str]) -> str:
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"
