"""AH205 array-copy: a tensor is copied or moved.

What it finds: `x.copy()`, `x.as_in_context(ctx)` on a tensor.

Why a graph cannot express it: a tensor of a graph is not in memory: there is nothing to copy or move.

Example: `x.as_in_context(mx.cpu())`

Instead: `F.identity(x)` for a copy; leave the move out.

Fix safety: safe for `copy()`.

When to suppress: when the block is never hybridized.

MXNet 1.9.1: NotImplementedForSymbol, or TypeError for `as_in_context(ctx)`.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.edits import call_of
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """`copy`, `as_in_context`."""
    if event.name not in ("copy", "as_in_context"):
        return None
    message = f"`{event.subject}` is a tensor: a graph has nothing to copy or move"
    if event.name == "copy":
        fixes = call_of(event, "identity", "subject", "use `identity`")
        return Finding(message, f"write `F.identity({event.subject})`, or leave the copy out", fixes=fixes)
    return Finding(message, "leave it out: the graph runs where its inputs are")


RULE = Rule(
    code="AH205",
    name="array-copy",
    summary="a tensor is copied or moved",
    kinds=(EventKind.METHOD,),
    check=check,
    valid=(
        Valid(forward("d = {'a': 1}.copy()\nreturn x * len(d)")),
        Valid(forward("y = F.identity(x)\nreturn y + 1")),
    ),
    invalid=(
        Invalid(forward("y = x.copy()\nreturn y + 1"), ("x.copy()",), fixed=("y = x",)),
        Invalid(
            forward("return F.relu(x).as_in_context(mx.cpu())"),
            ("F.relu(x).as_in_context(mx.cpu())",),
            fixed=("return F.relu(x)",),
        ),
    ),
)
