"""AH115 tensor-attribute-assignment: an attribute of a tensor is assigned.

What it finds: `x.shape = (3, 2)`, `x.note = 1` on a tensor.

Why a graph cannot express it: a tensor of a graph holds no state of its own.

Example: `y.shape = (3, 2)`

Instead: `y = y.reshape((3, 2))`; keep notes in a name of your own.

Fix safety: unsafe: it may change what the code does imperatively.

When to suppress: never.

MXNet 1.9.1: AttributeError on an array and on a Symbol.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """`x.name = ...`."""
    message = f"`{event.text} = ...` sets an attribute of a tensor, which has none to set"
    help_text = (
        f"write `{event.subject} = {event.subject}.reshape((...))`"
        if event.name == "shape"
        else "keep it in a name of its own"
    )
    return Finding(message, help_text)


RULE = Rule(
    code="AH115",
    name="tensor-attribute-assignment",
    summary="an attribute of a tensor is assigned",
    kinds=(EventKind.STORE_ATTRIBUTE,),
    check=check,
    valid=(
        Valid(forward("class Box:\n    pass\nb = Box()\nb.value = F.relu(x)\nreturn b.value")),
        Valid(forward("y = x.reshape((4, 9))\nreturn y")),
    ),
    invalid=(
        Invalid(
            forward("y = F.relu(x)\ny.shape = (3, 2)\nreturn y"),
            ("y.shape",),
            removed=("y.shape = (3, 2)",),
        ),
        Invalid(
            forward("y = x * 2\ny.note = 1\nreturn y"),
            ("y.note",),
            removed=("y.note = 1",),
        ),
    ),
)
