"""AH408 tensor-membership: a tensor is searched for in a list of tensors.

What it finds: `x in [y, z]`, `[x, y].index(y)`, `.count(x)`.

Why a graph cannot express it: the search compares with `==`, whose result is a tensor without a truth value.

Example: `y in [x, z]`

Instead: compare by `is`, or keep names beside the tensors.

Fix safety: no fix is offered; the help names the rewrite.

When to suppress: never.

MXNet 1.9.1: NotImplementedForSymbol, unless the first element is the same object.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """`in`, `index`, `count` with tensors."""
    if event.name not in ("in", "index", "count"):
        return None
    message = f"`{event.text}` compares tensors with `==`, whose result has no truth value"
    return Finding(message, "compare by identity: `any(item is x for item in items)`")


RULE = Rule(
    code="AH408",
    name="tensor-membership",
    summary="a tensor is searched for in a list of tensors",
    kinds=(EventKind.COMPARE,),
    check=check,
    valid=(
        Valid(forward("n = 'a' in self.names\nreturn x * int(n)", init="self.names = ['a']")),
        Valid(forward("k = [1, 2].index(2)\nreturn x * k")),
    ),
    invalid=(
        Invalid(forward("y = F.relu(x)\nz = F.tanh(x)\nk = y in [z, y]\nreturn x * 2"), ("y in [z, y]",)),
        Invalid(forward("y = F.relu(x)\nz = F.tanh(x)\nk = [y, z].index(z)\nreturn x * 2"), ("[y, z].index(z)",)),
    ),
)
