"""AH502 tensor-length: `len` of a tensor.

What it finds: `len(x)` of a tensor.

Why a graph cannot express it: the length of a Symbol is the number of its outputs, 1, where an array has its first
size.

Example: `F.sum(x, axis=0) / len(x)`

Instead: an operator that needs no size (`F.mean(x, axis=0)`), or `F.shape_array(x)`.

Fix safety: unsafe: it may change what the code does imperatively.

When to suppress: when the value is a list of tensors that the analysis could not see.

MXNet 1.9.1: no error: the length is 1.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """`len(tensor)`."""
    tensor = event.subject
    message = f"`len({tensor})` is the size of the first axis of an array but 1 in a graph"
    return Finding(
        message, f"use `F.mean` over the axis, or `F.slice_axis(F.shape_array({tensor}), axis=0, begin=0, end=1)`"
    )


RULE = Rule(
    code="AH502",
    name="tensor-length",
    summary="`len` of a tensor",
    kinds=(EventKind.LENGTH,),
    check=check,
    valid=(
        Valid(forward("parts = F.split(x, num_outputs=2, axis=1)\nreturn parts[0] / len(parts)")),
        Valid(forward("n = len(states)\nreturn states[0] * n", inputs="states")),
    ),
    invalid=(
        Invalid(
            forward("y = F.relu(x)\nreturn y / len(y)"),
            ("len(y)",),
            raises=False,
            fixed=(
                "return F.broadcast_div(y, F.cast(F.slice_axis(F.shape_array(y), axis=0, begin=0, end=1), "
                "dtype='float32'))",
            ),
        ),
        Invalid(
            forward("return F.sum(F.relu(x), axis=0) / len(F.relu(x))"),
            ("len(F.relu(x))",),
            raises=False,
            fixed=(
                "return F.broadcast_div(F.sum(F.relu(x), axis=0), "
                "F.cast(F.slice_axis(F.shape_array(F.relu(x)), axis=0, begin=0, end=1), dtype='float32'))",
            ),
        ),
    ),
)
