"""AH715 transpose-axes: `transpose` with the axes as single arguments.

What it finds: `x.transpose(1, 0)`.

Why a graph cannot express it: the method takes one tuple, on arrays and in graphs.

Example: `x.transpose(1, 0, 2)`

Instead: `x.transpose((1, 0, 2))`.

Fix safety: safe.

When to suppress: never.

MXNet 1.9.1: TypeError on an array, MXNetError in a graph.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.edits import inside
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """`x.transpose(a, b)`."""
    if event.get("problem") != "transpose":
        return None
    message = f"`{event.text}` gives the axes one by one"
    help_text = f"write `{event.subject}.transpose(({event.get('sizes')}))`"
    return Finding(message, help_text, fixes=inside(event, "first", "last", "give the axes as one tuple"))


RULE = Rule(
    code="AH715",
    name="transpose-axes",
    summary="`transpose` with the axes as single arguments",
    kinds=(EventKind.ARGUMENT,),
    check=check,
    valid=(
        Valid(forward("return x.transpose((1, 0))")),
        Valid(forward("return F.transpose(x, axes=(1, 0))")),
        Valid(forward("return x.transpose()")),
    ),
    invalid=(
        Invalid(forward("return x.transpose(1, 0)"), ("x.transpose(1, 0)",), fixed=("return x.transpose((1, 0))",)),
        Invalid(
            forward("y = F.relu(x)\nreturn y.transpose(0, 1)"),
            ("y.transpose(0, 1)",),
            fixed=("return y.transpose((0, 1))",),
        ),
    ),
)
