"""AH713 array-only-argument: an argument that only the array's function takes.

What it finds: `F.arange(3, ctx=...)`, `F.linspace(..., ctx=...)`, `F.ones(shape, ctx)` by place.

Why a graph cannot express it: the functions of `mx.sym` have another signature: a graph has no device to give.

Example: `F.arange(0, 6, ctx=mx.cpu())`

Instead: leave `ctx` out.

Fix safety: safe.

When to suppress: when the block is never hybridized.

MXNet 1.9.1: TypeError: unexpected keyword argument 'ctx', or the context is taken for the dtype.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.edits import removal
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """A keyword or position of the array's function."""
    if event.get("problem") == "positional-context":
        return Finding(
            f"`{event.text}` gives the context by place, where a graph takes the dtype", "leave the context out"
        )
    if not event.data.get("only_array"):
        return None
    keyword = event.get("keyword")
    fixes = removal(event, f"leave `{keyword}` out")
    return Finding(f"`F.{event.name}` takes `{keyword}` for arrays only", f"leave `{keyword}` out", fixes=fixes)


RULE = Rule(
    code="AH713",
    name="array-only-argument",
    summary="an argument that only the array's function takes",
    kinds=(
        EventKind.KEYWORD,
        EventKind.ARGUMENT,
    ),
    check=check,
    valid=(
        Valid(forward("return F.broadcast_add(x, F.arange(0, 6))")),
        Valid(forward("return x + F.zeros((6, 6), ctx=mx.cpu())")),
    ),
    invalid=(
        Invalid(
            forward("return F.broadcast_add(x, F.arange(0, 6, ctx=mx.cpu()))"),
            ("ctx=mx.cpu()",),
            fixed=("return F.broadcast_add(x, F.arange(0, 6))",),
        ),
        Invalid(
            forward("return F.broadcast_add(x, F.ones((1, 6), mx.cpu()))"),
            ("F.ones((1, 6), mx.cpu())",),
            fixed=("return F.broadcast_add(x, F.ones((1, 6)))",),
        ),
    ),
)
