"""Lowering of statements: branches, loops and early exits that a tensor may decide become functions passed to `g`.

A block of statements is lowered together with what follows it, so that an early `return` can put the rest into the
other side of its branch. Inside the body of a lowered loop `break`, `continue` and `return` become results of the body.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar, cast

import libcst as cst

from autohybrid.transform.assigned import assigned_names, exits_in, has_exit, terminates
from autohybrid.transform.expressions import ExpressionLowering, IsOwnFunction, Origin
from autohybrid.transform.static_tests import is_static, static_names
from autohybrid.transform.syntax import rebuild, walk

Statement = cst.BaseStatement
Statements = list[Statement]
Node = TypeVar("Node", bound=cst.CSTNode)


@dataclass
class Scope:
    """The function being written. `loop_variables` are set inside the body of a lowered loop; `defined` are the names
    that certainly have a value at this point."""

    defined: set[str] = field(default_factory=set)
    loop_variables: tuple[str, ...] | None = None

    def inner(self, extra: Sequence[str], loop_variables: tuple[str, ...] | None = None) -> Scope:
        """A function inside this one, with parameters `extra`."""
        return Scope({*self.defined, *extra}, self.loop_variables if loop_variables is None else loop_variables)


class Lowering:
    """Lowers one function."""

    def __init__(
        self, function: cst.FunctionDef, runtime: str, namespace: str | None, own: IsOwnFunction, origin: Origin
    ) -> None:
        self.runtime = runtime
        self.names = static_names(function)
        self.expressions = ExpressionLowering(runtime, namespace, self.names, own, origin, _names_in(function))
        self.origin = origin
        self.undefined: set[str] = set()

    def body(self, statements: Sequence[Statement], parameters: Sequence[str]) -> Statements:
        """The lowered body of a function with these parameters."""
        lowered = self.block(list(statements), Scope(set(parameters)))
        starts = [
            cst.parse_statement(f'{name} = {self.runtime}.undefined("{name}")')
            for name in sorted(self.undefined - set(parameters))
        ]
        docstring = [s for s in lowered[:1] if _is_docstring(s)]
        return [*docstring, *starts, *lowered[len(docstring) :]]

    def block(self, statements: Statements, scope: Scope) -> Statements:
        """Lower a block that ends the function it stands in, or falls through to code that was not moved."""
        result: Statements = []
        for position, statement in enumerate(statements):
            rest = statements[position + 1 :]
            if isinstance(statement, cst.If) and self._needs_exit_lowering(statement):
                return [*result, *self._exiting_if(statement, rest, scope)]
            if isinstance(statement, (cst.For, cst.While)) and self._is_dynamic_loop(statement):
                return [*result, *self._loop(statement, rest, scope)]
            result.extend(self._statement(statement, scope))
            scope.defined |= assigned_names([statement], certain=True)
        return result

    # -- single statements ---------------------------------------------------------------------------------------------
    def _statement(self, statement: Statement, scope: Scope) -> Statements:
        if isinstance(statement, cst.If):
            if is_static(statement.test, self.names):
                return [self._plain_if(statement, scope)]
            return self._joining_if(statement, scope)
        if isinstance(statement, cst.SimpleStatementLine):
            return self._simple(statement, scope)
        if isinstance(statement, (cst.For, cst.While, cst.With)):
            return [self._compound(statement, scope)]
        if isinstance(statement, cst.Try) and not self._has_dynamic_exit(statement):
            return [self._try(statement, scope)]
        if isinstance(statement, cst.FunctionDef):
            return [self._nested(statement, scope)]
        return [self._expression(statement)]

    def _has_dynamic_exit(self, statement: Statement) -> bool:
        """Whether an exit in a `with` or `try` is decided by a tensor: what follows the statement cannot be moved into
        it, so such code is left as it is and refused when it is built."""
        return any(
            self._needs_exit_lowering(s)
            if isinstance(s, cst.If)
            else isinstance(s, (cst.For, cst.While)) and self._is_dynamic_loop(s) and has_exit([s])
            for s in walk(statement, (cst.FunctionDef, cst.BaseExpression))
        )

    def _try(self, statement: cst.Try, scope: Scope) -> Statement:
        def lowered(body: cst.BaseSuite) -> cst.IndentedBlock:
            inner = Scope(set(scope.defined), scope.loop_variables)
            return _as_block(body, self.block(list(_statements(body)), inner))

        new = statement.with_changes(
            body=lowered(statement.body),
            handlers=[h.with_changes(body=lowered(h.body)) for h in statement.handlers],
        )
        if statement.orelse is not None:
            new = new.with_changes(orelse=statement.orelse.with_changes(body=lowered(statement.orelse.body)))
        if statement.finalbody is not None:
            new = new.with_changes(finalbody=statement.finalbody.with_changes(body=lowered(statement.finalbody.body)))
        return new

    def _compound(self, statement: cst.For | cst.While | cst.With, scope: Scope) -> Statement:
        if isinstance(statement, cst.With) and self._has_dynamic_exit(statement):
            return self._expression(statement)
        inner = Scope(
            set(scope.defined) | assigned_names([statement], certain=False) & scope.defined, scope.loop_variables
        )
        if isinstance(statement, cst.For):
            inner.defined |= assigned_names([statement.with_changes(body=cst.IndentedBlock([]))], certain=False)
        plain = Scope(inner.defined, None if not isinstance(statement, cst.With) else scope.loop_variables)
        body = self.block(list(_statements(statement.body)), plain)
        new = statement.with_changes(body=_as_block(statement.body, body))
        if isinstance(statement, cst.For):
            new = new.with_changes(iter=self._expression(statement.iter))
        elif isinstance(statement, cst.While):
            new = new.with_changes(test=self.expressions.test(statement.test))
        if isinstance(statement, cst.With):
            new = new.with_changes(items=[self._expression(item) for item in statement.items])
        elif statement.orelse is not None:
            otherwise = self.block(list(_statements(statement.orelse.body)), Scope(inner.defined, scope.loop_variables))
            block = _as_block(statement.orelse.body, otherwise)
            new = new.with_changes(orelse=statement.orelse.with_changes(body=block))
        return new

    def _nested(self, statement: cst.FunctionDef, scope: Scope) -> Statement:
        parameters = [p.name.value for p in (*statement.params.params, *statement.params.kwonly_params)]
        inner = Scope({*scope.defined, *parameters})
        return statement.with_changes(
            body=_as_block(statement.body, self.block(list(_statements(statement.body)), inner))
        )

    def _plain_if(self, statement: cst.If, scope: Scope) -> cst.If:
        body = self.block(list(_statements(statement.body)), Scope(set(scope.defined), scope.loop_variables))
        new = statement.with_changes(test=self.expressions.test(statement.test), body=_as_block(statement.body, body))
        orelse = statement.orelse
        if isinstance(orelse, cst.If):
            lowered = self.block([orelse], Scope(set(scope.defined), scope.loop_variables))
            if len(lowered) == 1 and isinstance(lowered[0], cst.If):
                return new.with_changes(orelse=lowered[0])
            return new.with_changes(orelse=cst.Else(cst.IndentedBlock(lowered)))
        if isinstance(orelse, cst.Else):
            inner = self.block(list(_statements(orelse.body)), Scope(set(scope.defined), scope.loop_variables))
            return new.with_changes(orelse=orelse.with_changes(body=_as_block(orelse.body, inner)))
        return new

    def _simple(self, statement: cst.SimpleStatementLine, scope: Scope) -> Statements:
        if not any(isinstance(s, (cst.Assert, cst.Return, cst.Break, cst.Continue)) for s in statement.body):
            return [self._expression(statement)]
        small: list[cst.BaseSmallStatement] = []
        for part in statement.body:
            if isinstance(part, cst.Assert) and not is_static(part.test, self.names):
                message = self._expression(part.msg) if part.msg is not None else cst.Name("None")
                thunk = cst.Lambda(cst.Parameters(), message)
                call = cst.Call(
                    cst.parse_expression(f"{self.runtime}.check"),
                    [cst.Arg(self.expressions.test(part.test)), cst.Arg(thunk)],
                )
                small.append(cst.Expr(call))
            elif isinstance(part, (cst.Return, cst.Break, cst.Continue)) and scope.loop_variables is not None:
                small.append(self._loop_exit(part, scope.loop_variables))
            else:
                small.append(self._expression(part))
        return [statement.with_changes(body=small)]

    def _loop_exit(self, part: cst.Return | cst.Break | cst.Continue, variables: tuple[str, ...]) -> cst.Return:
        signal = {cst.Return: "RETURN", cst.Break: "BREAK", cst.Continue: "NEXT"}[type(part)]
        value: cst.BaseExpression = cst.parse_expression(f"{self.runtime}.NOTHING")
        if isinstance(part, cst.Return):
            value = cst.Name("None") if part.value is None else self._expression(part.value)
            if isinstance(value, cst.Tuple) and not value.lpar:
                value = value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
        elements = [cst.parse_expression(f"{self.runtime}.{signal}"), _tuple(variables), value]
        return cst.Return(cst.Tuple([cst.Element(e) for e in elements], lpar=[], rpar=[]))

    def _expression(self, node: Node) -> Node:
        """A statement or expression with the expressions in it lowered; it stays of its kind."""
        return cast(Node, self.expressions.lower(node))

    # -- branches ------------------------------------------------------------------------------------------------------
    def _needs_exit_lowering(self, statement: cst.If) -> bool:
        """Whether an exit inside stands under a test that a tensor may decide."""
        if not has_exit([statement]):
            return False
        if not is_static(statement.test, self.names):
            return True
        inner = [s for body in _sides(statement) for s in body]
        return any(isinstance(s, cst.If) and self._needs_exit_lowering(s) for s in inner) or any(
            isinstance(s, (cst.For, cst.While)) and self._is_dynamic_loop(s) and has_exit([s]) for s in inner
        )

    def _joining_if(self, statement: cst.If, scope: Scope) -> Statements:
        """An `if` without exits: both sides return the variables that either assigns."""
        sides = _sides(statement)
        variables = tuple(sorted(set().union(*[assigned_names(side, certain=False) for side in sides])))
        self.undefined |= {v for v in variables if v not in scope.defined}
        names = [self._fresh("then"), self._fresh("otherwise")]
        definitions = [
            self._function(name, variables, [*self.block(side, scope.inner(variables)), _return(_tuple(variables))])
            for name, side in zip(names, sides)
        ]
        definitions[0] = _with_comments_of(definitions[0], statement)
        call = f"{self.runtime}.branch(None, {names[0]}, {names[1]}, {_tuple_text(variables)})"
        text = f"{_tuple_text(variables)} = {call}" if variables else call
        return [*definitions, _fill_test(cst.parse_statement(text), self.expressions.test(statement.test))]

    def _exiting_if(self, statement: cst.If, rest: Statements, scope: Scope) -> Statements:
        """An `if` with exits: the rest of the block goes into the sides that fall through; the branch is returned."""
        names = [self._fresh("then"), self._fresh("otherwise")]
        definitions = []
        for name, side in zip(names, _sides(statement)):
            whole = side if terminates(side) else [*side, *rest]
            if not terminates(whole):
                whole = [*whole, cst.parse_statement("continue" if scope.loop_variables is not None else "return None")]
            assigned = tuple(sorted(assigned_names(whole, certain=False)))
            self.undefined |= {v for v in assigned if v not in scope.defined}
            definitions.append(self._function(name, assigned, self.block(whole, scope.inner(assigned)), bound=True))
        definitions[0] = _with_comments_of(definitions[0], statement)
        final = cst.parse_statement(f"return {self.runtime}.branch(None, {names[0]}, {names[1]})")
        return [*definitions, _fill_test(final, self.expressions.test(statement.test))]

    # -- loops ---------------------------------------------------------------------------------------------------------
    def _is_dynamic_loop(self, statement: cst.For | cst.While) -> bool:
        """Whether a tensor may decide when the loop ends."""
        if isinstance(statement, cst.While) and not is_static(statement.test, self.names):
            return True
        inner = list(_statements(statement.body))
        if statement.orelse is not None:
            inner += _statements(statement.orelse.body)
        return any(isinstance(s, cst.If) and self._needs_exit_lowering(s) for s in inner) or any(
            isinstance(s, (cst.For, cst.While)) and self._is_dynamic_loop(s) and has_exit([s]) for s in inner
        )

    def _loop(self, statement: cst.For | cst.While, rest: Statements, scope: Scope) -> Statements:
        variables = tuple(sorted(assigned_names([statement], certain=False)))
        self.undefined |= {v for v in variables if v not in scope.defined}
        body = [*_statements(statement.body), cst.parse_statement("continue")]
        name, signal, result = self._fresh("body"), self._fresh("signal"), self._fresh("result")
        parameters = variables
        if isinstance(statement, cst.For):
            item = self._fresh("item")
            target = cst.SimpleStatementLine([cst.Assign([cst.AssignTarget(statement.target)], cst.Name(item))])
            parameters, body = (item, *variables), [target, *body]
        inner = scope.inner(parameters, variables)
        definition = _with_comments_of(self._function(name, parameters, self.block(body, inner)), statement)
        out: Statements = [definition]
        unpack = f"{signal}, {_tuple_text(variables) if variables else '()'}, {result}"
        if isinstance(statement, cst.For):
            call = cst.parse_statement(f"{unpack} = {self.runtime}.for_loop(None, {name}, {_tuple_text(variables)})")
            out.append(_fill_test(call, self._expression(statement.iter)))
        else:
            test = self._fresh("test")
            out.append(self._function(test, variables, [_return(self.expressions.test(statement.test))]))
            arguments = f"{test}, {name}, {_tuple_text(variables)}{', True' if statement.orelse is not None else ''}"
            out.append(cst.parse_statement(f"{unpack} = {self.runtime}.while_loop({arguments})"))
        scope.defined |= {*variables, signal, result}
        after: Statements = []
        if "return" in exits_in(_statements(statement.body)):
            after.append(cst.parse_statement(f"if {self.runtime}.returned({signal}):\n    return {result}"))
        if statement.orelse is not None:
            exhausted = cst.parse_expression(f"{self.runtime}.exhausted({signal})")
            after.append(cst.If(exhausted, statement.orelse.body))
        return [*out, *self.block([*after, *rest], scope)]

    # -- pieces --------------------------------------------------------------------------------------------------------
    def _function(self, name: str, parameters: Sequence[str], body: Statements, bound: bool = False) -> cst.FunctionDef:
        text = ", ".join(f"{p}={p}" if bound else p for p in parameters)
        definition = cst.parse_statement(f"def {name}({text}):\n    pass")
        assert isinstance(definition, cst.FunctionDef)
        return definition.with_changes(body=cst.IndentedBlock(body or [cst.parse_statement("pass")]))

    def _fresh(self, hint: str) -> str:
        return self.expressions.fresh(hint)


def _names_in(function: cst.FunctionDef) -> set[str]:
    return {node.value for node in walk(function) if isinstance(node, cst.Name)}


def _sides(statement: cst.If) -> tuple[Statements, Statements]:
    orelse = statement.orelse
    if isinstance(orelse, cst.If):
        return list(_statements(statement.body)), [orelse]
    return list(_statements(statement.body)), list(_statements(orelse.body)) if orelse is not None else []


def _statements(body: cst.BaseSuite) -> Sequence[Statement]:
    if isinstance(body, cst.IndentedBlock):
        return body.body
    assert isinstance(body, cst.SimpleStatementSuite)
    return [cst.SimpleStatementLine(body.body)]


def _as_block(original: cst.BaseSuite, statements: Statements) -> cst.IndentedBlock:
    if isinstance(original, cst.IndentedBlock):
        return original.with_changes(body=statements)
    return cst.IndentedBlock(statements)


def _with_comments_of(definition: cst.FunctionDef, statement: cst.If | cst.For | cst.While) -> cst.FunctionDef:
    return definition.with_changes(leading_lines=statement.leading_lines)


def _fill_test(statement: Statement, test: cst.CSTNode) -> Statement:
    """Put `test` in the place of the first argument `None` of the call in `statement`."""

    done = False

    def fill(node: cst.CSTNode) -> cst.CSTNode:
        nonlocal done
        if not done and isinstance(node, cst.Name) and node.value == "None":
            done = True
            return test
        return rebuild(node, fill)

    return rebuild(statement, fill)


def _tuple_text(names: Sequence[str]) -> str:
    return f"({names[0]},)" if len(names) == 1 else f"({', '.join(names)})"


def _tuple(names: Sequence[str]) -> cst.BaseExpression:
    return cst.parse_expression(_tuple_text(names))


def _return(value: cst.CSTNode) -> cst.SimpleStatementLine:
    assert isinstance(value, cst.BaseExpression)
    return cst.SimpleStatementLine([cst.Return(value)])


def _is_docstring(statement: Statement) -> bool:
    return (
        isinstance(statement, cst.SimpleStatementLine)
        and len(statement.body) == 1
        and isinstance(statement.body[0], cst.Expr)
        and isinstance(statement.body[0].value, cst.SimpleString)
    )
