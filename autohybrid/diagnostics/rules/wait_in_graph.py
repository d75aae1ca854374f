"""AH307 wait-in-graph: the block waits for computations that a graph has not started.

What it finds: `mx.nd.waitall()` in a hybrid method.

Why a graph cannot express it: Python inside a hybrid method runs once, while the graph is built; later calls run the
graph alone.

Example: `mx.nd.waitall()`

Instead: wait outside the block.

Fix safety: unsafe: it may change what the code does imperatively.

When to suppress: never.

MXNet 1.9.1: no error: it waits once, while the graph is built.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.model import Confidence, Severity
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """`waitall`."""
    if event.name != "waitall":
        return None
    return Finding("`waitall` waits once, while the graph is built, and never when it runs", "wait outside the block")


RULE = Rule(
    code="AH307",
    name="wait-in-graph",
    summary="the block waits for computations that a graph has not started",
    kinds=(EventKind.EFFECT,),
    check=check,
    severity=Severity.WARNING,
    valid=(
        Valid(forward("return F.exp(x)")),
        Valid(forward("return F.relu(x)", init="mx.nd.waitall()")),
    ),
    invalid=(
        Invalid(
            forward("y = F.exp(x)\nmx.nd.waitall()\nreturn y"),
            ("mx.nd.waitall()",),
            Confidence.LIKELY,
            raises=False,
            removed=("mx.nd.waitall()",),
        ),
        Invalid(
            forward("nd.waitall()\nreturn F.relu(x)"),
            ("nd.waitall()",),
            Confidence.LIKELY,
            raises=False,
            removed=("nd.waitall()",),
        ),
    ),
)
