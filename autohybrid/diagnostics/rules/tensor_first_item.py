"""AH105 tensor-first-item: the first item of a tensor is taken, and a graph gives the whole tensor.

What it finds: `x[0]`, `x[:1]`, `x[0:1]`, `x[::2]`, `x[0][0]` on a tensor.

Why a graph cannot express it: the subscript of a Symbol picks an output, and the first output of a tensor is the
tensor itself: no error, another result.

Example: `first = x[0]`

Instead: `F.squeeze(F.slice_axis(x, axis=0, begin=0, end=1), axis=0)`.

Fix safety: unsafe: it may change what the code does imperatively.

When to suppress: when the value is a list of tensors that the analysis could not see.

MXNet 1.9.1: no error: the hybridized block computes with the whole tensor.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.edits import expression
from autohybrid.diagnostics.model import Confidence
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """A subscript that gives the whole tensor."""
    if event.get("single") or not event.data.get("silent"):
        return None
    tensor = event.subject
    message = f"`{event.text}` is the first item of an array but the whole of `{tensor}` in a graph"
    squeezed = f"`F.squeeze(F.slice_axis({tensor}, axis=0, begin=0, end=1), axis=0)`"
    sliced = f"`F.slice_axis({tensor}, axis=0, begin=0, end=1)`"
    rewrite = squeezed if event.get("index") == "int" else sliced
    return Finding(message, f"write {rewrite}", fixes=expression(event, rewrite))


RULE = Rule(
    code="AH105",
    name="tensor-first-item",
    summary="the first item of a tensor is taken, and a graph gives the whole tensor",
    kinds=(EventKind.SUBSCRIPT,),
    check=check,
    valid=(
        Valid(forward("a = F.split(x, num_outputs=2, axis=1)\nreturn a[0]")),
        Valid(forward("return F.relu(states[0])", inputs="x, states")),
        Valid(forward("out = [F.relu(x)]\nreturn out[0]")),
    ),
    invalid=(
        Invalid(
            forward("y = F.relu(x)\nreturn y[0]"),
            ("y[0]",),
            raises=False,
            fixed=("return F.squeeze(F.slice_axis(y, axis=0, begin=0, end=1), axis=0)",),
        ),
        Invalid(
            forward("y = F.relu(x)\nreturn y[:1]"),
            ("y[:1]",),
            raises=False,
            fixed=("return F.slice(y, begin=(None,), end=(1,))",),
        ),
        Invalid(
            forward("return x[0]"),
            ("x[0]",),
            Confidence.LIKELY,
            raises=False,
            fixed=("return F.squeeze(F.slice_axis(x, axis=0, begin=0, end=1), axis=0)",),
        ),
    ),
)
