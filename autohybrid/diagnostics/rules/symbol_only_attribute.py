"""AH114 symbol-only-attribute: an attribute that only a Symbol has.

What it finds: `x.name`, `x.attr(...)`, `x.list_arguments()` on a tensor.

Why a graph cannot express it: the imperative block runs on arrays, which have no such attribute.

Example: `print(x.name)`

Instead: do it outside the block, on the Symbol that `net(mx.sym.var('data'))` gives.

Fix safety: no fix is offered; the help names the rewrite.

When to suppress: when the block only ever runs hybridized.

MXNet 1.9.1: AttributeError: 'NDArray' object has no attribute 'name', before `hybridize()`.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.model import Confidence
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """An attribute that Symbol has and NDArray lacks."""
    if event.get("owner") != "graph":
        return None
    message = f"`{event.subject}` is a tensor: `.{event.name}` exists in a graph only, not on an array"
    return Finding(message, "ask the Symbol outside the block: `net(mx.sym.var('data'))`", Confidence.LIKELY)


RULE = Rule(
    code="AH114",
    name="symbol-only-attribute",
    summary="an attribute that only a Symbol has",
    kinds=(EventKind.ATTRIBUTE,),
    check=check,
    valid=(
        Valid(forward("return F.relu(x, name=self.name)")),
        Valid(forward("if isinstance(x, mx.sym.Symbol):\n    n = 1\nreturn F.relu(x)")),
    ),
    invalid=(
        Invalid(forward("n = x.name\nreturn F.relu(x)"), ("x.name",), Confidence.LIKELY),
        Invalid(forward("y = F.relu(x)\nn = y.list_arguments()\nreturn y"), ("y.list_arguments",), Confidence.LIKELY),
    ),
)
