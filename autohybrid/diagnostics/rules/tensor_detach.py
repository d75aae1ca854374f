"""AH206 tensor-detach: a tensor is detached or differentiated inside the block.

What it finds: `x.detach()`, `x.backward()` on a tensor.

Why a graph cannot express it: these belong to the tape of the imperative mode; a graph has operators for it.

Example: `target.detach()`

Instead: `F.stop_gradient(target)`.

Fix safety: safe for `detach()`.

When to suppress: when the block is never hybridized.

MXNet 1.9.1: NotImplementedForSymbol: detach is not implemented for Symbol.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.edits import call_of
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """`detach`, `backward`."""
    if event.name not in ("detach", "backward"):
        return None
    message = f"`{event.subject}` is a tensor: `.{event.name}()` works on the imperative tape only"
    if event.name == "detach":
        fixes = call_of(event, "stop_gradient", "subject", "use `stop_gradient`")
        return Finding(message, f"write `F.stop_gradient({event.subject})`", fixes=fixes)
    return Finding(message, "call `backward()` outside the block, on its result")


RULE = Rule(
    code="AH206",
    name="tensor-detach",
    summary="a tensor is detached or differentiated inside the block",
    kinds=(EventKind.METHOD,),
    check=check,
    valid=(
        Valid(forward("return F.stop_gradient(x)")),
        Valid(forward("return F.BlockGrad(x) + x")),
    ),
    invalid=(
        Invalid(forward("t = x.detach()\nreturn t + 1"), ("x.detach()",), fixed=("t = F.stop_gradient(x)",)),
        Invalid(
            forward("y = F.relu(x)\ny.backward()\nreturn y"),
            ("y.backward()",),
            removed=("y.backward()",),
        ),
    ),
)
