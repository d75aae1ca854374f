"""AH509 dynamic-shape: the shape of a result depends on values.

What it finds: `F.contrib.boolean_mask`.

Why a graph cannot express it: the graph can be built, but its sizes are known only when it runs: memory cannot be
planned and it cannot be exported.

Example: `F.contrib.boolean_mask(x, x > 0)`

Instead: `F.where` with a neutral element keeps the shape.

Fix safety: no fix is offered; the help names the rewrite.

When to suppress: when a slower graph is fine.

MXNet 1.9.1: no error: runs without planned memory.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.model import Confidence, Severity
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """An operator whose shape depends on values."""
    message = (
        f"the size of `{event.text}` depends on values, so memory cannot be planned and the graph cannot be exported"
    )
    return Finding(message, "keep the shape and mask the values: `F.where(mask, x, F.zeros_like(x))`")


RULE = Rule(
    code="AH509",
    name="dynamic-shape",
    summary="the shape of a result depends on values",
    kinds=(EventKind.DYNAMIC,),
    check=check,
    severity=Severity.WARNING,
    valid=(
        Valid(forward("return F.where(x > 0, x, F.zeros_like(x))")),
        Valid(forward("return F.take(x, i)", inputs="x, i")),
    ),
    invalid=(
        Invalid(
            forward("return F.contrib.boolean_mask(x, m > 0)", inputs="x, m"),
            ("F.contrib.boolean_mask(x, m > 0)",),
            Confidence.LIKELY,
            raises=False,
        ),
        Invalid(
            forward("y = F.contrib.boolean_mask(x, m)\nreturn y", inputs="x, m"),
            ("F.contrib.boolean_mask(x, m)",),
            Confidence.LIKELY,
            raises=False,
        ),
    ),
)
