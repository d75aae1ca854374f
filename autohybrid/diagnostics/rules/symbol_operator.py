"""AH705 symbol-operator: an operator of `mx.sym` in a hybrid method.

What it finds: `mx.sym.relu(x)` in a hybrid method.

Why a graph cannot express it: `mx.sym` works on Symbols; before `hybridize()` the tensors are arrays.

Example: `mx.sym.relu(x)`

Instead: `F.relu(x)`.

Fix safety: safe when `F` has the name.

When to suppress: when the block only ever runs hybridized.

MXNet 1.9.1: TypeError before `hybridize()`.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.model import Confidence
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """`mx.sym.f(...)`."""
    if event.get("how") != "symbol":
        return None
    message = f"`{event.text}` builds a graph, also when the block runs on arrays"
    return Finding(message, f"write `F.{event.name}`")


RULE = Rule(
    code="AH705",
    name="symbol-operator",
    summary="an operator of `mx.sym` in a hybrid method",
    kinds=(EventKind.FOREIGN,),
    check=check,
    valid=(
        Valid(forward("return F.relu(x)")),
        Valid(forward("if isinstance(x, mx.sym.Symbol):\n    n = 1\nreturn F.relu(x)")),
    ),
    invalid=(
        Invalid(
            forward("return mx.sym.relu(x)"),
            ("mx.sym.relu(x)",),
            Confidence.LIKELY,
            fixed=("return F.relu(x)",),
        ),
        Invalid(
            forward("y = F.relu(x)\nreturn mx.symbol.tanh(y)"),
            ("mx.symbol.tanh(y)",),
            Confidence.LIKELY,
            fixed=("return F.tanh(y)",),
        ),
    ),
)
