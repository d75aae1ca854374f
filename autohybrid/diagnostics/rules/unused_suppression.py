"""AH900 unused-suppression: a comment suppresses a rule that finds nothing there.

What it finds: `# noqa: AH...`, `# autohybrid: ignore[...]`, `file-ignore[...]` or `off` whose rule has no finding on
the lines it covers. Codes of other tools are never touched; codes of rules that do not run are not reported.

Why a graph cannot express it: this is about the comment. A comment that outlives its finding hides the next one.

Example: `y = F.relu(x)  # autohybrid: ignore[AH104]`

Instead: `y = F.relu(x)`

Fix safety: safe; the comment, or the one code in it, is removed.

When to suppress: `ignore = ["AH900"]` while a code base is being moved between versions.

MXNet 1.9.1: not affected.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.model import Severity
from autohybrid.diagnostics.rule import Finding, Rule


def check(event: Event) -> Finding | None:
    """A comment, or one code in it, that no finding needed."""
    if event.name != "unused":
        return None
    if event.subject:
        return Finding(f"`{event.subject}` is suppressed here, but finds nothing", f"remove `{event.subject}`")
    return Finding("this comment suppresses nothing", "remove the comment")


RULE = Rule(
    code="AH900",
    name="unused-suppression",
    summary="a comment suppresses a rule that finds nothing there",
    kinds=(EventKind.SUPPRESSION,),
    check=check,
    severity=Severity.WARNING,
)
