"""AH116 reshape-sizes: `reshape` with the sizes as single arguments.

What it finds: `x.reshape(2, 3)` and `F.reshape(x, 2, 3)`.

Why a graph cannot express it: only the array's method collects its arguments into a shape; the Symbol takes the
second one for `reverse`.

Example: `x.reshape(-1, 0)`

Instead: one tuple: `x.reshape((-1, 0))`.

Fix safety: safe: a tuple means the same on an array.

When to suppress: never.

MXNet 1.9.1: MXNetError: Invalid Parameter format for reverse expect boolean.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.edits import inside
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """`x.reshape(a, b)`."""
    if event.get("problem") != "reshape":
        return None
    sizes = event.get("sizes")
    message = f"`{event.text}` gives the sizes one by one, which only an array accepts"
    help_text = f"give one tuple: `{event.subject}.reshape(({sizes}))`" if sizes else "give one tuple"
    return Finding(message, help_text, fixes=inside(event, "first", "last", "give the sizes as one tuple"))


RULE = Rule(
    code="AH116",
    name="reshape-sizes",
    summary="`reshape` with the sizes as single arguments",
    kinds=(EventKind.ARGUMENT,),
    check=check,
    valid=(
        Valid(forward("return x.reshape((2, -1))")),
        Valid(forward("return x.reshape(-1)")),
        Valid(forward("return F.reshape(x, (0, -1))")),
    ),
    invalid=(
        Invalid(forward("return x.reshape(2, -1)"), ("x.reshape(2, -1)",), fixed=("return x.reshape((2, -1))",)),
        Invalid(
            forward("y = F.relu(x)\nreturn y.reshape(0, -1)"),
            ("y.reshape(0, -1)",),
            fixed=("return y.reshape((0, -1))",),
        ),
    ),
)
