"""AH410 stale-field-condition: a branch depends on a field that the method itself changes.

What it finds: `if self.prev is None:` where the same hybrid method assigns `self.prev`.

Why a graph cannot express it: the branch is taken once, while the graph is built; the field changes later, the branch
does not.

Example: `out = x if self.prev is None else x - self.prev`

Instead: pass the state in and return it.

Fix safety: no fix is offered; the help names the rewrite.

When to suppress: when the field has the same value at every call.

MXNet 1.9.1: no error: the branch of the first call is kept.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.model import Confidence
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """A condition on a field that changes."""
    message = (
        f"`{event.subject}` is decided once, while the graph is built, though the method changes what it depends on"
    )
    return Finding(message, "pass the state in and return it", Confidence.LIKELY)


RULE = Rule(
    code="AH410",
    name="stale-field-condition",
    summary="a branch depends on a field that the method itself changes",
    kinds=(EventKind.READ_STATE,),
    check=check,
    valid=(
        Valid(forward("if self.act is None:\n    return x * 2\nreturn x * 3", init="self.act = None")),
        Valid(forward("self.n = 3\nreturn x * self.n", init="self.n = 0")),
    ),
    invalid=(
        Invalid(
            forward(
                "out = x * 2 if self.prev is None else x - self.prev\nself.prev = x\nreturn out",
                init="self.prev = None",
            ),
            ("self.prev is None",),
            Confidence.LIKELY,
            raises=False,
        ),
        Invalid(
            forward("if self.n > 3:\n    x = x * 2\nself.n += 1\nreturn x * 1", init="self.n = 0"),
            ("self.n > 3",),
            Confidence.LIKELY,
            raises=False,
        ),
    ),
)
