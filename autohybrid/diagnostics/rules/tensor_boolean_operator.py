"""AH403 tensor-boolean-operator: `and`, `or`, `not` or a chained comparison of tensors.

What it finds: `a and b`, `a or b`, `not a`, `0 < x < 1` with tensors.

Why a graph cannot express it: these operators ask for a truth value, which a tensor of a graph does not have.

Example: `scale = w or F.ones_like(w)`

Instead: `F.broadcast_logical_and`, `F.broadcast_logical_or`, `F.logical_not`, `(x > 0) * (x < 1)`.

Fix safety: unsafe: it may change what the code does imperatively.

When to suppress: when the value is a flag that the analysis could not see.

MXNet 1.9.1: NotImplementedForSymbol: bool is not implemented for Symbol.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward

_HELP = {
    "and": "write `F.broadcast_logical_and(a, b)`, or `a * b` for conditions",
    "or": "write `F.broadcast_logical_or(a, b)`; for a default, test `is None`",
    "not": "write `F.logical_not({x})`; to ask whether it was given, `{x} is None`",
    "chained comparison": "write both comparisons and multiply them: `(a < x) * (x < b)`",
}


def check(event: Event) -> Finding | None:
    """`and`, `or`, `not`, `a < x < b`."""
    if event.name not in _HELP:
        return None
    asker = "the chain" if event.name == "chained comparison" else f"`{event.name}`"
    message = f"{asker} asks for the truth of `{event.subject}`, a tensor, which is not known while the graph is built"
    return Finding(message, _HELP[event.name].format(x=event.subject))


RULE = Rule(
    code="AH403",
    name="tensor-boolean-operator",
    summary="`and`, `or`, `not` or a chained comparison of tensors",
    kinds=(EventKind.CONDITION,),
    check=check,
    valid=(
        Valid(forward("ok = not self.flag\nreturn x * 2 if ok else x * 3", init="self.flag = False")),
        Valid(forward("return (x > 0) * (x < 1)")),
    ),
    invalid=(
        Invalid(
            forward("y = F.relu(x)\nz = y and x\nreturn z"),
            ("y",),
            fixed=("z = F.where(F.broadcast_mul(F.ones_like(x), y != 0), x, y)",),
        ),
        Invalid(
            forward("y = F.relu(x)\nz = 0 < y < 1\nreturn z"),
            ("0 < y < 1",),
            fixed=("z = F.broadcast_logical_and(0 < y, y < 1)",),
        ),
    ),
)
