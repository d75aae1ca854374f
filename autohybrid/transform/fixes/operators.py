"""Fixes of names that only arrays have: operators of `mx.nd`, methods, constants made from lists."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

from autohybrid.analysis.mxnet_names import operator_facts
from autohybrid.analysis.values import Namespace
from autohybrid.diagnostics.model import Edit, Fix
from autohybrid.transform.fixes.items import without_argument
from autohybrid.transform.fixes.lift import Lift, NotLiftableError
from autohybrid.transform.fixes.site import Site, make_fix, needs_brackets

_SIGNS = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "true_divide": "/",
    "modulo": "%",
    "equal": "==",
    "not_equal": "!=",
    "greater": ">",
    "greater_equal": ">=",
    "lesser": "<",
    "lesser_equal": "<=",
}
_LIMIT = 64
_MEANINGS = {"axis": ("dim", "axes"), "dim": ("axis", "axes"), "size": ("shape",), "min": ("a_min",), "max": ("a_max",)}
_CLOSEST = re.compile(r"did you mean `([\w.]+)`\?")
#: Operators of two tensors or of a number, which only a graph has, and what takes two tensors in both modes.
_GRAPH_ONLY = {"hypot": "broadcast_hypot", "pow": "broadcast_power"}


def fix_missing_operator(site: Site) -> Fix | None:
    """An operator that `mx.sym` lacks."""
    node = site.find(ast.Attribute)
    call = None if node is None else site.parent(node)
    if not isinstance(node, ast.Attribute) or not isinstance(call, ast.Call) or call.func is not node:
        return None
    space = site.space(node)
    text = _twin(site, node, call, space) if space else None
    return None if text is None else make_fix(f"write `{text.partition('(')[0] or text}`", [site.edit(call, text)])


def _twin(site: Site, node: ast.Attribute, call: ast.Call, space: str) -> str | None:
    name, arguments = node.attr, call.args
    if name == "concatenate" and arguments:
        axis = next((site.text(word.value) for word in call.keywords if word.arg == "axis"), "0")
        if len(arguments) > 1:
            axis = site.text(arguments[1])
        parts = arguments[0]
        listed = isinstance(parts, ast.List | ast.Tuple)
        inner = ", ".join(site.text(item) for item in parts.elts) if listed else f"*{site.text(parts)}"  # type: ignore[attr-defined]
        return f"{space}.concat({inner}, dim={axis})"
    if name == "array" and arguments:
        if site.is_tensor(arguments[0]):
            return f"{space}.identity({site.text(arguments[0])})"
        return constant_text(call, space)
    if name in _SIGNS and len(arguments) == 2 and any(site.is_number(item) for item in arguments):
        return _in_place_of(site, call, f"{_operand(site, arguments[0])} {_SIGNS[name]} {_operand(site, arguments[1])}")
    if name in ("isnan", "isinf", "isfinite") and len(arguments) == 1:
        x = _operand(site, arguments[0])
        forms = {
            "isnan": f"{x} != {x}",
            "isinf": f"{space}.abs({site.text(arguments[0])}) == float('inf')",
            "isfinite": f"{space}.abs({site.text(arguments[0])}) < float('inf')",
        }
        return _in_place_of(site, call, forms[name])
    if name == "moveaxis" and len(arguments) == 3:
        axes = [_number(item) for item in arguments[1:]]
        # The axis next to it: both change places, whatever the rank.
        if None not in axes and abs(axes[0] - axes[1]) == 1 and (axes[0] < 0) == (axes[1] < 0):  # type: ignore[operator]
            return site.spliced(call, {node: f"{space}.swapaxes"})
    if name == "empty":
        return site.spliced(call, {node: f"{space}.zeros"})
    return None


def _number(node: ast.expr) -> int | None:
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError):
        return None
    return value if type(value) is int else None


def _operand(site: Site, node: ast.expr) -> str:
    return f"({site.text(node)})" if needs_brackets(node) else site.text(node)


def _in_place_of(site: Site, node: ast.expr, text: str) -> str:
    """An operator's text where a call stood."""
    return text if isinstance(site.parent(node), ast.stmt | ast.Call | ast.keyword) else f"({text})"


def constant_text(call: ast.Call, space: str) -> str | None:
    """`array([[1, 2]])` of literal numbers with operators that a graph has; None for anything else."""
    if any(word.arg not in ("ctx", "dtype") for word in call.keywords) or len(call.args) != 1:
        return None
    if any(word.arg == "dtype" and ast.unparse(word.value) != "'float32'" for word in call.keywords):
        return None
    try:
        value = ast.literal_eval(call.args[0])
    except (ValueError, TypeError):
        return None
    shape, flat = _flat(value)
    if shape is None or not flat or len(flat) > _LIMIT:
        return None
    sizes = f"({shape[0]},)" if len(shape) == 1 else f"({', '.join(map(str, shape))})"
    if len(set(flat)) == 1:
        return f"{space}.full({sizes}, {flat[0]})"
    if all(isinstance(item, int) for item in flat) and flat == list(range(int(flat[0]), int(flat[0]) + len(flat))):
        text = f"{space}.arange({flat[0]}, {int(flat[-1]) + 1})"
    else:
        text = f"{space}.concat(*[{space}.full((1,), value) for value in {tuple(flat)}], dim=0)"
    return text if len(shape) == 1 else f"{space}.reshape({text}, shape={sizes})"


