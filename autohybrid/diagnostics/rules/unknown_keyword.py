"""AH707 unknown-keyword: an operator does not take this keyword.

What it finds: `F.concat(x, y, axis=1)` and other keywords that the operator does not have.

Why a graph cannot express it: the attributes of an operator are fixed; a Symbol checks them when it is made. Operators
without any attributes check nothing: there the keyword has no effect, and the finding is a warning.

Example: `F.softmax(x, dim=1)`

Instead: the keyword of the closest name.

Fix safety: unsafe: the closest name is a guess.

When to suppress: when a newer version of the operator has it.

MXNet 1.9.1: MXNetError: Cannot find argument, in both modes; `F.relu(x, axis=1)` and other operators without
attributes ignore the keyword, in both modes.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.model import Confidence
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """An unknown keyword."""
    if event.data.get("only_array"):
        return None
    keyword, closest = event.get("keyword"), event.get("closest")
    message = f"`F.{event.name}` takes no `{keyword}`"
    if event.data.get("ignored"):
        return Finding(
            f"{message} and ignores it", f"leave it out, or did you mean `{closest}`?" if closest else "leave it out"
        )
    return Finding(
        message, f"did you mean `{closest}`?" if closest else "see the page of the operator for its keywords"
    )


RULE = Rule(
    code="AH707",
    name="unknown-keyword",
    summary="an operator does not take this keyword",
    kinds=(EventKind.KEYWORD,),
    check=check,
    valid=(
        Valid(forward("return F.softmax(x, axis=1)")),
        Valid(
            forward(
                "return F.FullyConnected(data=x, weight=w, num_hidden=6, no_bias=True, name='c')",
                inputs="x, w",
            )
        ),
        Valid(forward("return F.concat(x, x, dim=1)")),
    ),
    invalid=(
        Invalid(forward("return F.softmax(x, axes=1)"), ("axes=1",), fixed=("return F.softmax(x, axis=1)",)),
        Invalid(
            forward("return F.transpose(x, axis=(1, 0))"),
            ("axis=(1, 0)",),
            fixed=("return F.transpose(x, axes=(1, 0))",),
        ),
        Invalid(forward("return F.relu(x, axis=1)"), ("axis=1",), Confidence.LIKELY, raises=False),
    ),
)
