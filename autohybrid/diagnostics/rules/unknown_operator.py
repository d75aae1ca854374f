"""AH702 unknown-operator: an operator that MXNet does not have.

What it finds: `F.name` for a name that neither `mx.nd` nor `mx.sym` has, or that only `mx.sym` has.

Why a graph cannot express it: there is no such operator to put into the graph.

Example: `F.hypot(x, y)`, `F.softmaxx(x)`

Instead: the operator of the closest name.

Fix safety: unsafe: the closest name is a guess.

When to suppress: when a custom operator of that name is registered at run time.

MXNet 1.9.1: AttributeError: before `hybridize()` for the names of `mx.sym`, in both modes for the others.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.model import Confidence
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """A name that `F` lacks in one mode or both."""
    owner = event.get("owner")
    if owner == "array":
        return None
    name = f"{event.get('namespace')}.{event.name.rpartition('.')[2]}"
    if owner == "graph":
        return Finding(
            f"`{name}` exists in a graph only, not for arrays",
            "use an operator that `mx.nd` has too",
            Confidence.LIKELY,
        )
    closest = event.get("closest")
    help_text = f"did you mean `{event.get('namespace')}.{closest}`?" if closest else "see the list of operators"
    return Finding(f"`{name}` is no operator of MXNet 1.9.1", help_text, Confidence.LIKELY)


RULE = Rule(
    code="AH702",
    name="unknown-operator",
    summary="an operator that MXNet does not have",
    kinds=(EventKind.MISSING,),
    check=check,
    valid=(
        Valid(forward("return F.softmax(x)")),
        Valid(forward("try:\n    f = getattr(F, 'no_such')\nexcept AttributeError:\n    f = F.relu\nreturn f(x)")),
    ),
    invalid=(
        Invalid(forward("return F.softmaxx(x)"), ("F.softmaxx",), Confidence.LIKELY, fixed=("return F.softmax(x)",)),
        Invalid(
            forward("return F.hypot(x, x)"), ("F.hypot",), Confidence.LIKELY, fixed=("return F.broadcast_hypot(x, x)",)
        ),
    ),
)