def _flat(value: object) -> tuple[tuple[int, ...] | None, list[int | float]]:
    """Shape and numbers of a nested list; no shape where it is ragged or holds anything else."""
    if type(value) in (int, float):
        return (), [value]  # type: ignore[list-item]
    if not isinstance(value, list | tuple) or not value:
        return None, []
    parts = [_flat(item) for item in value]
    shapes = {shape for shape, _ in parts}
    first = parts[0][0]
    if len(shapes) != 1 or first is None:
        return None, []
    return (len(value), *first), [number for _, numbers in parts for number in numbers]


def fix_array_in_graph(site: Site) -> Fix | None:
    """Arrays that the method makes with `mx.nd`: made with `F` instead."""
    node = next(iter(site.nodes), None)
    function = None if node is None else site.function(node)
    space = "" if node is None else site.space(node)
    if function is None or not space:
        return None
    seeds: dict[ast.AST, str] = {}
    for item in ast.walk(function):
        if not isinstance(item, ast.Call) or not isinstance(item.func, ast.Attribute):
            continue
        root = item.func.value
        while isinstance(root, ast.Attribute) and not _is_arrays(site, root):
            root = root.value
        if not _is_arrays(site, root) or site.text(root) == space:
            continue
        if item.func.attr == "array":
            text = constant_text(item, space)
            if text is None:
                return None
            seeds[item] = text
        else:
            seeds[item] = site.spliced(item, {root: space})
    if not seeds:
        return None
    # What is made so has a shape of its own: where it meets a tensor, the operator has to broadcast.
    try:
        edits = Lift(site, function, seeds, space).edits()
    except NotLiftableError:
        edits = [site.edit(item, text) for item, text in seeds.items()]
    return make_fix(f"make it with `{space}`", edits)


def _is_arrays(site: Site, node: ast.expr) -> bool:
    value = site.value(node)
    return isinstance(value, Namespace) and value.root == "nd" and not value.path


def fix_symbol_operator(site: Site) -> Fix | None:
    """`mx.sym.relu(x)`: `F.relu(x)`, for both modes."""
    for marked in site.nodes:
        call = marked if isinstance(marked, ast.Call) else site.parent(marked)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and site.space(call):
            root = call.func.value
            while isinstance(root, ast.Attribute) and root.attr not in ("sym", "symbol"):
                root = root.value
            return make_fix(f"use `{site.space(call)}`", [site.edit(root, site.space(call))])
    return None


def fix_unknown_operator(site: Site) -> Fix | None:
    """`F.softmaxx(x)`: the operator of the closest name. `F.hypot(x, y)`, which arrays lack: `F.broadcast_hypot`."""
    node = site.find(ast.Attribute)
    call = None if node is None else site.parent(node)
    if not isinstance(node, ast.Attribute) or not isinstance(call, ast.Call) or call.func is not node:
        return None
    found = _CLOSEST.search(site.finding.help)
    name = None if found is None else found[1].rpartition(".")[2]
    if node.attr == "full_like" and len(call.args) == 2 and not call.keywords and site.space(node):
        text = f"{site.space(node)}.ones_like({site.text(call.args[0])}) * {_operand(site, call.args[1])}"
        return make_fix("multiply ones", [site.edit(call, _in_place_of(site, call, text))])
    if name is None and not any(site.is_number(item) for item in call.args):
        name = _GRAPH_ONLY.get(node.attr)
    if name is None:
        return None
    return make_fix(f"write `{name}`", [_renamed(site, node, name)])


def _renamed(site: Site, node: ast.Attribute, name: str) -> Edit:
    span = site.file.text.span(node)
    return Edit(replace(span, line=span.end_line, column=span.end_column - len(node.attr)), name)


def fix_unknown_keyword(site: Site) -> Fix | None:
    """`F.softmax(x, axes=1)`: the keyword of the closest name."""
    word = site.find(ast.keyword)
    call = None if word is None else site.parent(word)
    if not isinstance(word, ast.keyword) or word.arg is None or not isinstance(call, ast.Call):
        return None
    found = _CLOSEST.search(site.finding.help)
    name = _keyword_of(site, call, word.arg) if found is None else found[1]
    if name is None or any(other.arg == name for other in call.keywords):
        return None
    span = site.file.text.span(word)
    edit = Edit(replace(span, end_line=span.line, end_column=span.column + len(word.arg)), name)
    return make_fix(f"write `{name}=`", [edit])


def _keyword_of(site: Site, call: ast.Call, word: str) -> str | None:
    """The one keyword of the operator that means what a word of another library means."""
    facts = operator_facts(site.text(call.func).partition(".")[2])
    meant = [name for name in _MEANINGS.get(word, ()) if facts is not None and name in facts.attrs]
    return meant[0] if len(meant) == 1 else None


