"""AH608 returned-input: an input is returned unchanged beside other results.

What it finds: `return x, F.relu(x)`.

Why a graph cannot express it: an output that is an input is no node of its own, and its gradient is lost.

Example: `return x, F.relu(x)`

Instead: `return F.identity(x), F.relu(x)`.

Fix safety: safe.

When to suppress: when no gradient is taken, or the block is only called inside another block.

MXNet 1.9.1: MXNetError in `backward()`, or a zero gradient.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.edits import NO_FIX, around
from autohybrid.diagnostics.model import Confidence
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """An input among the results."""
    if event.name != "input":
        return None
    message = f"`{event.subject}` is an input returned as it is: once hybridized its gradient is lost"
    fixes = NO_FIX
    if event.space and "subject" in event.parts:
        fixes = around("use `identity`", event.parts["subject"].span, f"{event.space}.identity(", ")")
    return Finding(message, f"write `F.identity({event.subject})`", Confidence.LIKELY, fixes=fixes)


RULE = Rule(
    code="AH608",
    name="returned-input",
    summary="an input is returned unchanged beside other results",
    kinds=(EventKind.RESULT,),
    check=check,
    valid=(
        Valid(forward("return F.identity(x), F.relu(x)")),
        Valid(forward("return x")),
        Valid(forward("if self.skip:\n    return x\nreturn F.relu(x)", init="self.skip = True")),
    ),
    invalid=(
        Invalid(
            forward("return x, F.relu(x)"),
            ("return x, F.relu(x)",),
            Confidence.LIKELY,
            raises=False,
            fixed=("return F.identity(x), F.relu(x)",),
        ),
        Invalid(
            forward("return F.relu(x) + y, y", inputs="x, y"),
            ("return F.relu(x) + y, y",),
            Confidence.LIKELY,
            raises=False,
            fixed=("return F.relu(x) + y, F.identity(y)",),
        ),
    ),
)
