"""AH501 tensor-iteration: a tensor is iterated.

What it finds: `for row in x`, comprehensions, `list(x)`, `zip`, `enumerate`, `map`, `sum(x)`, `F.stack(*x)` over a
tensor.

Why a graph cannot express it: a Symbol iterates over its outputs: one step with the whole tensor, where an array
gives its rows.

Example: `for row in x:`

Instead: `F.contrib.foreach`, `F.split` with a known number of parts, or an operator over the axis such as `F.sum(x,
axis=0)`.

Fix safety: unsafe: it may change what the code does imperatively.

When to suppress: when the value is a list of tensors that the analysis could not see.

MXNet 1.9.1: no error: one step with the whole tensor.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """Iteration over a tensor."""
    tensor = event.subject
    message = f"`{tensor}` is a tensor: iterating gives its rows as an array and the whole tensor, once, in a graph"
    if event.name == "sum":
        return Finding(message, f"write `F.sum({tensor}, axis=0)`")
    if event.name == "*":
        return Finding(message, f"split it first: `*F.split({tensor}, num_outputs=..., axis=0, squeeze_axis=True)`")
    split = f"`F.split({tensor}, num_outputs=..., axis=0, squeeze_axis=True)`"
    return Finding(message, f"use `F.contrib.foreach(body, {tensor}, states)` or {split}")


RULE = Rule(
    code="AH501",
    name="tensor-iteration",
    summary="a tensor is iterated",
    kinds=(EventKind.ITERATE,),
    check=check,
    valid=(
        Valid(forward("out = 0\nfor p in F.split(x, num_outputs=2, axis=1):\n    out = out + p\nreturn out")),
        Valid(forward("return F.concat(*[F.relu(x), x])")),
        Valid(forward("return F.add_n(*[s * 2 for s in states])", inputs="states")),
    ),
    invalid=(
        Invalid(
            forward("y = F.relu(x)\ntotal = 0\nfor row in y:\n    total = total + row\nreturn total"),
            ("y",),
            raises=False,
            fixed=("total = F.sum(F.contrib.foreach(lambda row, states: (row, states), y, [])[0], axis=0)",),
        ),
        Invalid(
            forward("y = F.relu(x)\nreturn F.stack(*y)"),
            ("y",),
            raises=False,
            fixed=("return F.identity(y)",),
        ),
    ),
)
