"""AH605 unsupported-result: a result that is neither a tensor nor a list of tensors.

What it finds: a dictionary, number, text, set, iterator or named tuple in what a hybrid method returns.

Why a graph cannot express it: the outputs of a graph are tensors in nested lists; a named tuple comes back as a list.

Example: `return {'out': y}`

Instead: a tuple of tensors; give them names outside the block.

Fix safety: no fix is offered; the help names the rewrite.

When to suppress: when the block is only called inside another block.

MXNet 1.9.1: ValueError for the outermost block; a named tuple silently loses its fields.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.model import Confidence
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward

_KINDS = {
    "dict": "a dictionary",
    "number": "a number",
    "text": "a text",
    "object": "an object of a class of its own",
    "set": "a set",
    "iterator": "an iterator",
    "namedtuple": "a named tuple",
}


def check(event: Event) -> Finding | None:
    """A result of a kind that a graph cannot give."""
    kind = _KINDS.get(event.name)
    if kind is None:
        return None
    message = f"`{event.subject}` is {kind}, and the outermost hybridized block can return tensors in lists only"
    return Finding(message, "return a tuple of tensors, and name them outside the block", Confidence.LIKELY, event.span)


RULE = Rule(
    code="AH605",
    name="unsupported-result",
    summary="a result that is neither a tensor nor a list of tensors",
    kinds=(EventKind.RESULT,),
    check=check,
    valid=(
        Valid(forward("return F.relu(x), [x * 2, [x + 1]]")),
        Valid(forward("return tuple([F.relu(x)])")),
    ),
    invalid=(
        Invalid(forward("return {'a': F.relu(x)}"), ("return {'a': F.relu(x)}",), Confidence.LIKELY),
        Invalid(forward("return F.relu(x), 3"), ("return F.relu(x), 3",), Confidence.LIKELY),
    ),
)
