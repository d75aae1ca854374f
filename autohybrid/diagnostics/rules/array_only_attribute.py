"""AH112 array-only-attribute: an attribute or method that only an array has.

What it finds: `x.T`, `x.grad`, `x.copyto(...)`, `x.tostype(...)`, `x.attach_grad()`, `x.slice_assign(...)` on a
tensor.

Why a graph cannot express it: a Symbol is a node of a graph; it has no memory, gradient buffer or storage type.

Example: `F.dot(x, x.T)`

Instead: `F.transpose(x)` for `.T`, `F.cast_storage` for `tostype`, `F.identity` for a copy.

Fix safety: unsafe: it may change what the code does imperatively.

When to suppress: when the block is never hybridized.

MXNet 1.9.1: AttributeError: 'Symbol' object has no attribute 'T'.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.edits import call_of
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward

_ELSEWHERE = frozenset({"shape", "size", "ndim", "dtype", "stype", "context", "ctx"})
_HELP = {
    "T": "write `F.transpose({x})`, or `transpose_b=True` in `F.dot` and `F.batch_dot`",
    "tostype": "write `F.cast_storage({x}, stype=...)`",
    "copyto": "write `F.identity({x})` for a copy; a graph places its results itself",
    "grad": "take gradients outside the block, from `autograd.backward`",
    "attach_grad": "call `attach_grad` outside the block",
}


def check(event: Event) -> Finding | None:
    """An attribute that NDArray has and Symbol lacks."""
    if event.get("owner") != "array" or event.name in _ELSEWHERE:
        return None
    message = f"`{event.subject}` is a tensor: `.{event.name}` exists on an array only, not in a graph"
    fixes = call_of(event, "transpose", "subject", "use `transpose`") if event.name == "T" else ()
    help_text = _HELP.get(event.name, "move this outside the hybrid method").format(x=event.subject)
    return Finding(message, help_text, fixes=fixes)


RULE = Rule(
    code="AH112",
    name="array-only-attribute",
    summary="an attribute or method that only an array has",
    kinds=(EventKind.ATTRIBUTE,),
    check=check,
    valid=(
        Valid(forward("return F.dot(x, F.transpose(x))")),
        Valid(forward("return x * self.T", init="self.T = 3")),
    ),
    invalid=(
        Invalid(forward("return F.dot(x, x.T)"), ("x.T",), fixed=("return F.dot(x, F.transpose(x))",)),
        Invalid(
            forward("return x.tostype('default') * 2"),
            ("x.tostype",),
            fixed=("return F.cast_storage(x, stype='default') * 2",),
        ),
    ),
)
