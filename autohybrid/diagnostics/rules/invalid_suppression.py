"""AH902 invalid-suppression: a suppression comment says something that autohybrid does not know.

What it finds: `# autohybrid:` followed by an unknown word, or a code or name that belongs to no rule. Such a comment
suppresses nothing.

Why a graph cannot express it: this is about the comment.

Example: `n = x.shape[0]  # autohybrid: ignroe[AH101]`

Instead: `n = x.shape[0]  # autohybrid: ignore[AH101]`

Fix safety: no fix is offered.

When to suppress: when another tool owns comments that begin with `# autohybrid:`.

MXNet 1.9.1: not affected.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.model import Severity
from autohybrid.diagnostics.rule import Finding, Rule


def check(event: Event) -> Finding | None:
    """An unknown word or an unknown code."""
    if event.name == "unknown-word":
        return Finding(f"`{event.subject}` is no suppression that autohybrid knows{event.get('hint')}", _FORMS)
    if event.name == "unknown-code":
        return Finding(f"`{event.subject}` is no rule{event.get('hint')}", "list the rules with `autohybrid rule`")
    return None


_FORMS = "the forms are `ignore[CODE] reason`, `file-ignore[CODE] reason`, `off` and `on`"

RULE = Rule(
    code="AH902",
    name="invalid-suppression",
    summary="a suppression comment says something that autohybrid does not know",
    kinds=(EventKind.SUPPRESSION,),
    check=check,
    severity=Severity.WARNING,
)
