"""AH404 tensor-assert: an assertion on the value of a tensor.

What it finds: `assert F.min(x) >= 0` in a hybrid method.

Why a graph cannot express it: the value does not exist while the graph is built.

Example: `assert F.min(x) >= 0`

Instead: assert outside the block, on its inputs.

Fix safety: unsafe: it may change what the code does imperatively.

When to suppress: when the value is a number that the analysis could not see.

MXNet 1.9.1: NotImplementedForSymbol: bool is not implemented for Symbol.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """`assert tensor`."""
    if event.name != "assert":
        return None
    message = f"`{event.subject}` is a tensor: there is no value to assert while the graph is built"
    return Finding(message, "assert outside the block, or only on real arrays: `if isinstance(x, mx.nd.NDArray): ...`")


RULE = Rule(
    code="AH404",
    name="tensor-assert",
    summary="an assertion on the value of a tensor",
    kinds=(EventKind.CONDITION,),
    check=check,
    valid=(
        Valid(forward("assert x is not None\nreturn F.relu(x)")),
        Valid(forward("assert self.n > 0\nreturn x * self.n", init="self.n = 2")),
    ),
    invalid=(
        Invalid(
            forward("assert F.min(x) >= 0\nreturn F.sqrt(x)"),
            ("F.min(x) >= 0",),
            removed=("assert F.min(x) >= 0",),
        ),
        Invalid(
            forward("y = F.relu(x)\nassert y.sum() > 0, 'empty'\nreturn y"),
            ("y.sum() > 0",),
            removed=("assert y.sum() > 0, 'empty'",),
        ),
    ),
)
