"""AH607 constant-result: the result depends on no input.

What it finds: `return F.arange(4)` and the like.

Why a graph cannot express it: the graph takes its device and the reason to run from its inputs.

Example: `return F.arange(4).reshape((2, 2))`

Instead: follow an input (`F.zeros_like(x)`, `F.contrib.arange_like(x)`), or make the constant outside.

Fix safety: unsafe: it may change what the code does imperatively.

When to suppress: when the block is only called inside another block.

MXNet 1.9.1: MXNetError: no inputs in computation graph.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.model import Confidence
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """A result without inputs."""
    if event.name != "constant":
        return None
    message = f"`{event.subject}` depends on no input or parameter, so there is no graph to run"
    return Finding(
        message,
        "follow an input: `F.zeros_like(x)`, `F.contrib.arange_like(x)`; or make it outside the block",
        Confidence.LIKELY,
    )


RULE = Rule(
    code="AH607",
    name="constant-result",
    summary="the result depends on no input",
    kinds=(EventKind.RESULT,),
    check=check,
    valid=(
        Valid(forward("return F.broadcast_add(x, F.arange(6))")),
        Valid(forward("return F.zeros_like(x)")),
    ),
    invalid=(
        Invalid(
            forward("return F.arange(4).reshape((2, 2))"),
            ("return F.arange(4).reshape((2, 2))",),
            Confidence.LIKELY,
            fixed=("return F.broadcast_add(F.arange(4).reshape((2, 2)), F.sum(x) * 0)",),
        ),
        Invalid(
            forward("return F.zeros((2, 3))"),
            ("return F.zeros((2, 3))",),
            Confidence.LIKELY,
            fixed=("return F.broadcast_add(F.zeros((2, 3)), F.sum(x) * 0)",),
        ),
    ),
)
