"""AH405 tensor-extreme: `max`, `min`, `sorted`, `any` or `all` of Python with tensors.

What it finds: `max(x, 0)`, `min(a, b)`, `sorted([a, b])`, `any(...)`, `all(...)` with tensors.

Why a graph cannot express it: they compare by truth value, which a tensor of a graph does not have.

Example: `max(x, 0)`

Instead: `F.maximum(x, 0)`, `F.minimum(a, b)`, `F.max(x)`.

Fix safety: safe for two operands of one shape.

When to suppress: when the values are numbers that the analysis could not see.

MXNet 1.9.1: NotImplementedForSymbol: bool is not implemented for Symbol.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward

_HELP = {
    "max": "write `F.maximum(a, b)` (`F.broadcast_maximum` for two shapes), or `F.max(x)` over the elements",
    "min": "write `F.minimum(a, b)` (`F.broadcast_minimum` for two shapes), or `F.min(x)` over the elements",
    "sorted": "write `F.sort` on one tensor, or sort by a key that is no tensor",
    "any": "write `F.max(x != 0)`",
    "all": "write `F.min(x != 0)`",
}


def check(event: Event) -> Finding | None:
    """`max(x, y)` and the like."""
    if event.name not in _HELP:
        return None
    message = f"`{event.name}()` asks whether `{event.subject}` is true, and a tensor of a graph has no truth value"
    return Finding(message, _HELP[event.name])


RULE = Rule(
    code="AH405",
    name="tensor-extreme",
    summary="`max`, `min`, `sorted`, `any` or `all` of Python with tensors",
    kinds=(EventKind.CONDITION,),
    check=check,
    valid=(
        Valid(forward("k = max(self.k, 1)\nreturn x * k", init="self.k = 2")),
        Valid(forward("return F.maximum(x, 0)")),
    ),
    invalid=(
        Invalid(
            forward("y = F.relu(x)\nreturn max(y, 0)"),
            ("max(y, 0)",),
            fixed=("return F.maximum(y, 0)",),
        ),
        Invalid(
            forward("y = F.relu(x)\nreturn min(y, x)"),
            ("min(y, x)",),
            fixed=("return F.broadcast_minimum(y, x)",),
        ),
    ),
)
