"""AH706 parameter-object-operand: a Parameter object is given to an operator.

What it finds: `F.dot(x, self.weight)` with a Parameter of the block.

Why a graph cannot express it: a Parameter is the holder of an array; the tensor is what `hybrid_forward` receives
under its name.

Example: `F.dot(x, self.weight)`

Instead: `F.dot(x, weight)` with `weight` as an argument of `hybrid_forward`.

Fix safety: unsafe: it may change what the code does imperatively.

When to suppress: never.

MXNet 1.9.1: AssertionError or TypeError, before and after `hybridize()`.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """A Parameter as an operand."""
    if event.get("how") != "parameter":
        return None
    array = event.get("array")
    name = array.rpartition(".")[2]
    message = f"`{array}` is the parameter itself, not the tensor that `{event.name}` takes"
    return Finding(message, f"use the argument `{name}` of `hybrid_forward`")


RULE = Rule(
    code="AH706",
    name="parameter-object-operand",
    summary="a Parameter object is given to an operator",
    kinds=(EventKind.FOREIGN,),
    check=check,
    valid=(
        Valid(forward("return F.dot(x, w)", inputs="x, w", init="self.w = self.params.get('w', shape=(6, 6))")),
        Valid(
            forward(
                "return F.dot(x, w) * 2",
                inputs="x, w",
                init="self.w = self.params.get('w', shape=(6, 6))",
            )
        ),
    ),
    invalid=(
        Invalid(
            forward("return F.dot(x, self.w)", inputs="x, w", init="self.w = self.params.get('w', shape=(6, 6))"),
            ("F.dot(x, self.w)",),
            fixed=("return F.dot(x, w)",),
        ),
        Invalid(
            forward(
                "return F.broadcast_add(self.b, x)", inputs="x, b", init="self.b = self.params.get('b', shape=(1, 6))"
            ),
            ("F.broadcast_add(self.b, x)",),
            fixed=("return F.broadcast_add(b, x)",),
        ),
    ),
)
