"""AH203 math-on-tensor: a function of `math` on a tensor.

What it finds: `math.sqrt(x)` and the like with a tensor.

Why a graph cannot express it: these functions take numbers; a tensor of a graph has none.

Example: `math.sqrt(x.sum())`

Instead: the operator of the same name: `F.sqrt(x.sum())`.

Fix safety: safe when the names agree; not applied yet.

When to suppress: never.

MXNet 1.9.1: TypeError: must be real number, not Symbol (and not NDArray).
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """`math.f(x)`."""
    if not event.name.startswith("math."):
        return None
    name = event.name.partition(".")[2]
    message = f"`{event.name}` needs a number, and `{event.subject}` is a tensor"
    return Finding(message, f"write `F.{name}({event.subject})`")


RULE = Rule(
    code="AH203",
    name="math-on-tensor",
    summary="a function of `math` on a tensor",
    kinds=(EventKind.CONVERT,),
    check=check,
    valid=(
        Valid(forward("return x * math.sqrt(2)", before="import math")),
        Valid(forward("return F.sqrt(x.sum())")),
    ),
    invalid=(
        Invalid(forward("return math.sqrt(x.sum())", before="import math"), ("math.sqrt(x.sum())",)),
        Invalid(forward("y = F.relu(x)\nreturn x * math.exp(y)", before="import math"), ("math.exp(y)",)),
    ),
)
