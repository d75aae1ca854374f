"""AH503 tensor-unpacking: a tensor is unpacked into several names.

What it finds: `mean, var = stats` with a tensor on the right.

Why a graph cannot express it: a Symbol has one value to give, the whole tensor.

Example: `mean, var = stats`

Instead: `mean, var = F.split(stats, num_outputs=2, axis=0, squeeze_axis=True)`.

Fix safety: unsafe: it may change what the code does imperatively.

When to suppress: when the value is a list of tensors that the analysis could not see.

MXNet 1.9.1: ValueError: not enough values to unpack.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """`a, b = tensor`."""
    tensor = event.subject
    message = f"`{tensor}` is a tensor: a graph cannot unpack its rows"
    return Finding(message, f"write `... = F.split({tensor}, num_outputs=..., axis=0, squeeze_axis=True)`")


RULE = Rule(
    code="AH503",
    name="tensor-unpacking",
    summary="a tensor is unpacked into several names",
    kinds=(EventKind.UNPACK,),
    check=check,
    valid=(
        Valid(forward("a, b = F.split(x, num_outputs=2, axis=1)\nreturn a - b")),
        Valid(forward("h, c = states\nreturn F.tanh(x + h), c * 2", inputs="x, states")),
    ),
    invalid=(
        Invalid(
            forward("y = F.relu(x)\na, b = y\nreturn a - b"),
            ("y",),
            fixed=("a, b = F.split(y, num_outputs=2, axis=0, squeeze_axis=True)",),
        ),
        Invalid(
            forward("a, b = F.relu(x)\nreturn a + b"),
            ("F.relu(x)",),
            fixed=("a, b = F.split(F.relu(x), num_outputs=2, axis=0, squeeze_axis=True)",),
        ),
    ),
)
