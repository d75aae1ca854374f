"""AH703 array-operator-on-tensor: an operator of `mx.nd` on a tensor of the graph.

What it finds: `nd.relu(x)`, `mx.nd.array(x)` with a tensor of a hybrid method, also in a helper or through a name
bound to `mx.nd`.

Why a graph cannot express it: `mx.nd` works on arrays; while the graph is built the tensors are Symbols.

Example: `mx.nd.split(x, num_outputs=2)`

Instead: the namespace that the method is given: `F.split(x, num_outputs=2)`; pass `F` to helpers.

Fix safety: safe where `F` is at hand and has the name; else none is offered.

When to suppress: when the block is never hybridized.

MXNet 1.9.1: AssertionError: Argument data must have NDArray type.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.edits import NO_FIX, replacement
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """`mx.nd.f(tensor)`."""
    if event.get("how") != "nd":
        return None
    function = event.get("function")
    message = f"`{function}` takes arrays, and is given a tensor of the graph"
    if event.name == "array":
        return Finding(message, "leave `array` out: it is a tensor already")
    fixes = NO_FIX
    if event.space and "function" in event.parts:
        name = f"{event.space}.{event.name}"
        fixes = replacement(f"call `{name}`", event.parts["function"].span, name)
    help_text = f"write `F.{event.name}`, with `F` as given to `hybrid_forward` (pass it on to helpers)"
    return Finding(message, help_text, fixes=fixes)


RULE = Rule(
    code="AH703",
    name="array-operator-on-tensor",
    summary="an operator of `mx.nd` on a tensor of the graph",
    kinds=(EventKind.FOREIGN,),
    check=check,
    valid=(
        Valid(forward("return F.relu(x)")),
        Valid(forward("return x * 2", init="self.table = mx.nd.array([1, 2])")),
        Valid(forward("if F is mx.nd:\n    return nd.relu(x)\nreturn F.relu(x)")),
    ),
    invalid=(
        Invalid(forward("return mx.nd.relu(x)"), ("mx.nd.relu(x)",), fixed=("return F.relu(x)",)),
        Invalid(
            forward("y = F.relu(x)\nreturn nd.softmax(y, axis=-1)"),
            ("nd.softmax(y, axis=-1)",),
            fixed=("return F.softmax(y, axis=-1)",),
        ),
    ),
)
