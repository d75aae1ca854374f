"""AH901 blanket-suppression: a comment without codes hides a finding.

What it finds: a bare `# noqa` or `# autohybrid: ignore` that suppresses a finding of autohybrid. A bare comment that
hides nothing of ours is left to the tool it was written for.

Why a graph cannot express it: this is about the comment. It hides whatever else will go wrong on that line.

Example: `n = x.shape[0]  # noqa`

Instead: `n = x.shape[0]  # autohybrid: ignore[AH101] only ever called imperatively`

Fix safety: no fix is offered: only you know which finding was meant.

When to suppress: it is an info, shown with `--pedantic` or when selected by its code.

MXNet 1.9.1: not affected.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.model import Severity
from autohybrid.diagnostics.rule import Finding, Rule


def check(event: Event) -> Finding | None:
    """A comment that names no code and did hide a finding."""
    if event.name != "blanket":
        return None
    return Finding(
        f"`{event.text}` hides {event.get('hidden')} without naming it",
        f"write `# autohybrid: ignore[{event.get('hidden')}]` and the reason",
    )


RULE = Rule(
    code="AH901",
    name="blanket-suppression",
    summary="a comment without codes hides a finding",
    kinds=(EventKind.SUPPRESSION,),
    check=check,
    severity=Severity.INFO,
)
