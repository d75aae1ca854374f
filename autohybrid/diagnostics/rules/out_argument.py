"""AH111 out-argument: `out=` is given to an operator.

What it finds: `F.relu(x, out=y)`.

Why a graph cannot express it: a symbolic operator accepts `out` and ignores it: `y` keeps its old value.

Example: `F.relu(x, out=y)`

Instead: `y = F.relu(x)`.

Fix safety: safe where `y` has no other name.

When to suppress: never: the results differ.

MXNet 1.9.1: no error: the hybridized block goes on with the old `y`.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """`out=`."""
    if event.name != "out=":
        return None
    target = event.get("target")
    message = f"`out={target}` is ignored in a graph: `{target}` keeps its old value"
    return Finding(message, f"assign the result: `{target} = ...`")


RULE = Rule(
    code="AH111",
    name="out-argument",
    summary="`out=` is given to an operator",
    kinds=(EventKind.AUGMENT,),
    check=check,
    valid=(
        Valid(forward("y = F.relu(x)\nreturn y")),
        Valid(forward("return F.relu(x, name='out')")),
    ),
    invalid=(
        Invalid(
            forward("y = F.exp(x)\nF.relu(x, out=y)\nreturn y"),
            ("F.relu(x, out=y)",),
            raises=False,
            fixed=("y = F.relu(x)",),
        ),
        Invalid(
            forward("y = F.exp(x)\nF.broadcast_add(x, x, out=y)\nreturn y"),
            ("F.broadcast_add(x, x, out=y)",),
            raises=False,
            fixed=("y = F.broadcast_add(x, x)",),
        ),
    ),
)
