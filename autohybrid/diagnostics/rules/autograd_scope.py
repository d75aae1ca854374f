"""AH508 autograd-scope: a scope of autograd has no effect in a graph.

What it finds: `with autograd.pause():`, `train_mode()`, `predict_mode()`, `record()` in a hybrid method.

Why a graph cannot express it: the scope acts on what runs inside it, and that is only the building of the graph.

Example: `with autograd.pause():`

Instead: `F.stop_gradient` for `pause`; `F.Dropout(..., mode='always')` or `F.identity` for the modes.

Fix safety: unsafe: it may change what the code does imperatively.

When to suppress: never: gradients differ.

MXNet 1.9.1: no error: the gradient flows, dropout stays on.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """`autograd.pause()` and the like."""
    message = f"`{event.text}` acts while the graph is built and not when it runs"
    if event.name == "pause":
        return Finding(message, "wrap the result: `F.stop_gradient(...)`")
    return Finding(message, "open the scope outside the block")


RULE = Rule(
    code="AH508",
    name="autograd-scope",
    summary="a scope of autograd has no effect in a graph",
    kinds=(EventKind.SCOPE,),
    check=check,
    valid=(
        Valid(forward("w = F.stop_gradient(F.softmax(x))\nreturn x * w")),
        Valid(forward("return self.d(x)", init="with self.name_scope():\n    self.d = nn.Dense(3)")),
    ),
    invalid=(
        Invalid(
            forward("with autograd.pause():\n    w = F.softmax(x)\nreturn x * w"),
            ("autograd.pause()",),
            raises=False,
            fixed=("w = F.stop_gradient(F.softmax(x))",),
        ),
        Invalid(
            forward("with autograd.predict_mode():\n    w = F.Dropout(x)\nreturn x * w"),
            ("autograd.predict_mode()",),
            raises=False,
        ),
    ),
)
