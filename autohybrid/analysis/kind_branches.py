"""Branches that tell arrays from symbols: do both sides compute the same?

`if isinstance(x, NDArray): check(x)` is honest as long as the branch only checks. One that computes something else than
the other side makes the hybridized block another function. The two sides are compared by the operators they use, apart
from those that only arrange (`reshape`, `slice_like`, ...), which commonly have another spelling on each side.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from autohybrid.analysis.events import EventKind
from autohybrid.analysis.frame import Frame
from autohybrid.analysis.kinds import ARRAY_CLASS, GRAPH_CLASS, class_names
from autohybrid.analysis.mxnet_names import method_facts
from autohybrid.analysis.nodes import walk_nodes
from autohybrid.analysis.values import Namespace, tensors_in
from autohybrid.diagnostics.model import Confidence

_ARRANGING = frozenset(
    "reshape reshape_like broadcast_like broadcast_to broadcast_axis slice_like slice_axis slice expand_dims squeeze "
    "transpose swapaxes flatten zeros_like ones_like zeros ones full arange arange_like shape_array size_array cast "
    "astype as_in_context identity split tile repeat stack concat concatenate wait_to_read asnumpy asscalar format "
    "join append extend isinstance hasattr getattr len range tuple list int float str max min print warning".split()
)


def check_kind_branch(frame: Frame, node: ast.If, rest: Sequence[ast.stmt]) -> None:
    """Report an `if` on the kind of tensor whose sides compute different things; `rest` follows the `if`."""
    array_first = _array_side(frame, node.test)
    if array_first is None:
        return
    mine, other = (node.body, node.orelse) if array_first else (node.orelse, node.body)
    leaves = any(isinstance(statement, ast.Return) for statement in mine)
    if not leaves and not _assigns(mine):
        return
    if leaves and not other:
        other = list(rest)
    operations = _operations(mine)
    if operations and operations != _operations(other):
        frame.report(EventKind.TYPE_TEST, node.test, name="kind", subject=node.test, confidence=Confidence.LIKELY)


def check_kind_choice(frame: Frame, node: ast.IfExp) -> None:
    """Report `a if <kind> else b` whose sides compute different things."""
    if _array_side(frame, node.test) is None:
        return
    first, second = (_operations([ast.Expr(side)]) for side in (node.body, node.orelse))
    if first and second and first != second:
        frame.report(EventKind.TYPE_TEST, node.test, name="kind", subject=node.test, confidence=Confidence.LIKELY)


def _array_side(frame: Frame, test: ast.expr) -> bool | None:
    """True when the test holds for arrays, False when it holds for symbols, None for any other test."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _array_side(frame, test.operand)
        return None if inner is None else not inner
    if isinstance(test, ast.Call) and len(test.args) == 2:
        name = getattr(test.func, "id", "")
        if name == "isinstance":
            return _instance_side(frame, test.args[0], test.args[1])
        return _attribute_side(frame, test.args[0], test.args[1]) if name == "hasattr" else None
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Is | ast.Eq):
        return _namespace_side(frame, test)
    return None


def _instance_side(frame: Frame, tensor: ast.expr, classes: ast.expr) -> bool | None:
    quiet, frame.quiet = frame.quiet, True
    value, names = frame.eval(tensor), class_names(frame.eval(classes))
    frame.quiet = quiet
    found, _ = tensors_in(value)
    if found is None or not found.graph:
        return None
    return {frozenset({ARRAY_CLASS}): True, frozenset({GRAPH_CLASS}): False}.get(names)


def _attribute_side(frame: Frame, tensor: ast.expr, name: ast.expr) -> bool | None:
    quiet, frame.quiet = frame.quiet, True
    found, _ = tensors_in(frame.eval(tensor))
    frame.quiet = quiet
    if found is None or not found.graph or not isinstance(name, ast.Constant):
        return None
    facts = method_facts()
    if name.value in facts.array_only:
        return True
    return False if name.value in facts.graph_only else None


def _namespace_side(frame: Frame, test: ast.Compare) -> bool | None:
    quiet, frame.quiet = frame.quiet, True
    sides = (frame.eval(test.left), frame.eval(test.comparators[0]))
    frame.quiet = quiet
    roots = [side.root for side in sides if isinstance(side, Namespace) and not side.path]
    if len(roots) != 2 or "F" not in roots:
        return None
    other = roots[0] if roots[1] == "F" else roots[1]
    return {"nd": True, "sym": False}.get(other)


def _assigns(body: Iterable[ast.stmt]) -> bool:
    return any(isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign) for statement in body)


def _operations(body: Iterable[ast.stmt]) -> frozenset[str]:
    """The names of the functions called and of the arithmetic used, apart from what only arranges or checks."""
    names: set[str] = set()
    for statement in body:
        if isinstance(statement, ast.Raise | ast.Assert):
            continue
        for node in walk_nodes(statement):
            if isinstance(node, ast.Call):
                function = node.func
                name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
                names.add(name.lower())
            elif isinstance(node, ast.BinOp):
                names.add(type(node.op).__name__)
    return frozenset(names - _ARRANGING - {""})
