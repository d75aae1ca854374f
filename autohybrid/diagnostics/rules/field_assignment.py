"""AH302 field-assignment: a field of the block changes inside a hybrid method.

What it finds: `self.calls += 1`, `self.prev = x`, `self.log.append(...)` in a hybrid method or a helper it calls.

Why a graph cannot express it: Python inside a hybrid method runs once, while the graph is built; later calls run the
graph alone. The field then keeps what it got, also a Symbol.

Example: `self.calls += 1`

Instead: count in `__call__` or outside; pass state in and return it.

Fix safety: unsafe: it may change what the code does imperatively.

When to suppress: when the value is the same in every call.

MXNet 1.9.1: no error: the field changes once and never again.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """A field of a block is assigned or changed."""
    what = "is set" if event.get("how") == "assigned" else "changes"
    message = f"`{event.subject}` {what} once, while the graph is built, and not at later calls"
    if event.get("holds") == "tensor":
        message = f"`{event.subject}` keeps a tensor of the graph that is being built, once, and not at later calls"
    return Finding(
        message,
        "pass the state in and return it, or do this in `__call__`, which runs at every call of the outer block",
    )


RULE = Rule(
    code="AH302",
    name="field-assignment",
    summary="a field of the block changes inside a hybrid method",
    kinds=(EventKind.SET_FIELD,),
    check=check,
    valid=(
        Valid(forward("outs = []\nouts.append(F.relu(x))\nreturn outs[0]")),
        Valid(forward("return x / self.total", init="self.total = 0\nself.total += 3")),
    ),
    invalid=(
        Invalid(
            forward("self.calls += 1\nreturn F.relu(x)", init="self.calls = 0"),
            ("self.calls",),
            raises=False,
            removed=("self.calls += 1",),
        ),
        Invalid(
            forward("self.log.append(1)\nreturn F.relu(x)", init="self.log = []"),
            ("self.log.append(1)",),
            raises=False,
            removed=("self.log.append(1)",),
        ),
    ),
)
