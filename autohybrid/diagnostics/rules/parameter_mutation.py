"""AH305 parameter-mutation: a parameter is set inside a hybrid method.

What it finds: `self.gain.set_data(...)`, `zero_grad()`, `self.fc.weight.grad_req = ...` in a hybrid method.

Why a graph cannot express it: Python inside a hybrid method runs once, while the graph is built; later calls run the
graph alone.

Example: `self.gain.set_data(self.gain.data() * 0.5)`

Instead: do it in the training loop.

Fix safety: no fix is offered; the help names the rewrite.

When to suppress: never.

MXNet 1.9.1: no error: the parameter changes once, while the graph is built.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """A parameter is changed."""
    if event.name != "parameter":
        return None
    message = f"`{event.text}` changes a parameter once, while the graph is built"
    return Finding(message, "change parameters outside the block, in the training loop")


RULE = Rule(
    code="AH305",
    name="parameter-mutation",
    summary="a parameter is set inside a hybrid method",
    kinds=(EventKind.EFFECT,),
    check=check,
    valid=(
        Valid(forward("return x * gain", inputs="x, gain", init="self.gain = self.params.get('gain', shape=(6, 6))")),
        Valid(forward("return self.fc(x)", init="self.fc = nn.Dense(3)\nself.fc.weight.grad_req = 'null'")),
    ),
    invalid=(
        Invalid(
            forward(
                "self.gain.set_data(mx.nd.ones((1, 6)))\nreturn F.broadcast_mul(x, gain)",
                inputs="x, gain",
                init="self.gain = self.params.get('gain', shape=(1, 6))",
            ),
            ("self.gain.set_data(mx.nd.ones((1, 6)))",),
            raises=False,
        ),
        Invalid(
            forward("self.fc.weight.grad_req = 'null'\nreturn self.fc(x)", init="self.fc = nn.Dense(3)"),
            ("self.fc.weight.grad_req",),
            raises=False,
        ),
    ),
)
