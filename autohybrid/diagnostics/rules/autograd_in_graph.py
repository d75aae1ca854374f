"""AH310 autograd-in-graph: gradients are taken inside a hybrid method.

What it finds: `autograd.backward`, `autograd.grad`, `autograd.mark_variables` in a hybrid method.

Why a graph cannot express it: they work on arrays that were recorded; a graph records nothing while it is built.

Example: `autograd.backward(y)`

Instead: take gradients outside the block.

Fix safety: unsafe: it may change what the code does imperatively.

When to suppress: when the block is never hybridized.

MXNet 1.9.1: TypeError on a Symbol.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """`autograd.backward` and the like."""
    if event.name != "autograd":
        return None
    message = f"`{event.text}` works on recorded arrays, and there are none while the graph is built"
    return Finding(message, "take gradients outside the block")


RULE = Rule(
    code="AH310",
    name="autograd-in-graph",
    summary="gradients are taken inside a hybrid method",
    kinds=(EventKind.EFFECT,),
    check=check,
    valid=(
        Valid(forward("return F.relu(x)")),
        Valid(forward("return x * self.grad", init="self.grad = 2")),
    ),
    invalid=(
        Invalid(
            forward("y = F.relu(x)\nautograd.backward([y])\nreturn y"),
            ("autograd.backward([y])",),
            removed=("autograd.backward([y])",),
        ),
        Invalid(forward("y = x * x\ng = autograd.grad(y, [x])\nreturn y"), ("autograd.grad(y, [x])",)),
    ),
)
