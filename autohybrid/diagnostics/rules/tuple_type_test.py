"""AH510 tuple-type-test: an input is tested for being a tuple.

What it finds: `isinstance(states, tuple)` on an input of a hybrid method.

Why a graph cannot express it: nested inputs are taken apart and put together again as lists on the way into a graph.

Example: `if isinstance(states, tuple):`

Instead: `isinstance(states, (list, tuple))`.

Fix safety: unsafe: a list that is given takes the other branch then.

When to suppress: when the block is only called inside a graph.

MXNet 1.9.1: no error: the test is true for the imperative call and false once hybridized.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.edits import UNSAFE, replacement
from autohybrid.diagnostics.model import Confidence
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """`isinstance(x, tuple)`."""
    if event.name != "tuple":
        return None
    message = f"a tuple given for `{event.subject}` arrives as a list once hybridized"
    fixes = replacement("accept both", event.parts["classes"].span, "(list, tuple)", UNSAFE) if event.parts else ()
    return Finding(message, f"write `isinstance({event.subject}, (list, tuple))`", fixes=fixes)


RULE = Rule(
    code="AH510",
    name="tuple-type-test",
    summary="an input is tested for being a tuple",
    kinds=(EventKind.TYPE_TEST,),
    check=check,
    valid=(
        Valid(
            forward(
                "h = states if isinstance(states, (list, tuple)) else [states]\nreturn x + h[0]", inputs="x, states"
            )
        ),
        Valid(forward("k = 2 if isinstance(self.k, tuple) else 3\nreturn x * k", init="self.k = (1, 2)")),
    ),
    invalid=(
        Invalid(
            forward(
                "if isinstance(states, tuple):\n    return x + states[0]\nreturn x - states[0]", inputs="x, states"
            ),
            ("isinstance(states, tuple)",),
            Confidence.LIKELY,
            raises=False,
            fixed=("if isinstance(states, (list, tuple)):",),
        ),
        Invalid(
            forward("n = 1 if isinstance(x, tuple) else 2\nreturn F.relu(x) * n"),
            ("isinstance(x, tuple)",),
            Confidence.LIKELY,
            raises=False,
            fixed=("n = 1 if isinstance(x, (list, tuple)) else 2",),
        ),
    ),
)
