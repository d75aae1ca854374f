"""Facts about blocks of statements: which names they assign, how they can be left."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import libcst as cst

from autohybrid.transform.syntax import children, walk

#: What has variables or exits of its own; the name of a function is assigned where it is defined.
_OWN_SCOPE = (cst.FunctionDef, cst.Lambda, cst.ListComp)
_MUTATING = frozenset(("append extend insert pop remove clear update sort reverse setdefault add discard ").split())


def assigned_names(statements: Iterable[cst.CSTNode], certain: bool) -> set[str]:
    """The local names that `statements` assign; with `certain`, only those assigned on every path.

    A container that a method such as `append` changes counts as assigned, so that each side of a branch gets its own.
    """
    if certain:
        return _certain(statements)
    finder = _Targets()
    for statement in statements:
        finder.look_at(statement)
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
            finder.look_at(statement)
            names |= finder.assigned
    return names


class _Targets:
    """The names that statements assign, and with those the names whose containers they change."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.assigned: set[str] = set()

    def look_at(self, statement: cst.CSTNode) -> None:
        """Collect the names of one statement."""
        for node in walk(statement, _OWN_SCOPE):
            if isinstance(node, (cst.AssignTarget, cst.AugAssign)):
                self._add(node.target)
                if isinstance(node.target, cst.Subscript) and isinstance(node.target.value, cst.Name):
                    self.names.add(node.target.value.value)
            elif isinstance(node, (cst.For, cst.NamedExpr)):
                self._add(node.target)
            elif isinstance(node, cst.AnnAssign):
                if node.value is not None:
                    self._add(node.target)
            elif isinstance(node, cst.WithItem):
                if node.asname is not None:
                    self._add(node.asname.name)
            elif isinstance(node, cst.FunctionDef):
                self._add(node.name)
            elif isinstance(node, cst.Call):
                self._add_changed(node.func)

    def _add(self, target: cst.CSTNode) -> None:
        if isinstance(target, cst.Name):
            self.names.add(target.value)
            self.assigned.add(target.value)
        elif isinstance(target, (cst.Tuple, cst.List)):
            for element in target.elements:
                self._add(element.value)
        elif isinstance(target, cst.StarredElement):
            self._add(target.value)

    def _add_changed(self, function: cst.BaseExpression) -> None:
        if (
            isinstance(function, cst.Attribute)
            and isinstance(function.value, cst.Name)
            and function.attr.value in _MUTATING
            and function.value.value != "self"
        ):
            self.names.add(function.value.value)


def exits_in(statements: Iterable[cst.CSTNode]) -> set[str]:
    """How the statements can be left early: 'return', and 'break' or 'continue' that belong to a loop around them."""
    found: set[str] = set()
    for statement in statements:
        _add_exits(statement, False, found)
    return found


def _add_exits(node: cst.CSTNode, in_loop: bool, found: set[str]) -> None:
    if isinstance(node, cst.Return):
        found.add("return")
    elif isinstance(node, (cst.Break, cst.Continue)):
        if not in_loop:
            found.add("break" if isinstance(node, cst.Break) else "continue")
    elif not isinstance(node, (cst.FunctionDef, cst.Lambda, cst.BaseExpression, cst.BaseSmallStatement)):
        is_loop = isinstance(node, (cst.For, cst.While))
        for child in children(node):  # the `else` of a loop is not in it
            _add_exits(child, in_loop or (is_loop and not isinstance(child, cst.Else)), found)


def has_exit(statements: Iterable[cst.CSTNode]) -> bool:
    """Whether the statements can be left early."""
    return bool(exits_in(statements))


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
