"""AH203 math-on-tensor: a function of `math` on a tensor.

What it finds: `math.sqrt(x)` and the like with a tensor.

Why a graph cannot express it: these functions take numbers; a tensor of a graph has none.

Example: `math.sqrt(x.sum())`

Instead: the operator of the same name: `F.sqrt(x.sum())`.

Fix safety: safe where the operator has the same name.

When to suppress: never.

MXNet 1.9.1: TypeError: must be real number, not Symbol (and not NDArray).
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.edits import NO_FIX, replacement
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward

_SHARED = frozenset("sqrt exp log log10 log2 log1p expm1 sin cos tan sinh cosh tanh floor ceil trunc erf".split())


def check(event: Event) -> Finding | None:
    """`math.f(x)`."""
    if not event.name.startswith("math."):
        return None
    name = event.name.partition(".")[2]
    message = f"`{event.name}` needs a number, and `{event.subject}` is a tensor"
    fixes = NO_FIX
    if event.space and "function" in event.parts and name in _SHARED:
        fixes = replacement(f"use `{event.space}.{name}`", event.parts["function"].span, f"{event.space}.{name}")
    return Finding(message, f"write `F.{name}({event.subject})`", fixes=fixes)


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
        Invalid(
            forward("return math.sqrt(x.sum())", before="import math"),
            ("math.sqrt(x.sum())",),
            fixed=("return F.sqrt(x.sum())",),
        ),
        Invalid(
            forward("y = F.relu(x)\nreturn x * math.exp(y)", before="import math"),
            ("math.exp(y)",),
            fixed=("return x * F.exp(y)",),
        ),
    ),
)
