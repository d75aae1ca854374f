"""AH711 sort-without-axis: `sort` without an axis has no gradient.

What it finds: `F.sort(x)` and `x.sort()` without `axis`.

Why a graph cannot express it: the gradient of the operator cannot read the missing axis, and a hybridized block
always prepares the gradient.

Example: `F.sort(x)`

Instead: `F.sort(x, axis=-1)`.

Fix safety: safe: -1 is the default.

When to suppress: never.

MXNet 1.9.1: MXNetError: Invalid Parameter format for axis expect int or None but value=''.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.edits import replacement
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward
from autohybrid.spans import Span


def check(event: Event) -> Finding | None:
    """`sort` without axis."""
    if event.get("problem") != "sort-axis":
        return None
    end = event.span
    closing = Span(end.path, end.end_line, end.end_column - 1, end.end_line, end.end_column)
    text = "axis=-1)" if event.text.endswith("()") else ", axis=-1)"
    message = f"`{event.text}` gives no axis, and its gradient cannot be built"
    return Finding(message, "write `axis=-1`", fixes=replacement("give the axis", closing, text))


RULE = Rule(
    code="AH711",
    name="sort-without-axis",
    summary="`sort` without an axis has no gradient",
    kinds=(EventKind.ARGUMENT,),
    check=check,
    valid=(
        Valid(forward("return F.sort(x, axis=-1)")),
        Valid(forward("return x.sort(axis=1)")),
    ),
    invalid=(
        Invalid(forward("return F.sort(x)"), ("F.sort(x)",), fixed=("return F.sort(x, axis=-1)",)),
        Invalid(forward("return x.sort()"), ("x.sort()",), fixed=("return x.sort(axis=-1)",)),
    ),
)
