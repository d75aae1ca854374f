"""AH107 negative-output-index: an output of an operator is picked from the end.

What it finds: `F.split(x, num_outputs=3)[-1]` and negative bounds on the outputs of an operator.

Why a graph cannot express it: a Symbol counts its outputs from 0 and accepts no negative index.

Example: `F.split(x, num_outputs=3, axis=1)[-1]`

Instead: the index from the front, or `list(...)` first.

Fix safety: unsafe: it may change what the code does imperatively.

When to suppress: never.

MXNet 1.9.1: MXNetError: Symbol only accept nonnegative index.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """A negative index on the outputs of an operator."""
    if event.get("index") != "output":
        return None
    message = f"`{event.text}` counts outputs from the end, which a graph does not accept"
    return Finding(message, f"count from the front, or unpack first: `list({event.subject})[...]`")


RULE = Rule(
    code="AH107",
    name="negative-output-index",
    summary="an output of an operator is picked from the end",
    kinds=(EventKind.SUBSCRIPT,),
    check=check,
    valid=(
        Valid(forward("return F.split(x, num_outputs=3, axis=1)[2]")),
        Valid(forward("return list(F.split(x, num_outputs=3, axis=1))[-1]")),
    ),
    invalid=(
        Invalid(
            forward("return F.split(x, num_outputs=3, axis=1)[-1]"),
            ("F.split(x, num_outputs=3, axis=1)[-1]",),
            fixed=("return F.split(x, num_outputs=3, axis=1)[2]",),
        ),
        Invalid(
            forward("p = F.split(x, num_outputs=3, axis=1)\nreturn p[-1] + p[0]"),
            ("p[-1]",),
            fixed=("return p[2] + p[0]",),
        ),
    ),
)
