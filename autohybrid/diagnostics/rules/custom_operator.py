"""AH802 custom-operator: an operator written in Python is part of the graph.

What it finds: `F.Custom(x, op_type='...')`.

Why a graph cannot express it: the graph holds the name of the operator only: whoever loads it must register the same
Python class.

Example: `F.Custom(x, op_type='clip')`

Instead: operators of `F`, where they can do it.

Fix safety: no fix is offered.

When to suppress: when the exported model is only loaded where the operator is registered.

MXNet 1.9.1: no error at export; MXNetError where the operator is not registered.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.model import Confidence
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """`F.Custom`."""
    if event.name != "custom":
        return None
    message = f"`{event.text}` needs its Python class wherever the exported graph is loaded"
    return Finding(message, "use operators of `F` where they can do it", Confidence.POSSIBLE)


RULE = Rule(
    code="AH802",
    name="custom-operator",
    summary="an operator written in Python is part of the graph",
    kinds=(EventKind.EXPORT,),
    check=check,
    valid=(
        Valid(forward("return F.clip(x, 0, 1)")),
        Valid(forward("return F.relu(x, name='Custom')")),
    ),
    invalid=(
        Invalid(forward("return F.Custom(x, op_type='clip')"), ("F.Custom(x, op_type='clip')",), Confidence.POSSIBLE),
        Invalid(
            forward("y = F.Custom(x, op_type='a')\nreturn y + 1"), ("F.Custom(x, op_type='a')",), Confidence.POSSIBLE
        ),
    ),
)
