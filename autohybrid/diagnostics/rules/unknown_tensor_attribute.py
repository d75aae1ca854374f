"""AH113 unknown-tensor-attribute: an attribute that no tensor has.

What it finds: `x.unsqueeze(0)`, `x.item()`, `x.size(0)` of another framework, or a field of a named tuple that gluon
passes on as a list.

Why a graph cannot express it: neither NDArray nor Symbol of MXNet 1.9.1 has the attribute; a named tuple loses its
fields on the way into a graph.

Example: `x.unsqueeze(0)`

Instead: the operator: `F.expand_dims(x, axis=0)`; for a named tuple, unpack by place.

Fix safety: unsafe: it may change what the code does imperatively.

When to suppress: when the input is an object of your own that is passed inside the graph.

MXNet 1.9.1: AttributeError on both, or, for a named tuple, once hybridized only.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.model import Confidence
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward

_NAMES = {
    "unsqueeze": "`F.expand_dims({x}, axis=...)`",
    "view": "`{x}.reshape((...))`",
    "permute": "`F.transpose({x}, axes=(...))`",
    "item": "nothing: a number cannot leave the graph; keep the tensor",
    "tolist": "nothing: numbers cannot leave the graph; keep the tensor",
    "std": "`F.sqrt(F.mean(F.square(F.broadcast_sub({x}, F.mean({x}, keepdims=True)))))`",
    "dot": "`F.dot({x}, ...)`",
    "cumsum": "`F.cumsum({x}, axis=...)`",
    "maximum": "`F.maximum({x}, ...)`",
    "minimum": "`F.minimum({x}, ...)`",
    "matmul": "`F.dot({x}, ...)` or `F.batch_dot({x}, ...)`",
    "erf": "`F.erf({x})`",
    "as_in_ctx": "nothing: a graph places its results itself",
}


def check(event: Event) -> Finding | None:
    """An attribute that neither NDArray nor Symbol has."""
    if event.get("owner") != "neither":
        return None
    record = event.get("record")
    if record:
        message = f"`{event.text}`: a `{record}` arrives as a list once hybridized and has no `{event.name}`"
        return Finding(
            message, f"unpack `{event.subject}` by place, or pass its fields as inputs of their own", Confidence.LIKELY
        )
    message = f"`{event.subject}` is a tensor, and no tensor has `.{event.name}`"
    rewrite = _NAMES.get(event.name)
    help_text = f"write {rewrite.format(x=event.subject)}" if rewrite else "use an operator of `F`"
    return Finding(message, help_text)


RULE = Rule(
    code="AH113",
    name="unknown-tensor-attribute",
    summary="an attribute that no tensor has",
    kinds=(EventKind.ATTRIBUTE,),
    check=check,
    valid=(
        Valid(forward("return F.expand_dims(x, axis=0)")),
        Valid(forward("e = getattr(x, 'no_such', 0)\nreturn F.relu(x) + e")),
    ),
    invalid=(
        Invalid(
            forward("return F.relu(x).unsqueeze(0)"),
            ("F.relu(x).unsqueeze",),
            fixed=("return F.relu(x).expand_dims(axis=0)",),
        ),
        Invalid(
            forward("y = F.relu(x)\nreturn y.permute((1, 0))"),
            ("y.permute",),
            fixed=("return y.transpose((1, 0))",),
        ),
    ),
)
