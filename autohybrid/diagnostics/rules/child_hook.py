"""AH309 child-hook: a hook on a child does not run once hybridized.

What it finds: `self.body.register_forward_hook(...)` on a child of a hybrid block.

Why a graph cannot express it: a hybridized parent runs its graph; its children are not called again, so their hooks
are not either.

Example: `self.body.register_forward_hook(self._store)`

Instead: a hook on the outermost block, or the value as an output.

Fix safety: unsafe: it may change what the code does imperatively.

When to suppress: when the block is never hybridized.

MXNet 1.9.1: no error: the hook runs while the graph is built, with Symbols, and then never.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.model import Confidence
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """A forward hook on a child."""
    message = f"a hook on `{event.subject}` runs while the graph is built, and not at later calls"
    return Finding(message, "register the hook on the outermost block, or return the value", Confidence.LIKELY)


RULE = Rule(
    code="AH309",
    name="child-hook",
    summary="a hook on a child does not run once hybridized",
    kinds=(EventKind.HOOK,),
    check=check,
    valid=(
        Valid(forward("return self.body(x)", init="self.body = nn.Dense(3)\nself.register_forward_hook(print)")),
        Valid(forward("return self.body(x)", init="self.body = nn.Dense(3)")),
    ),
    invalid=(
        Invalid(
            forward("return self.body(x)", init="self.body = nn.Dense(3)\nself.body.register_forward_hook(print)"),
            ("self.body.register_forward_hook(print)",),
            Confidence.LIKELY,
            raises=False,
            removed=("self.body.register_forward_hook(print)",),
        ),
        Invalid(
            forward("return self.b(x)", init="self.b = nn.Dense(3)\nself.b.register_forward_pre_hook(print)"),
            ("self.b.register_forward_pre_hook(print)",),
            Confidence.LIKELY,
            raises=False,
            removed=("self.b.register_forward_pre_hook(print)",),
        ),
    ),
)
