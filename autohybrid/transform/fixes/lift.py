"""Lift: what follows when a Python number becomes a tensor of one element.

`x / x.max().asscalar()` divides by a number; with the number gone, it divides by a tensor of shape (1,), which only the
broadcasting operators take. The change runs through names and arithmetic until it meets a tensor or a place where only
a number will do; then there is no fix.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from enum import Enum, auto

from autohybrid.diagnostics.model import Edit
from autohybrid.transform.fixes.site import FunctionNode, Site

_OPERATORS: Mapping[type[ast.AST], str] = {
    ast.Add: "broadcast_add",
    ast.Sub: "broadcast_sub",
    ast.Mult: "broadcast_mul",
    ast.Div: "broadcast_div",
    ast.Mod: "broadcast_mod",
    ast.Pow: "broadcast_power",
    ast.Lt: "broadcast_lesser",
    ast.LtE: "broadcast_lesser_equal",
    ast.Gt: "broadcast_greater",
    ast.GtE: "broadcast_greater_equal",
    ast.Eq: "broadcast_equal",
    ast.NotEq: "broadcast_not_equal",
}
_MATH = frozenset(
    "sqrt exp log log2 log10 log1p expm1 sin cos tan sinh cosh tanh floor ceil degrees radians erf gamma fabs".split()
)
_BUILTINS = {"max": "broadcast_maximum", "min": "broadcast_minimum"}


def _is_math(function: ast.expr) -> bool:
    """`math.sqrt`, `np.exp` and the like, which the namespace has too."""
    return (
        isinstance(function, ast.Attribute)
        and isinstance(function.value, ast.Name)
        and function.value.id in ("math", "np", "numpy", "_math", "onp")
        and function.attr in _MATH
    )


class Kind(Enum):
    """What a rewritten expression is: a tensor of one element that was a number, a tensor, or anything else."""

    ONE = auto()
    TENSOR = auto()
    OTHER = auto()


class NotLiftableError(Exception):
    """The number is needed as a number somewhere."""


class Lift:
    """Rewrites the statements of one function that an expression, `seeds`, turned into a tensor reaches.

    `decides`: whether a branch may read the tensor (it then needs a fix of its own).
    """

    def __init__(
        self, site: Site, function: FunctionNode, seeds: Mapping[ast.AST, str], space: str, *, decides: bool = False
    ) -> None:
        self._decides = decides
        self._site = site
        self._function = function
        self._space = space
        self._seeds: dict[ast.AST, str] = dict(seeds)
        self._affected: set[ast.AST] = set()
        for seed in seeds:
            self._mark(seed)

    def _mark(self, node: ast.AST) -> None:
        self._affected.update((node, *self._site.above(node)))

    def seed_name(self, name: str, after: ast.AST) -> None:
        """Let every later reading of a name be a tensor of one element. Raises NotLiftableError when it is rebound."""
        loads: list[ast.Name] = []
        stores = 0
        for node in ast.walk(self._function):
            if isinstance(node, ast.Name) and node.id == name:
                if isinstance(node.ctx, ast.Load):
                    loads.append(node)
                else:
                    stores += 1
        if stores != 1:
            raise NotLiftableError
        for node in loads:
            self._seeds[node] = name
            self._mark(node)

    def edits(self) -> list[Edit]:
        """The edits of every statement that changes. Raises NotLiftableError."""
        found: list[Edit] = []
        done: set[ast.AST] = set()
        while True:
            open_ = [item for item in self._statements() if item not in done]
            if not open_:
                return found
            for statement in open_:
                done.add(statement)
                found += self._statement(statement)

    def _statements(self) -> list[ast.stmt]:
        simple = (
            ast.Assign,
            ast.AugAssign,
            ast.AnnAssign,
            ast.Return,
            ast.Expr,
            ast.If,
            ast.While,
            ast.For,
            ast.Assert,
        )
        return [node for node in ast.walk(self._function) if isinstance(node, simple) and node in self._affected]

    def _statement(self, node: ast.stmt) -> list[Edit]:
        site = self._site
        if isinstance(node, ast.AugAssign) and node.value in self._affected:
            return [self._augmented(node)]
        if isinstance(node, ast.If | ast.While | ast.Assert):
            return self._test(node.test) if node.test in self._affected else []
        if isinstance(node, ast.For):
            if node.iter in self._affected:
                raise NotLiftableError
            return []
        value = getattr(node, "value", None)
        if not isinstance(value, ast.expr) or value not in self._affected:
            return []
        text, kind = self.rewrite(value)
        if kind is Kind.ONE:
            target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
            if not isinstance(target, ast.Name):
                raise NotLiftableError
            self.seed_name(target.id, node)
        return [site.edit(value, text)] if text != site.text(value) else []

    def _test(self, test: ast.expr) -> list[Edit]:
        if not self._decides:
            raise NotLiftableError
        text, _ = self.rewrite(test)
        return [self._site.edit(test, text)] if text != self._site.text(test) else []

    def _augmented(self, node: ast.AugAssign) -> Edit:
        operator = _OPERATORS.get(type(node.op))
        text, kind = self.rewrite(node.value)
        if operator is None or not isinstance(node.target, ast.Name):
            raise NotLiftableError
        if kind is not Kind.ONE:
            return self._site.edit(node.value, text)
        if not self._site.is_tensor(node.target):
            raise NotLiftableError
        name = node.target.id
        return self._site.edit(node, f"{name} = {self._space}.{operator}({name}, {text})")

    # -- expressions ------------------------------------------------------------------------------------------------
    def rewrite(self, node: ast.expr) -> tuple[str, Kind]:
        """The new text of an expression and what it is. Raises NotLiftableError."""
        site = self._site
        if node in self._seeds:
            return self._seeds[node], Kind.ONE
        if node not in self._affected:
            return site.text(node), Kind.TENSOR if site.is_tensor(node) else Kind.OTHER
        if isinstance(node, ast.BinOp):
            return self._two(node, node.left, node.right, _OPERATORS.get(type(node.op)))
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return self._two(node, node.left, node.comparators[0], _OPERATORS.get(type(node.ops[0])))
        if isinstance(node, ast.UnaryOp):
            text, kind = self.rewrite(node.operand)
            return site.spliced(node, {node.operand: text}), kind
        if isinstance(node, ast.Call):
            return self._call(node)
        return self._other(node)

    def _two(self, node: ast.expr, left: ast.expr, right: ast.expr, operator: str | None) -> tuple[str, Kind]:
        (left_text, left_kind), (right_text, right_kind) = self.rewrite(left), self.rewrite(right)
        kinds = {left_kind, right_kind}
        if Kind.ONE in kinds and Kind.TENSOR in kinds:
            if operator is None:
                raise NotLiftableError
            return f"{self._space}.{operator}({left_text}, {right_text})", Kind.TENSOR
        if Kind.ONE in kinds and operator is None:
            raise NotLiftableError
        text = self._site.spliced(node, {left: left_text, right: right_text})
        return text, Kind.ONE if Kind.ONE in kinds else Kind.TENSOR if Kind.TENSOR in kinds else Kind.OTHER

    def _call(self, node: ast.Call) -> tuple[str, Kind]:
        function = node.func
        if _is_math(function) and len(node.args) == 1:
            text, kind = self.rewrite(node.args[0])
            name = function.attr.replace("fabs", "abs")  # type: ignore[attr-defined]
            return f"{self._space}.{name}({text})", kind
        if isinstance(function, ast.Name) and not node.keywords:
            if function.id in ("float", "bool") and len(node.args) == 1:
                return self.rewrite(node.args[0])
            if function.id in ("int", "round", "abs") and len(node.args) == 1:
                text, kind = self.rewrite(node.args[0])
                return f"{self._space}.{ {'int': 'fix'}.get(function.id, function.id) }({text})", kind
            if function.id in _BUILTINS and len(node.args) == 2:
                return self._extreme(node, _BUILTINS[function.id])
        return self._other(node)

    def _extreme(self, node: ast.Call, operator: str) -> tuple[str, Kind]:
        parts = [self.rewrite(argument) for argument in node.args]
        plain = any(kind is Kind.OTHER for _, kind in parts)
        name = operator.replace("broadcast_", "") if plain else operator
        return f"{self._space}.{name}({parts[0][0]}, {parts[1][0]})", parts[0][1] if plain else Kind.TENSOR

    def _other(self, node: ast.AST) -> tuple[str, Kind]:
        """Any other expression: what is inside it changes, and a number there cannot become a tensor."""
        texts: dict[ast.AST, str] = {
            child: self._inner(child) for child in self._children(node) if child in self._affected
        }
        kind = Kind.TENSOR if self._site.is_tensor(node) else Kind.OTHER
        return self._site.spliced(node, texts), kind

    def _children(self, node: ast.AST) -> list[ast.expr]:
        found: list[ast.expr] = []
        for child in ast.iter_child_nodes(node):
            found += [child] if isinstance(child, ast.expr) else self._children(child)
        return found

    def _inner(self, child: ast.expr) -> str:
        text, kind = self.rewrite(child)
        if kind is Kind.ONE:
            parent = self._site.parent(child)
            if not isinstance(parent, ast.IfExp | ast.BoolOp) or not self._decides:
                raise NotLiftableError
        return text
