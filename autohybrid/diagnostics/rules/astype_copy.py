"""AH712 astype-copy: `astype` with `copy`.

What it finds: `x.astype('float32', copy=False)`.

Why a graph cannot express it: only the method of an array has the argument; in a graph it is given to the operator
`Cast`, which does not know it.

Example: `x.astype('float32', copy=False)`

Instead: `x.astype('float32')`.

Fix safety: safe.

When to suppress: never.

MXNet 1.9.1: MXNetError in operator Cast.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.edits import removal
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """`astype(..., copy=...)`."""
    if event.get("problem") != "astype-copy":
        return None
    return Finding(
        f"`{event.text}`: only an array knows `copy`",
        f"write `{event.subject}.astype(...)` without it",
        fixes=removal(event, "leave `copy` out"),
    )


RULE = Rule(
    code="AH712",
    name="astype-copy",
    summary="`astype` with `copy`",
    kinds=(EventKind.ARGUMENT,),
    check=check,
    valid=(
        Valid(forward("return x.astype('float32')")),
        Valid(forward("return F.cast(x, dtype='float32')")),
    ),
    invalid=(
        Invalid(
            forward("return x.astype('float32', copy=False)"),
            ("x.astype('float32', copy=False)",),
            fixed=("return x.astype('float32')",),
        ),
        Invalid(
            forward("y = F.relu(x)\nreturn y.astype('float16', copy=True)"),
            ("y.astype('float16', copy=True)",),
            fixed=("return y.astype('float16')",),
        ),
    ),
)
