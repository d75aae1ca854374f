"""AH103 tensor-context: the device of a tensor is read.

What it finds: `.context` or `.ctx` of a tensor inside a hybrid method.

Why a graph cannot express it: a Symbol is on no device; the graph runs where its inputs are.

Example: `F.zeros((1, 3), ctx=x.context)`

Instead: an operator that follows its input (`F.zeros_like(x)`), or no `ctx` at all: the executor places what the
graph creates.

Fix safety: unsafe: it may change what the code does imperatively.

When to suppress: when the block is never hybridized.

MXNet 1.9.1: AttributeError: 'Symbol' object has no attribute 'context'.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """`x.context`, `x.ctx`."""
    if event.name not in ("context", "ctx") or event.get("owner") != "array":
        return None
    message = f"`{event.subject}` is a tensor: its device is not known while the graph is built"
    return Finding(message, f"leave `ctx` out, or follow the tensor: `F.zeros_like({event.subject})`")


RULE = Rule(
    code="AH103",
    name="tensor-context",
    summary="the device of a tensor is read",
    kinds=(EventKind.ATTRIBUTE,),
    check=check,
    valid=(
        Valid(forward("return x * len(self.context)", init="self.context = 'train'")),
        Valid(forward("return x + F.zeros_like(x)")),
    ),
    invalid=(
        Invalid(
            forward("return x + F.zeros((1, 3), ctx=x.context)"),
            ("x.context",),
            fixed=("return x + F.zeros((1, 3))",),
        ),
        Invalid(forward("c = x.ctx\nreturn x * 2"), ("x.ctx",)),
    ),
)
