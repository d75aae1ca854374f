"""AH610 static-input: an input is used as a number, text or flag.

What it finds: an input of `hybrid_forward` without a default that is used as an attribute of an operator, as a count
or in a comparison with a text, and that no call in the project passes as such.

Why a graph cannot express it: a hybridized outermost block takes arrays, `None` and nested lists of them only.

Example: `def hybrid_forward(self, F, x, k): return x ** k`

Instead: give it to the constructor.

Fix safety: no fix is offered; the help names the rewrite.

When to suppress: when the block is only called inside another block.

MXNet 1.9.1: ValueError: the input of HybridBlock must be (nested) list of Symbol or NDArray, but got 2 of type int.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.model import Confidence
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """An input that is no tensor."""
    if event.name != "static":
        return None
    name = event.subject
    message = f"`{name}` is used as {event.get('use')}: a hybridized block takes no number, text or flag as input"
    return Finding(message, f"give `{name}` to the constructor: `self._{name}`", Confidence.LIKELY)


RULE = Rule(
    code="AH610",
    name="static-input",
    summary="an input is used as a number, text or flag",
    kinds=(EventKind.SIGNATURE,),
    check=check,
    valid=(
        Valid(forward("return F.sum(x, axis=axis)", inputs="x, axis=1")),
        Valid(forward("return F.broadcast_power(x, y)", inputs="x, y")),
    ),
    invalid=(
        Invalid(forward("return x ** k", inputs="x, k"), ("k",), Confidence.LIKELY),
        Invalid(forward("return F.sum(x, axis=axis)", inputs="x, axis"), ("axis",), Confidence.LIKELY),
    ),
)
