"""Which expressions are certainly Python values while a graph is built, so that lowering leaves them alone.

Only readability depends on this: what is not recognised here is dispatched on its real value when the graph is built.
"""

from __future__ import annotations

from collections.abc import Collection

import libcst as cst

from autohybrid.transform.assigned import assigned_names, has_exit
from autohybrid.transform.syntax import walk

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
    """Local variables that certainly hold Python values: every assignment gives a static expression, and whether it
    happens does not depend on a tensor (loop counters, configuration)."""
    finder = _Assignments()
    for node in walk(function.body):
        finder.look_at(node)
    known: set[str] = set()
    for _ in range(3):  # a chain of assignments settles in a few rounds; what does not is dispatched dynamically
        known = {
            name
            for name, values in finder.values.items()
            if values and all(v is not None and is_static(v, known) for v in values)
        }
    while True:
        decided = known & _decided_by_tensors(function, known)
        if not decided:
            return frozenset(known)
        known -= decided


def _decided_by_tensors(function: cst.FunctionDef, known: Collection[str]) -> set[str]:
    """Names assigned on one side of a branch, in a round of a loop, or after an exit that a tensor may decide."""
    names: set[str] = set()
    for node in walk(function.body):
        if isinstance(node, (cst.If, cst.While)) and not is_static(node.test, known):
            names |= assigned_names([node], certain=False)
        elif isinstance(node, (cst.For, cst.While)) and any(
            isinstance(inner, cst.If) and not is_static(inner.test, known) and has_exit([inner])
            for inner in walk(node.body, (cst.FunctionDef, cst.BaseExpression))
        ):
            names |= assigned_names([node.body], certain=False)
    return names


class _Assignments:
    """Every value that each local name is assigned; None for one that cannot be followed."""

    def __init__(self) -> None:
        self.values: dict[str, list[cst.BaseExpression | None]] = {}

    def look_at(self, node: cst.CSTNode) -> None:
        """Note what `node` itself assigns."""
        if isinstance(node, cst.Assign):
            for target in node.targets:
                if isinstance(target.target, cst.Name):
                    self._add(target.target.value, node.value)
                else:
                    self._unknown(target.target)
        elif isinstance(node, cst.AugAssign):
            if isinstance(node.target, cst.Name):
                self._add(node.target.value, node.value)
        elif isinstance(node, cst.For):
            self._counter(node)
        elif isinstance(node, (cst.AnnAssign, cst.NamedExpr)):
            self._unknown(node.target)
        elif isinstance(node, cst.WithItem):
            if node.asname is not None:
                self._unknown(node.asname.name)
        elif isinstance(node, cst.Param):
            self._unknown(node.name)

    def _counter(self, node: cst.For) -> None:
        if isinstance(node.target, cst.Name) and isinstance(node.iter, cst.Call) and _called_name(node.iter) == "range":
            self._add(node.target.value, cst.Integer("0"))
        else:
            self._unknown(node.target)

    def _add(self, name: str, value: cst.BaseExpression | None) -> None:
        self.values.setdefault(name, []).append(value)

    def _unknown(self, target: cst.CSTNode) -> None:
        for node in walk(target):
            if isinstance(node, cst.Name):
                self._add(node.value, None)


def _called_name(node: cst.Call) -> str:
    function = node.func
    if isinstance(function, cst.Attribute):
        return function.attr.value
    return function.value if isinstance(function, cst.Name) else ""
