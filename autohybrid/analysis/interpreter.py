"""The interpreter: the tables of evaluators and executors, and the dispatch of calls."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from autohybrid.analysis import attributes, calls, comprehensions, conditions, expressions, statements
from autohybrid.analysis.blocks import call_instance, call_layer
from autohybrid.analysis.comparisons import evaluate_compare
from autohybrid.analysis.frame import Arguments, Evaluator, Executor, Frame
from autohybrid.analysis.library_calls import call_external
from autohybrid.analysis.methods import call_method
from autohybrid.analysis.operators import call_operator
from autohybrid.analysis.subscripts import evaluate_subscript
from autohybrid.analysis.values import (
    NEVER,
    ClassRef,
    External,
    Func,
    Instance,
    Layer,
    Method,
    Operator,
    Partial,
    RecordType,
    Static,
    Tensor,
    Union,
    Unknown,
    Value,
    is_none,
    union,
)

_EXPRESSIONS: Mapping[type[ast.AST], object] = {
    ast.Constant: expressions.evaluate_constant,
    ast.Name: expressions.evaluate_name,
    ast.Attribute: attributes.evaluate_attribute,
    ast.Subscript: evaluate_subscript,
    ast.Call: calls.evaluate_call,
    ast.BinOp: expressions.evaluate_bin_op,
    ast.UnaryOp: expressions.evaluate_unary_op,
    ast.BoolOp: conditions.evaluate_bool_op,
    ast.Compare: evaluate_compare,
    ast.IfExp: conditions.evaluate_if_exp,
    ast.Tuple: expressions.evaluate_sequence,
    ast.List: expressions.evaluate_sequence,
    ast.Set: expressions.evaluate_set,
    ast.Dict: expressions.evaluate_dict,
    ast.ListComp: comprehensions.evaluate_comprehension,
    ast.SetComp: comprehensions.evaluate_comprehension,
    ast.GeneratorExp: comprehensions.evaluate_comprehension,
    ast.DictComp: comprehensions.evaluate_dict_comprehension,
    ast.Lambda: expressions.evaluate_lambda,
    ast.JoinedStr: expressions.evaluate_joined_str,
    ast.NamedExpr: expressions.evaluate_named,
    ast.Starred: expressions.evaluate_starred,
    ast.Yield: expressions.evaluate_yield,
    ast.YieldFrom: expressions.evaluate_yield_from,
    ast.Await: expressions.evaluate_await,
}
_STATEMENTS: Mapping[type[ast.AST], object] = {
    ast.Expr: statements.run_expr,
    ast.Assign: statements.run_assign,
    ast.AnnAssign: statements.run_ann_assign,
    ast.AugAssign: statements.run_aug_assign,
    ast.Return: statements.run_return,
    ast.Raise: statements.run_raise,
    ast.If: statements.run_if,
    ast.For: statements.run_for,
    ast.AsyncFor: statements.run_for,
    ast.While: statements.run_while,
    ast.Break: statements.run_break,
    ast.Continue: statements.run_continue,
    ast.With: statements.run_with,
    ast.AsyncWith: statements.run_with,
    ast.Try: statements.run_try,
    ast.TryStar: statements.run_try,
    ast.Assert: statements.run_assert,
    ast.Delete: statements.run_delete,
    ast.FunctionDef: statements.run_function,
    ast.AsyncFunctionDef: statements.run_function,
    ast.ClassDef: statements.run_class,
    ast.Import: statements.run_import,
    ast.ImportFrom: statements.run_import_from,
    ast.Global: statements.run_scope,
    ast.Nonlocal: statements.run_scope,
    ast.Match: statements.run_match,
}


class SourceInterpreter:
    """Evaluates the source of a project (implements `Interpreter`)."""

    expressions: Mapping[type[ast.AST], Evaluator] = _EXPRESSIONS  # type: ignore[assignment]
    statements: Mapping[type[ast.AST], Executor] = _STATEMENTS  # type: ignore[assignment]

    def call(self, frame: Frame, callee: Value, arguments: Arguments, node: ast.Call) -> Value:
        """The result of calling `callee`."""
        kind = callee.__class__
        if kind is Operator:
            return call_operator(frame, callee, arguments, node)  # type: ignore[arg-type]
        if kind is Method:
            return call_method(frame, callee, arguments, node)  # type: ignore[arg-type]
        if kind is Layer:
            return call_layer(frame, callee, arguments, node)  # type: ignore[arg-type]
        if kind is External:
            return call_external(frame, callee.name, arguments, node)  # type: ignore[attr-defined]
        if kind is Func:
            return calls.call_function(frame, callee, arguments, node)  # type: ignore[arg-type]
        if kind is Instance:
            return call_instance(frame, callee, arguments, node)  # type: ignore[arg-type]
        return self._call_other(frame, callee, arguments, node)

    def _call_other(self, frame: Frame, callee: Value, arguments: Arguments, node: ast.Call) -> Value:
        if isinstance(callee, ClassRef):
            return calls.instantiate(frame, callee.info, arguments, node)
        if isinstance(callee, Union):
            results = [self.call(frame, m, arguments, node) for m in callee.members if not is_none(m)]
            return union(results)
        if isinstance(callee, Partial):
            keywords = {**dict(callee.keywords), **arguments.keywords}
            bound = Arguments((*callee.args, *arguments.positional), keywords, arguments.star, arguments.double_star)
            return self.call(frame, callee.function, bound, node)
        if isinstance(callee, RecordType):
            return calls.make_record(callee, arguments)
        if callee is NEVER:
            return NEVER
        if isinstance(callee, Static | Tensor):
            return Unknown("the value that is called is not known")
        return callee if isinstance(callee, Unknown) else Unknown("result of a call")

    def call_function(self, frame: Frame, function: Func, node: ast.AST) -> Value:
        """The result of calling a property."""
        return calls.call_function(frame, function, Arguments(), node)
