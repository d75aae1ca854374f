"""Which expressions are certainly Python values while a graph is built, so that lowering leaves them alone.

Only readability depends on this: what is not recognised here is dispatched on its real value when the graph is built.
"""

from __future__ import annotations

from collections.abc import Collection

import libcst as cst

_STATIC_CALLS = frozenset(
    [
        "len",
        "isinstance",
        "issubclass",
        "hasattr",
        "callable",
        "type",
        "range",
        "enumerate",
        "str",
        "repr",
        "id",
        "is_training",
        "is_recording",
    ]
)
_STATIC_ATTRIBUTES = frozenset(("shape ndim size dtype context ctx stype ").split())
_IDENTITY = (cst.Is, cst.IsNot, cst.In, cst.NotIn)


def is_static(node: cst.BaseExpression, names: Collection[str] = ()) -> bool:
    """Whether `node` is certainly no tensor; `names` are local variables known to hold Python values."""
    if isinstance(node, (cst.Integer, cst.Float, cst.SimpleString, cst.ConcatenatedString, cst.FormattedString)):
        return True
    if isinstance(node, cst.Name):
        return node.value in ("True", "False", "None", "self") or node.value in names
    if isinstance(node, cst.Attribute):
        return node.attr.value in _STATIC_ATTRIBUTES or is_static(node.value, names)
    if isinstance(node, cst.Call):
        return _called_name(node) in _STATIC_CALLS
    if isinstance(node, cst.Subscript):
        return is_static(node.value, names)
    if isinstance(node, cst.UnaryOperation):
        return is_static(node.expression, names)
    if isinstance(node, (cst.BinaryOperation, cst.BooleanOperation)):
        return is_static(node.left, names) and is_static(node.right, names)
    if isinstance(node, cst.Comparison):
        if all(isinstance(c.operator, _IDENTITY) for c in node.comparisons):
            return True
        return is_static(node.left, names) and all(is_static(c.comparator, names) for c in node.comparisons)
    return isinstance(node, (cst.Tuple, cst.List))


def static_names(function: cst.FunctionDef) -> frozenset[str]:
    """Local variables whose every assignment is a static expression (loop counters, configuration)."""
    finder = _Assignments()
    function.body.visit(finder)
    known: set[str] = set()
    for _ in range(3):  # a chain of assignments settles in a few rounds; what does not is dispatched dynamically
        known = {
            name
            for name, values in finder.values.items()
            if values and all(v is not None and is_static(v, known) for v in values)
        }
    return frozenset(known)


class _Assignments(cst.CSTVisitor):
    """Every value that each local name is assigned; None for one that cannot be followed."""

    def __init__(self) -> None:
        self.values: dict[str, list[cst.BaseExpression | None]] = {}

    def visit_Assign(self, node: cst.Assign) -> None:
        for target in node.targets:
            if isinstance(target.target, cst.Name):
                self._add(target.target.value, node.value)
            else:
                self._unknown(target.target)

    def visit_AnnAssign(self, node: cst.AnnAssign) -> None:
        self._unknown(node.target)

    def visit_AugAssign(self, node: cst.AugAssign) -> None:
        if isinstance(node.target, cst.Name):
            self._add(node.target.value, node.value)

    def visit_For(self, node: cst.For) -> None:
        if isinstance(node.target, cst.Name) and isinstance(node.iter, cst.Call) and _called_name(node.iter) == "range":
            self._add(node.target.value, cst.Integer("0"))
        else:
            self._unknown(node.target)

    def visit_NamedExpr(self, node: cst.NamedExpr) -> None:
        self._unknown(node.target)

    def visit_WithItem(self, node: cst.WithItem) -> None:
        if node.asname is not None:
            self._unknown(node.asname.name)

    def visit_Param(self, node: cst.Param) -> None:
        self._unknown(node.name)

    def _add(self, name: str, value: cst.BaseExpression | None) -> None:
        self.values.setdefault(name, []).append(value)

    def _unknown(self, target: cst.CSTNode) -> None:
        finder = _Names()
        target.visit(finder)
        for name in finder.found:
            self._add(name, None)


class _Names(cst.CSTVisitor):
    """Every name in a target."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def visit_Name(self, node: cst.Name) -> None:
        self.found.append(node.value)


def _called_name(node: cst.Call) -> str:
    function = node.func
    if isinstance(function, cst.Attribute):
        return function.attr.value
    return function.value if isinstance(function, cst.Name) else ""
