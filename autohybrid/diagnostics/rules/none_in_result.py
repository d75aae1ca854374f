"""AH606 none-in-result: `None` among the results.

What it finds: `return y, None` or an optional input returned as it came.

Why a graph cannot express it: the outputs of a graph are tensors.

Example: `return F.tanh(x), state` with `state=None`

Instead: return only what there is: `return y if state is None else (y, state)`.

Fix safety: unsafe: the result has fewer parts.

When to suppress: when the block is only called inside another block.

MXNet 1.9.1: TypeError: Expected a list of symbols as input.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.model import Confidence
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """`None` in a result."""
    if event.name != "none":
        return None
    message = f"`{event.subject}` can be `None`, which the outermost hybridized block cannot return"
    return Finding(message, "return only the tensors there are", Confidence.LIKELY)


RULE = Rule(
    code="AH606",
    name="none-in-result",
    summary="`None` among the results",
    kinds=(EventKind.RESULT,),
    check=check,
    valid=(
        Valid(forward("y = F.tanh(x)\nreturn y if state is None else (y, state * 2)", inputs="x, state=None")),
        Valid(forward("return F.relu(x), x * 2")),
    ),
    invalid=(
        Invalid(
            forward("return F.tanh(x), state", inputs="x, state=None"),
            ("return F.tanh(x), state",),
            Confidence.LIKELY,
            fixed=("return F.tanh(x) if state is None else (F.tanh(x), state)",),
        ),
        Invalid(
            forward("return F.tanh(x), None"),
            ("return F.tanh(x), None",),
            Confidence.LIKELY,
            fixed=("return F.tanh(x)",),
        ),
    ),
)
