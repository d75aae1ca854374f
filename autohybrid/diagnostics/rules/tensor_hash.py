"""AH407 tensor-hash: a tensor is used as a key or member of a set.

What it finds: `{x: 1}`, `{x, y}`, `set([x, y])`, `hash(x)`.

Why a graph cannot express it: a Symbol defines equality as an operator and so has no hash.

Example: `set([x, y])`

Instead: a list, or a dictionary with names as keys.

Fix safety: no fix is offered; the help names the rewrite.

When to suppress: never.

MXNet 1.9.1: TypeError: unhashable type: 'Symbol'.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """A tensor is hashed."""
    message = f"`{event.subject}` is a tensor, which cannot be a key or a member of a set in a graph"
    return Finding(message, "use a list, or names as keys")


RULE = Rule(
    code="AH407",
    name="tensor-hash",
    summary="a tensor is used as a key or member of a set",
    kinds=(EventKind.HASH,),
    check=check,
    valid=(
        Valid(forward("d = {'x': x}\nreturn d['x'] * 2")),
        Valid(forward("s = {1, 2}\nreturn x * len(s)")),
    ),
    invalid=(
        Invalid(forward("y = F.relu(x)\nd = {y: 1}\nreturn x * 2"), ("y",)),
        Invalid(forward("y = F.relu(x)\ns = {y}\nreturn x * 2"), ("y",)),
    ),
)
