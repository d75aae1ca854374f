"""AH716 out-of-method: `out=` is given to a method of a tensor.

What it finds: `x.relu(out=y)` on a tensor.

Why a graph cannot express it: the method of a Symbol hands `out` to the operator, which ignores it.

Example: `x.exp(out=y)`

Instead: `y = x.exp()`.

Fix safety: safe where `y` has no other name.

When to suppress: never.

MXNet 1.9.1: no error: `y` keeps its old value.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """`x.f(out=y)`."""
    if event.get("problem") != "out":
        return None
    return Finding(f"`{event.text}`: `out` is ignored in a graph", "assign the result")


RULE = Rule(
    code="AH716",
    name="out-of-method",
    summary="`out=` is given to a method of a tensor",
    kinds=(EventKind.ARGUMENT,),
    check=check,
    valid=(
        Valid(forward("y = x.exp()\nreturn y")),
        Valid(forward("return F.exp(x)")),
    ),
    invalid=(
        Invalid(
            forward("y = F.exp(x)\nx.sqrt(out=y)\nreturn y"),
            ("x.sqrt(out=y)",),
            raises=False,
            fixed=("y = x.sqrt()",),
        ),
        Invalid(
            forward("y = F.exp(x)\ny.relu(out=y)\nreturn y"),
            ("y.relu(out=y)",),
            raises=False,
            fixed=("y = y.relu()",),
        ),
    ),
)
