"""AH704 array-in-graph: an array meets a tensor of the graph.

What it finds: an NDArray (made by `mx.nd`, or `parameter.data()`) as an operand or argument beside a tensor of a
hybrid method.

Why a graph cannot express it: a graph is built from Symbols; an array is a value of now.

Example: `F.broadcast_mul(x, mx.nd.ones((1, 6)))`

Instead: `self.params.get_constant(name, value)` and an argument of that name, or an operator that makes the constant
(`F.arange`, `F.full`).

Fix safety: unsafe: arrays made of literals are made with `F`.

When to suppress: when the block is never hybridized.

MXNet 1.9.1: TypeError or AssertionError: type NDArray not supported.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """An array among tensors."""
    if event.get("how") != "operand":
        return None
    array = event.get("array")
    message = f"`{array}` is an array, and `{event.name}` builds a graph here"
    return Finding(
        message, f"make `{array}` a constant of the block: `self.params.get_constant(...)`, or create it with `F`"
    )


RULE = Rule(
    code="AH704",
    name="array-in-graph",
    summary="an array meets a tensor of the graph",
    kinds=(EventKind.FOREIGN,),
    check=check,
    valid=(
        Valid(
            forward(
                "return F.broadcast_mul(x, w)",
                inputs="x, w",
                init="self.w = self.params.get_constant('w', mx.nd.ones((1, 6)))",
            )
        ),
        Valid(forward("return x + F.ones_like(x)")),
    ),
    invalid=(
        Invalid(
            forward("w = mx.nd.array([[1, 2]])\nreturn F.broadcast_mul(x, w)"),
            ("F.broadcast_mul(x, w)",),
            fixed=("w = F.reshape(F.arange(1, 3), shape=(1, 2))",),
        ),
        Invalid(
            forward("return F.relu(x) + nd.ones((6, 6))"),
            ("F.relu(x) + nd.ones((6, 6))",),
            fixed=("return F.broadcast_add(F.relu(x), F.ones((6, 6)))",),
        ),
    ),
)