def fix_positional_context(site: Site) -> Fix | None:
    """`F.ones((1, 6), mx.cpu())`: without the device."""
    call = site.find(ast.Call)
    if not isinstance(call, ast.Call) or len(call.args) < 2 or not isinstance(call.args[-1], ast.Call):
        return None
    gone = call.args[-1]
    if site.text(gone.func).rpartition(".")[2] not in ("cpu", "gpu", "cpu_pinned"):
        return None
    return make_fix("leave the device out", [without_argument(site, call, gone)])


def fix_method(site: Site) -> Fix | None:
    """A method that no tensor of a graph has, where an operator does the same."""
    node = site.find(ast.Attribute)
    call = None if node is None else site.parent(node)
    if not isinstance(node, ast.Attribute):
        return None
    field = _record_field(site, node)
    if field is not None:
        return make_fix("read the field by place", [site.edit(node, f"{site.text(node.value)}[{field}]")])
    if not isinstance(call, ast.Call) or call.func is not node:
        return None
    text = _method_text(site, node, call)
    return None if text is None else make_fix("use what a graph has", [site.edit(call, text)])


def _method_text(site: Site, node: ast.Attribute, call: ast.Call) -> str | None:
    tensor, space = site.text(node.value), site.space(node)
    texts = [site.text(item) for item in call.args]
    all_texts = ", ".join(texts)
    if call.keywords and node.attr != "tostype":
        return None
    target = f"({all_texts},)" if len(texts) == 1 else f"({all_texts})"
    if len(call.args) == 1 and isinstance(call.args[0], ast.Tuple | ast.List):
        target = all_texts
    match node.attr:
        case "unsqueeze" if len(texts) == 1:
            return f"{tensor}.expand_dims(axis={texts[0]})"
        case "view" if texts:
            return f"{tensor}.reshape({target})"
        case "permute" if texts:
            return f"{tensor}.transpose({target})"
        case "contiguous" | "as_in_context" | "as_in_ctx" | "cpu" | "cuda":
            return tensor
        case "float":
            return f"{tensor}.astype('float32')"
        case "copyto" if space:
            return f"{space}.identity({tensor})"
        case "tostype" if space:
            stype = next((site.text(word.value) for word in call.keywords if word.arg == "stype"), None)
            return f"{space}.cast_storage({tensor}, stype={texts[0] if texts else stype})"
        case "matmul" | "maximum" | "minimum" if space and len(texts) == 1:
            return f"{space}.{'dot' if node.attr == 'matmul' else f'broadcast_{node.attr}'}({tensor}, {texts[0]})"
        case "cumsum" | "erf" if space:
            return f"{space}.{node.attr}({', '.join([tensor, *texts])})"
    return None


def _record_field(site: Site, node: ast.Attribute) -> int | None:
    """The place of a field in the one named tuple of the file that has it."""
    found: list[int] = []
    for item in ast.walk(site.file.tree):
        fields: list[str] = []
        if isinstance(item, ast.Call) and site.text(item.func).endswith("namedtuple") and len(item.args) == 2:
            try:
                value = ast.literal_eval(item.args[1])
            except (ValueError, TypeError):
                continue
            fields = value.replace(",", " ").split() if isinstance(value, str) else list(value)
        elif isinstance(item, ast.ClassDef) and any(site.text(base).endswith("NamedTuple") for base in item.bases):
            fields = [
                part.target.id
                for part in item.body
                if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)
            ]
        if node.attr in fields:
            found.append(fields.index(node.attr))
    return found[0] if len(found) == 1 else None


def fix_dtype(site: Site) -> Fix | None:
    """`dtype=x.dtype`, `astype(x.dtype)`: float32, which tensors have unless cast."""
    node = site.find(ast.Attribute)
    parent = None if node is None else site.parent(node)
    if not isinstance(node, ast.Attribute) or node.attr != "dtype":
        return None
    given = isinstance(parent, ast.keyword) and parent.arg == "dtype"
    cast = (
        isinstance(parent, ast.Call)
        and isinstance(parent.func, ast.Attribute)
        and parent.func.attr in ("astype", "cast")
    )
    return make_fix("take float32", [site.edit(node, "'float32'")]) if given or cast else None


def fix_context(site: Site) -> Fix | None:
    """`ctx=x.context`: left out, as a graph places what it makes; `as_in_context` likewise."""
    node = site.find((ast.Attribute, ast.Call))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return make_fix("leave the device out", [site.edit(node, site.text(node.func.value))])
    word = None if node is None else site.parent(node)
    call = None if word is None else site.parent(word)
    if isinstance(word, ast.keyword) and isinstance(call, ast.Call):
        return make_fix("leave the device out", [without_argument(site, call, word)])
    if isinstance(word, ast.Call) and isinstance(word.func, ast.Attribute) and word.func.attr.startswith("as_in"):
        return make_fix("leave the device out", [site.edit(word, site.text(word.func.value))])
    return None
