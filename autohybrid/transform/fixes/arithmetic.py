"""Fixes of Python's and NumPy's functions and operators on tensors: the operator of the namespace."""

from __future__ import annotations

import ast

from autohybrid.analysis.values import Seq
from autohybrid.diagnostics.model import Fix
from autohybrid.transform.fixes.branches import condition_text
from autohybrid.transform.fixes.operators import constant_text
from autohybrid.transform.fixes.site import SAFE, Site, make_fix

_SAME_NAME = frozenset(
    "sqrt exp log log2 log10 log1p expm1 sin cos tan sinh cosh tanh arcsin arccos arctan arcsinh arccosh arctanh floor "
    "ceil rint trunc fix square sign cbrt degrees radians reciprocal negative abs".split()
)
_OTHER_NAME = {"absolute": "abs", "fabs": "abs", "power": "broadcast_power", "add": "broadcast_add"} | {
    "subtract": "broadcast_sub",
    "multiply": "broadcast_mul",
    "divide": "broadcast_div",
    "maximum": "broadcast_maximum",
    "minimum": "broadcast_minimum",
}
_DOT = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div"}


def fix_numpy(site: Site) -> Fix | None:
    """`np.exp(x)`: `F.exp(x)`."""
    call = site.find(ast.Call)
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.keywords:
        return None
    space, name = site.space(call), call.func.attr
    tensors = all(site.is_tensor(item) for item in call.args)
    new = name if name in _SAME_NAME and len(call.args) == 1 else _OTHER_NAME.get(name, "")
    if not space or not new or not tensors:
        return None
    return make_fix(f"use `{space}.{new}`", [site.edit(call.func, f"{space}.{new}")])


def fix_extreme(site: Site) -> Fix | None:
    """`max(x, y)`: `F.broadcast_maximum(x, y)`."""
    call = site.find(ast.Call)
    if not isinstance(call, ast.Call) or len(call.args) != 2 or call.keywords or not site.space(call):
        return None
    name = {"max": "maximum", "min": "minimum"}.get(site.text(call.func))
    if name is None:
        return None
    broadcast = "broadcast_" if all(site.is_tensor(item) for item in call.args) else ""
    new = f"{site.space(call)}.{broadcast}{name}"
    return make_fix(f"use `{new}`", [site.edit(call.func, new)])


def fix_chain(site: Site) -> Fix | None:
    """`a < x < b` as a value: the logical and of its links."""
    node = next((item for item in site.nodes if isinstance(item, ast.expr)), None)
    while node is not None and not isinstance(node, ast.Compare):
        above = site.parent(node)
        node = above if isinstance(above, ast.expr) else None
    if node is None or len(node.ops) < 2 or not site.space(node):
        return None
    text = condition_text(site, node, site.space(node))
    return None if text is None else make_fix("join the comparisons", [site.edit(node, text)])


def fix_matrix_product(site: Site) -> Fix | None:
    """`x @ y`: `F.dot(x, y)`."""
    node = site.find(ast.BinOp)
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.MatMult) or not site.space(node):
        return None
    space = site.space(node)
    text = f"{space}.dot({site.text(node.left)}, {site.text(node.right)})"
    return make_fix(f"use `{space}.dot`", [site.edit(node, text)])


def fix_list_operand(site: Site) -> Fix | None:
    """`x * [1, 2]`: the list as a constant of the graph."""
    node = site.find(ast.BinOp)
    if not isinstance(node, ast.BinOp) or not site.space(node):
        return None
    operator, space = _DOT.get(type(node.op)), site.space(node)
    sides = [site.text(node.left), site.text(node.right)]
    for place, side in enumerate((node.left, node.right)):
        if isinstance(side, ast.List | ast.Tuple):
            constant = constant_text(ast.Call(side, [side], []), space)
            if constant is None or operator is None:
                return None
            sides[place] = constant
            text = f"{space}.broadcast_{operator}({', '.join(sides)})"
            return make_fix("make a constant of the list", [site.edit(node, text)])
    return None


def fix_output_index(site: Site) -> Fix | None:
    """`F.split(...)[-1]`: the same output counted from the front."""
    node = site.find(ast.Subscript)
    if not isinstance(node, ast.Subscript):
        return None
    outputs = site.value(node.value)
    try:
        index = ast.literal_eval(node.slice)
    except (ValueError, TypeError):
        return None
    if not isinstance(outputs, Seq) or outputs.items is None or type(index) is not int or index >= 0:
        return None
    return make_fix("count from the front", [site.edit(node.slice, str(len(outputs.items) + index))], SAFE)


def fix_multinomial(site: Site) -> Fix | None:
    """`F.random.multinomial`: `F.sample_multinomial`, which gives the same in both modes."""
    call = site.find(ast.Call)
    if not isinstance(call, ast.Call) or not site.text(call.func).endswith(".random.multinomial"):
        return None
    new = site.text(call.func).removesuffix(".random.multinomial") + ".sample_multinomial"
    return make_fix("use `sample_multinomial`", [site.edit(call.func, new)])
