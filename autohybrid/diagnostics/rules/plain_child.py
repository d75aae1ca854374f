"""AH601 plain-child: a child of a hybrid block is no HybridBlock.

What it finds: a field of a HybridBlock, or an entry of a HybridSequential, that holds a plain Block (`nn.Sequential`,
`nn.Lambda`, one of your own).

Why a graph cannot express it: a graph needs every child to be built from operators alone.

Example: `self.body = nn.Sequential()`

Instead: `nn.HybridSequential`, `nn.HybridLambda`, or a HybridBlock of your own.

Fix safety: unsafe: it may change what the code does imperatively.

When to suppress: never: construction fails.

MXNet 1.9.1: ValueError at construction: Children of HybridBlock must also be HybridBlock.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward

_TWINS = {
    "Sequential": "nn.HybridSequential",
    "Lambda": "nn.HybridLambda",
    "Concurrent": "HybridConcurrent",
    "SequentialRNNCell": "HybridSequentialRNNCell",
}


def check(event: Event) -> Finding | None:
    """A plain block becomes a child of a hybrid one."""
    if event.get("how") not in ("assigned", "added", "registered"):
        return None
    message = f"`{event.name}` is no HybridBlock and becomes a child of one"
    twin = _TWINS.get(event.name)
    return Finding(
        message, f"use `{twin}`" if twin else f"derive `{event.name}` from `HybridBlock` and write `hybrid_forward`"
    )


RULE = Rule(
    code="AH601",
    name="plain-child",
    summary="a child of a hybrid block is no HybridBlock",
    kinds=(EventKind.CHILD,),
    check=check,
    valid=(
        Valid(forward("return self.body(x)", init="self.body = nn.HybridSequential()\nself.body.add(nn.Dense(3))")),
        Valid(forward("return self.loss(x, y)", inputs="x, y", init="self.loss = gluon.loss.L2Loss()")),
    ),
    invalid=(
        Invalid(
            forward("return self.body(x)", init="self.body = nn.Sequential()"),
            ("self.body = nn.Sequential()",),
            fixed=("self.body = nn.HybridSequential()",),
        ),
        Invalid(
            forward(
                "return self.body(x)",
                before="class Plain(gluon.Block):\n    def forward(self, x):\n        return x * 2",
                init="self.body = nn.HybridSequential()\nself.body.add(Plain())",
            ),
            ("self.body.add(Plain())",),
            fixed=("class Plain(gluon.HybridBlock):", "def hybrid_forward(self, F, x):"),
        ),
    ),
)
