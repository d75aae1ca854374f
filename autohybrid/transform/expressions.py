"""Lowering of expressions: boolean operators, conditional expressions, calls of the user's own functions, and `F`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cache

import libcst as cst

from autohybrid.transform.lowered_text import TENSOR_BUILTINS, Range
from autohybrid.transform.static_tests import is_static
from autohybrid.transform.syntax import rebuild

#: Whether a dotted path of names (`helper`, `self.mask`, `layers.attend`) is a function that should be lowered too.
IsOwnFunction = Callable[[str], bool]


class ExpressionLowering:
    """Rewrites the expressions inside one statement. Records where each new node comes from in `origin`."""

    def __init__(
        self,
        runtime: str,
        namespace: str | None,
        names: Collection[str],
        own: IsOwnFunction,
        origin: Origin,
        taken: Collection[str],
    ) -> None:
        self.runtime = runtime
        self.namespace = namespace
        self.names = names
        self.own = own
        self.origin = origin
        self._taken = taken
        self._counts: dict[str, int] = {}
        #: Expressions of which only the truth counts: tests, and operands of `and`, `or`, `not` in them.
        self._truths: set[int] = set()

    def fresh(self, hint: str) -> str:
        """A name that neither the user's function nor the lowered one has."""
        while True:
            self._counts[hint] = self._counts.get(hint, 0) + 1
            name = f"{hint}_{self._counts[hint]}"
            if name not in self._taken:
                return name

    def lower(self, node: cst.CSTNode) -> cst.CSTNode:
        """`node` with the expressions in it lowered; what needs no change is the same node."""
        enter, leave = _handlers(type(node))
        if enter is not None:
            enter(self, node)
        result = rebuild(node, self.lower)
        if leave is not None:
            result = leave(self, node, result)
        if result is not node:
            self.origin.note(result, node)
        return result

    # -- F -------------------------------------------------------------------------------------------------------------
    def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.BaseExpression:
        if self._is_namespace(original_node.value):
            return updated_node.with_changes(value=cst.Name(self.runtime))
        return updated_node

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        if self._is_namespace(original_node) and not self.origin.is_attribute_name(original_node):
            return cst.Attribute(cst.Name(self.runtime), cst.Name("F"))
        return updated_node

    def _is_namespace(self, node: cst.CSTNode) -> bool:
        return self.namespace is not None and isinstance(node, cst.Name) and node.value == self.namespace

    # -- truth ---------------------------------------------------------------------------------------------------------
    def test(self, node: cst.BaseExpression) -> cst.BaseExpression:
        """The lowered form of an expression of which only the truth counts."""
        self._truths.add(id(node))
        result = self.lower(node)
        assert isinstance(result, cst.BaseExpression)
        return result

    def visit_IfExp(self, node: cst.IfExp) -> None:
        self._truths.add(id(node.test))

    def visit_UnaryOperation(self, node: cst.UnaryOperation) -> None:
        if isinstance(node.operator, cst.Not):
            self._truths.add(id(node.expression))

    def visit_BooleanOperation(self, node: cst.BooleanOperation) -> None:
        if id(node) in self._truths:
            self._truths.update((id(node.left), id(node.right)))

    def leave_BooleanOperation(
        self, original_node: cst.BooleanOperation, updated_node: cst.BooleanOperation
    ) -> cst.BaseExpression:
        if is_static(original_node, self.names):
            return updated_node
        function = "and_" if isinstance(original_node.operator, cst.And) else "or_"
        if id(original_node) in self._truths:
            function = "all_true" if function == "and_" else "any_true"
        return self._call(function, [updated_node.left, _thunk(updated_node.right)])

    def leave_UnaryOperation(
        self, original_node: cst.UnaryOperation, updated_node: cst.UnaryOperation
    ) -> cst.BaseExpression:
        if not isinstance(original_node.operator, cst.Not) or is_static(original_node.expression, self.names):
            return updated_node
        return self._call("not_", [updated_node.expression])

    def leave_IfExp(self, original_node: cst.IfExp, updated_node: cst.IfExp) -> cst.BaseExpression:
        if is_static(original_node.test, self.names):
            return updated_node
        return self._call("branch", [updated_node.test, _thunk(updated_node.body), _thunk(updated_node.orelse)])

    def leave_Comparison(self, original_node: cst.Comparison, updated_node: cst.Comparison) -> cst.BaseExpression:
        if len(original_node.comparisons) < 2 or is_static(original_node, self.names):
            return updated_node
        function = "all_true" if id(original_node) in self._truths else "and_"
        return self._chain(function, updated_node.left, list(updated_node.comparisons))

    def _chain(
        self, function: str, left: cst.BaseExpression, comparisons: list[cst.ComparisonTarget]
    ) -> cst.BaseExpression:
        """`left < a < b` as `left < a and a < b`; an `a` that must be evaluated once gets a name."""
        first, *rest = comparisons
        if not rest:
            return cst.Comparison(left, [first])
        middle = first.comparator
        if not _is_simple(middle):
            name = self.fresh("middle")
            named = cst.NamedExpr(cst.Name(name), middle, lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
            first, middle = first.with_changes(comparator=named), cst.Name(name)
        following = self._chain(function, middle.deep_clone(), rest)
        return self._call(function, [cst.Comparison(left, [first]), _thunk(following)])

    # -- calls ---------------------------------------------------------------------------------------------------------
    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        if _is_super(original_node):
            return cst.parse_expression("super(__class__, self)")
        is_super = isinstance(original_node.func, cst.Attribute) and _is_super(original_node.func.value)
        path = dotted(original_node.func)
        builtin = path in TENSOR_BUILTINS and any([self._may_hold_tensors(a.value) for a in original_node.args])
        if is_super or builtin or (path is not None and self.own(path)):
            first = cst.Arg(updated_node.func)
            return cst.Call(
                cst.parse_expression(f"{self.runtime}.call"),
                [_with_comma(first, updated_node.args), *[_parenthesized(arg) for arg in updated_node.args]],
            )
        return updated_node

    def _may_hold_tensors(self, node: cst.BaseExpression) -> bool:
        if isinstance(node, (cst.Tuple, cst.List)):
            return any([self._may_hold_tensors(element.value) for element in node.elements])
        return not is_static(node, self.names)

    def _call(self, function: str, values: list[cst.BaseExpression]) -> cst.Call:
        return cst.Call(cst.Attribute(cst.Name(self.runtime), cst.Name(function)), [cst.Arg(v) for v in values])


_Handlers = tuple[Callable[..., None] | None, Callable[..., cst.CSTNode] | None]


@cache
def _handlers(kind: type[cst.CSTNode]) -> _Handlers:
    """What is done before and after the children of a kind of node are lowered."""
    name = kind.__name__
    return getattr(ExpressionLowering, f"visit_{name}", None), getattr(ExpressionLowering, f"leave_{name}", None)


class Origin:
    """Where the nodes of lowered code come from in the user's code."""

    def __init__(self, positions: Mapping[int, Range], attribute_names: set[int]) -> None:
        self._positions = positions
        self._attribute_names = attribute_names
        self._noted: dict[int, tuple[cst.CSTNode, Range]] = {}

    def note(self, new: cst.CSTNode, original: cst.CSTNode) -> None:
        """`new` stands for `original`."""
        position = self.find(original)
        if position is not None:
            self._noted.setdefault(id(new), (new, position))

    def find(self, node: cst.CSTNode) -> Range | None:
        """The place in the user's code that a node of the lowered code stands for; None for one that was added."""
        noted = self._noted.get(id(node))
        return noted[1] if noted is not None else self._positions.get(id(node))

    def is_attribute_name(self, node: cst.CSTNode) -> bool:
        """Whether a Name is the part behind the dot, a keyword or a parameter, and no use of a variable."""
        return id(node) in self._attribute_names


def dotted(node: cst.BaseExpression) -> str | None:
    """`a.b.c` as text; None for anything else."""
    if isinstance(node, cst.Name):
        return node.value
    if isinstance(node, cst.Attribute):
        base = dotted(node.value)
        return None if base is None else f"{base}.{node.attr.value}"
    return None


def _is_super(node: cst.CSTNode) -> bool:
    """Whether `node` is `super()`."""
    return (
        isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == "super" and not node.args
    )


def _is_simple(node: cst.BaseExpression) -> bool:
    """Whether evaluating `node` twice is the same as once."""
    if isinstance(node, cst.Attribute):
        return isinstance(node.value, cst.Name)
    return isinstance(node, (cst.Name, cst.Integer, cst.Float))


def _thunk(body: cst.BaseExpression) -> cst.Lambda:
    return cst.Lambda(cst.Parameters(), body)


def _with_comma(arg: cst.Arg, following: object) -> cst.Arg:
    if not following:
        return arg
    return arg.with_changes(comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")))


def _parenthesized(arg: cst.Arg) -> cst.Arg:
    """A generator that was the only argument needs parentheses of its own beside another."""
    if not isinstance(arg.value, cst.GeneratorExp) or arg.value.lpar:
        return arg
    return arg.with_changes(value=arg.value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()]))
