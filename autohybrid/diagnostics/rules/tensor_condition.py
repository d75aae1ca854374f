"""AH401 tensor-condition: a branch depends on the value of a tensor.

What it finds: `if`, `elif`, a conditional expression, a comprehension filter or `filter()` whose condition is a
tensor.

Why a graph cannot express it: the value does not exist while the graph is built, so there is nothing to decide by.

Example: `if x.sum() > 0:`

Instead: `F.where` with both sides, or `F.contrib.cond`.

Fix safety: unsafe: `F.where` computes both sides.

When to suppress: when the value is a number or flag that the analysis could not see.

MXNet 1.9.1: NotImplementedForSymbol: bool is not implemented for Symbol.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.model import Confidence
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward

_FORMS = frozenset({"if", "conditional expression", "comprehension", "filter", "case guard"})


def check(event: Event) -> Finding | None:
    """A tensor decides a branch."""
    if event.name not in _FORMS:
        return None
    tensor = event.subject
    message = f"`{tensor}` is a tensor: its truth is not known while the graph is built"
    if event.data.get("bare") and event.confidence is Confidence.LIKELY:
        return Finding(
            message, f"to ask whether it was given, write `{tensor} is not None`; to choose by value, `F.where`"
        )
    return Finding(
        message, f"compute both sides and choose: `F.where({tensor}, a, b)`, or `F.contrib.cond({tensor}, f, g)`"
    )


RULE = Rule(
    code="AH401",
    name="tensor-condition",
    summary="a branch depends on the value of a tensor",
    kinds=(EventKind.CONDITION,),
    check=check,
    valid=(
        Valid(forward("if mask is not None:\n    x = x * mask\nreturn x * 2", inputs="x, mask=None")),
        Valid(forward("if self.act:\n    return F.relu(x)\nreturn F.tanh(x)", init="self.act = True")),
        Valid(forward("return F.where(x > 0, x, x * 2)")),
    ),
    invalid=(
        Invalid(
            forward("y = F.relu(x)\nif y.sum() > 0:\n    return y * 2\nreturn y"),
            ("y.sum() > 0",),
            fixed=("return F.contrib.cond(y.sum() > 0, lambda: y * 2, lambda: y)",),
        ),
        Invalid(
            forward("y = F.relu(x)\nreturn y * 2 if y.max() > 1 else y"),
            ("y.max() > 1",),
            fixed=("return F.contrib.cond(y.max() > 1, lambda: y * 2, lambda: y)",),
        ),
    ),
)
