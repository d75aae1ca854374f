"""AH301 print-in-graph: something is printed while the graph is built.

What it finds: `print(...)` in a hybrid method, unless an exception follows.

Why a graph cannot express it: Python inside a hybrid method runs once, while the graph is built; later calls run the
graph alone.

Example: `print(F, x)`

Instead: print outside the block, or the result after the call.

Fix safety: unsafe: it may change what the code does imperatively.

When to suppress: when one line at build time is what you want.

MXNet 1.9.1: no error: the line appears once, with a Symbol in place of the numbers.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.model import Confidence, Severity
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """`print`."""
    if event.name != "print":
        return None
    shown = " and shows no numbers" if event.data.get("tensor") else ""
    message = f"`print` runs once, while the graph is built{shown}"
    return Finding(message, "print outside the block, from the result of the call")


RULE = Rule(
    code="AH301",
    name="print-in-graph",
    summary="something is printed while the graph is built",
    kinds=(EventKind.EFFECT,),
    check=check,
    severity=Severity.WARNING,
    valid=(
        Valid(
            forward(
                "if self.mode not in ('a', 'b'):\n"
                "    print('unknown mode')\n"
                "    raise ValueError(self.mode)\n"
                "return x * 2",
                init="print('made')\nself.mode = 'a'",
            )
        ),
        Valid(forward("return F.relu(x)")),
    ),
    invalid=(
        Invalid(
            forward("print(x)\nreturn F.relu(x)"),
            ("print(x)",),
            Confidence.LIKELY,
            raises=False,
            removed=("print(x)",),
        ),
        Invalid(
            forward("for i in range(3):\n    print(i)\nreturn F.relu(x)"),
            ("print(i)",),
            Confidence.LIKELY,
            raises=False,
            removed=("for i in range(3):", "print(i)"),
        ),
    ),
)
