"""How a branch on a tensor is written: `F.contrib.cond` or `F.where`.

`cond` evaluates one side and needs nothing of their shapes. Its backward pass in MXNet 1.9.1 leaves the gradients of
what only the other side uses unset, and fails where a side passes no gradient on; there `where` computes both sides.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from autohybrid.diagnostics.model import Edit
from autohybrid.transform.fixes.site import Site

_CUTS = ("_like(", "stop_gradient(", "BlockGrad(")


@dataclass(frozen=True, slots=True)
class Choice:
    """The expression that chooses, and a line that has to stand before it."""

    text: str
    before: str = ""

    def insertions(self, site: Site, node: ast.AST) -> list[Edit]:
        """The edits that put the line before the statement of a node."""
        statement = site.statement(node)
        if not self.before or statement is None:
            return []
        return [site.insert(statement, f"{self.before}\n{site.indent(statement)}")]


def choose(
    site: Site, condition: str, then: ast.expr, otherwise: ast.expr | str, place: ast.AST, *, both: bool = False
) -> Choice | None:
    """`then` where the condition holds, else `otherwise`; None where a side is no tensor. `both` sides may have to be
    computed."""
    space = site.space(place)
    then_text = site.text(then)
    other_text = otherwise if isinstance(otherwise, str) else site.text(otherwise)
    if not site.is_tensor(then) or (isinstance(otherwise, ast.expr) and not site.is_tensor(otherwise)):
        return None
    other_names = {other_text} if isinstance(otherwise, str) else _captured(site, otherwise, space)
    cuts = any(cut in then_text + other_text for cut in _CUTS)
    if _captured(site, then, space) == other_names and not cuts and not both:
        return Choice(f"{space}.contrib.cond({condition}, lambda: {then_text}, lambda: {other_text})")
    if isinstance(then, ast.Name):
        return Choice(_where(space, condition, then_text, then_text, other_text))
    if other_text.isidentifier():
        return Choice(_where(space, condition, other_text, then_text, other_text))
    if any(isinstance(node, ast.Lambda | ast.comprehension | ast.ListComp) for node in site.above(place)):
        return None
    name = site.free_name("chosen", place)
    return Choice(_where(space, condition, name, name, other_text), f"{name} = {then_text}")


def mask(space: str, like: str, condition: str) -> str:
    """A condition of one element in the shape of a tensor."""
    return f"{space}.broadcast_mul({space}.ones_like({like}), {condition})"


def _where(space: str, condition: str, like: str, then: str, otherwise: str) -> str:
    return f"{space}.where({mask(space, like, condition)}, {then}, {otherwise})"


def _captured(site: Site, node: ast.expr, space: str) -> set[str]:
    """The names and fields whose gradients pass through an expression."""
    found: set[str] = set()
    for item in ast.walk(node):
        if isinstance(item, ast.Attribute) and isinstance(item.value, ast.Name) and item.value.id == "self":
            found.add(site.text(item))
        elif isinstance(item, ast.Name) and item.id not in (space, "self"):
            found.add(item.id)
    return found
