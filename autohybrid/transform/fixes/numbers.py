"""Fixes that turn a number taken from a tensor, or from its shape, into a tensor of one element (see `lift`)."""

from __future__ import annotations

import ast

from autohybrid.analysis.values import tensors_in
from autohybrid.diagnostics.model import Fix
from autohybrid.transform.fixes.lift import Lift, NotLiftableError
from autohybrid.transform.fixes.site import Site, make_fix

_TAKES_A_VALUE = frozenset({"asscalar", "item", "asnumpy"})
_REDUCTIONS = frozenset("sum mean max min prod norm nansum nanprod".split())


def fix_host_value(site: Site) -> Fix | None:
    """`x.asscalar()`, `float(x)`, `x.asnumpy()` used in arithmetic: `F.stop_gradient(x)`, as no gradient passed."""
    node = site.find(ast.Call)
    if not isinstance(node, ast.Call):
        return None
    if isinstance(node.func, ast.Attribute) and node.func.attr in _TAKES_A_VALUE and not node.args:
        inner = node.func.value
    elif isinstance(node.func, ast.Name) and node.func.id in ("float", "int") and len(node.args) == 1:
        inner = node.args[0]
    else:
        return None
    function, space = site.function(node), site.space(node)
    if function is None or not space:
        return None
    tensor = site.text(inner)
    if not _has_one_axis(site, inner):
        tensor = f"{space}.reshape({tensor}, shape=(-1,))"
    text = f"{space}.stop_gradient({tensor})"
    if isinstance(node.func, ast.Name) and node.func.id == "int":
        text = f"{space}.fix({text})"
    return _lifted(site, node, text, space, "keep the value in the graph", decides=True)


def fix_shape_number(site: Site) -> Fix | None:
    """`x.shape[i]`, `x.size`, `len(x)` used in arithmetic: the number as a tensor, from the shape at run time."""
    node = site.find((ast.Attribute, ast.Call))
    if isinstance(node, ast.Call):
        if not isinstance(node.func, ast.Name) or node.func.id != "len" or len(node.args) != 1:
            return None
        seed: ast.expr = node
        inner, index = node.args[0], "0"
    elif isinstance(node, ast.Attribute):
        inner, parent = node.value, site.parent(node)
        if node.attr == "size":
            index, seed = "", node
        elif node.attr == "shape" and isinstance(parent, ast.Subscript) and parent.value is node:
            index, seed = site.text(parent.slice), parent
        else:
            return None
    else:
        return None
    function, space = site.function(node), site.space(node)
    if function is None or not space:
        return None
    return _lifted(site, seed, size_text(space, site.text(inner), index), space, "take the size in the graph")


def size_text(space: str, tensor: str, index: str) -> str:
    """The size of one axis, or of all for an empty index, as a tensor of shape (1,)."""
    if not index:
        return f"{space}.cast({space}.size_array({tensor}), dtype='float32')"
    end = "None" if index == "-1" else str(int(index) + 1) if index.lstrip("-").isdigit() else f"({index} + 1) or None"
    sizes = f"{space}.slice_axis({space}.shape_array({tensor}), axis=0, begin={index}, end={end})"
    return f"{space}.cast({sizes}, dtype='float32')"


def _lifted(site: Site, node: ast.expr, text: str, space: str, message: str, *, decides: bool = False) -> Fix | None:
    function = site.function(node)
    if function is None:
        return None
    try:
        return make_fix(message, Lift(site, function, {node: text}, space, decides=decides).edits())
    except NotLiftableError:
        return None


def _has_one_axis(site: Site, node: ast.expr) -> bool:
    """Whether a tensor certainly has the shape (1,): a reduction over all axes, or known so."""
    tensor, _ = tensors_in(site.value(node))
    if tensor is not None and tensor.shape == (1,):
        return True
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _REDUCTIONS:
        on_space = site.is_namespace(node.func.value)
        return not node.keywords and len(node.args) == (1 if on_space else 0)
    return False
