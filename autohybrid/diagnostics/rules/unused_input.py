"""AH613 unused-input: an input is not used while some shape is open.

What it finds: an input of `hybrid_forward` without a default that nothing reads, in a block where some layer leaves
its input size open.

Why a graph cannot express it: an input that no node reads is no input of the graph; inferring open shapes names every
input and fails on it.

Example: `def hybrid_forward(self, F, x, y): return self.d(x)`

Instead: remove the input, or give every layer its input size.

Fix safety: no fix is offered.

When to suppress: when every shape is given.

MXNet 1.9.1: ValueError: Deferred initialization failed because shape cannot be inferred.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.model import Confidence
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """An input that is not read."""
    if event.name != "unused":
        return None
    message = f"`{event.subject}` is not used, and some shape of the block is open: inferring it fails on unused inputs"
    return Finding(message, f"remove `{event.subject}`, or give every layer its input size", Confidence.LIKELY)


RULE = Rule(
    code="AH613",
    name="unused-input",
    summary="an input is not used while some shape is open",
    kinds=(EventKind.SIGNATURE,),
    check=check,
    valid=(
        Valid(forward("return self.d(x) + y", inputs="x, y", init="self.d = nn.Dense(6)")),
        Valid(forward("return self.d(x)", inputs="x, y", init="self.d = nn.Dense(3, in_units=6)")),
    ),
    invalid=(
        Invalid(forward("return self.d(x)", inputs="x, y", init="self.d = nn.Dense(3)"), ("y",), Confidence.LIKELY),
        Invalid(
            forward("return self.c(x) * 2", inputs="x, w", init="self.c = nn.BatchNorm()"), ("w",), Confidence.LIKELY
        ),
    ),
)
