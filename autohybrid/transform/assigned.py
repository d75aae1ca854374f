"""Facts about blocks of statements: which names they assign, how they can be left."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import libcst as cst

_MUTATING = frozenset(("append extend insert pop remove clear update sort reverse setdefault add discard ").split())


def assigned_names(statements: Iterable[cst.CSTNode], certain: bool) -> set[str]:
    """The local names that `statements` assign; with `certain`, only those assigned on every path.

    A container that a method such as `append` changes counts as assigned, so that each side of a branch gets its own.
    """
    if certain:
        return _certain(statements)
    finder = _Targets()
    for statement in statements:
        statement.visit(finder)
    return finder.names


def _certain(statements: Iterable[cst.CSTNode]) -> set[str]:
    names: set[str] = set()
    for statement in statements:
        if isinstance(statement, cst.If):
            orelse = statement.orelse
            other = [orelse] if isinstance(orelse, cst.If) else [orelse.body] if orelse is not None else []
            names |= _certain([statement.body]) & _certain(other)
        elif isinstance(statement, (cst.IndentedBlock, cst.SimpleStatementSuite)):
            names |= _certain(statement.body)
        elif isinstance(statement, cst.With):
            names |= _certain([statement.body])
        elif isinstance(statement, (cst.SimpleStatementLine, cst.BaseSmallStatement, cst.FunctionDef, cst.ClassDef)):
            finder = _Targets()
            statement.visit(finder)
            names |= finder.assigned
    return names


class _Targets(cst.CSTVisitor):
    def __init__(self) -> None:
        self.names: set[str] = set()
        self.assigned: set[str] = set()

    def _add(self, target: cst.CSTNode) -> None:
        if isinstance(target, cst.Name):
            self.names.add(target.value)
            self.assigned.add(target.value)
        elif isinstance(target, (cst.Tuple, cst.List)):
            for element in target.elements:
                self._add(element.value)
        elif isinstance(target, cst.StarredElement):
            self._add(target.value)

    def visit_AssignTarget(self, node: cst.AssignTarget) -> None:
        self._add(node.target)
        if isinstance(node.target, cst.Subscript) and isinstance(node.target.value, cst.Name):
            self.names.add(node.target.value.value)

    def visit_AnnAssign(self, node: cst.AnnAssign) -> None:
        if node.value is not None:
            self._add(node.target)

    def visit_AugAssign(self, node: cst.AugAssign) -> None:
        self._add(node.target)

    def visit_For(self, node: cst.For) -> None:
        self._add(node.target)

    def visit_NamedExpr(self, node: cst.NamedExpr) -> None:
        self._add(node.target)

    def visit_WithItem(self, node: cst.WithItem) -> None:
        if node.asname is not None:
            self._add(node.asname.name)

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        self._add(node.name)
        return False

    def visit_Lambda(self, node: cst.Lambda) -> bool:
        return False

    def visit_ListComp(self, node: cst.ListComp) -> bool:
        return False

    def visit_Call(self, node: cst.Call) -> None:
        function = node.func
        if (
            isinstance(function, cst.Attribute)
            and isinstance(function.value, cst.Name)
            and function.attr.value in _MUTATING
            and function.value.value != "self"
        ):
            self.names.add(function.value.value)


def exits_in(statements: Iterable[cst.CSTNode]) -> set[str]:
    """How the statements can be left early: 'return', and 'break' or 'continue' that belong to a loop around them."""
    finder = _Exits()
    for statement in statements:
        statement.visit(finder)
    return finder.found


def has_exit(statements: Iterable[cst.CSTNode]) -> bool:
    """Whether the statements can be left early."""
    return bool(exits_in(statements))


class _Exits(cst.CSTVisitor):
    def __init__(self) -> None:
        self.found: set[str] = set()
        self._loops = 0

    def visit_Return(self, node: cst.Return) -> None:
        self.found.add("return")

    def visit_Break(self, node: cst.Break) -> None:
        if not self._loops:
            self.found.add("break")

    def visit_Continue(self, node: cst.Continue) -> None:
        if not self._loops:
            self.found.add("continue")

    def visit_For(self, node: cst.For) -> None:
        self._loops += 1

    def leave_For(self, original_node: cst.For) -> None:
        self._loops -= 1

    def visit_While(self, node: cst.While) -> None:
        self._loops += 1

    def leave_While(self, original_node: cst.While) -> None:
        self._loops -= 1

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        return False

    def visit_Lambda(self, node: cst.Lambda) -> bool:
        return False


def terminates(statements: Sequence[cst.CSTNode]) -> bool:
    """Whether control never reaches the end of the block."""
    for statement in statements:
        if isinstance(statement, cst.SimpleStatementLine) and any(
            isinstance(s, (cst.Return, cst.Raise, cst.Break, cst.Continue)) for s in statement.body
        ):
            return True
        if isinstance(statement, cst.If) and statement.orelse is not None:
            orelse = [statement.orelse] if isinstance(statement.orelse, cst.If) else list(_body(statement.orelse.body))
            if terminates(list(_body(statement.body))) and terminates(orelse):
                return True
    return False


def _body(suite: cst.BaseSuite) -> Sequence[cst.CSTNode]:
    if isinstance(suite, cst.IndentedBlock):
        return suite.body
    assert isinstance(suite, cst.SimpleStatementSuite)
    return [cst.SimpleStatementLine(suite.body)]
