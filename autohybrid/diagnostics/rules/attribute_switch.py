"""AH512 attribute-switch: `getattr` with a default gives one answer for arrays and another for symbols.

What it finds: `getattr(x, 'shape', None)` on a tensor, for an attribute that only an array or only a Symbol has.

Why a graph cannot express it: the default stands in while the graph is built, and the block goes on with it.

Example: `n = getattr(x, 'shape', (1,))[0]`

Instead: an operator that needs no such attribute.

Fix safety: unsafe: it may change what the code does imperatively.

When to suppress: when both answers lead to the same result.

MXNet 1.9.1: no error: the hybridized block uses the default.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.model import Confidence
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """`getattr(tensor, name, default)`."""
    if event.name != "attribute":
        return None
    message = f"`{event.text}` gives the attribute of an array, and the default while the graph is built"
    return Finding(message, "use an operator that needs no such attribute", Confidence.LIKELY)


RULE = Rule(
    code="AH512",
    name="attribute-switch",
    summary="`getattr` with a default gives one answer for arrays and another for symbols",
    kinds=(EventKind.TYPE_TEST,),
    check=check,
    valid=(
        Valid(forward("e = getattr(x, 'no_such', 0)\nreturn F.relu(x) + e")),
        Valid(forward("k = getattr(self, 'k', 2)\nreturn x * k")),
    ),
    invalid=(
        Invalid(
            forward("y = F.relu(x)\nn = getattr(y, 'shape', (1,))[0]\nreturn y / n"),
            ("getattr(y, 'shape', (1,))",),
            Confidence.LIKELY,
            raises=False,
            fixed=("n = y.shape[0]",),
        ),
        Invalid(
            forward("s = getattr(x, 'stype', 'default')\nreturn F.relu(x)"),
            ("getattr(x, 'stype', 'default')",),
            Confidence.LIKELY,
            raises=False,
            removed=("s = getattr(x, 'stype', 'default')",),
        ),
    ),
)
