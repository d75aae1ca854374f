"""AH603 missing-parameter-argument: a parameter has no argument in `hybrid_forward`.

What it finds: `self.gain = self.params.get('gain', ...)` in a class whose `hybrid_forward` has no argument `gain`.

Why a graph cannot express it: parameters are passed to `hybrid_forward` by the names of their fields.

Example: `def hybrid_forward(self, F, x):`

Instead: `def hybrid_forward(self, F, x, gain):`.

Fix safety: unsafe: it may change what the code does imperatively.

When to suppress: never.

MXNet 1.9.1: TypeError: unexpected keyword argument, before and after `hybridize()`.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """A parameter that the method does not take."""
    if event.name != "parameter":
        return None
    name = event.get("parameter")
    message = f"the parameter `self.{name}` is passed to `{event.method}` as `{name}`, which it does not take"
    return Finding(message, f"add the argument: `def {event.method}({event.get('arguments')}, {name})`")


RULE = Rule(
    code="AH603",
    name="missing-parameter-argument",
    summary="a parameter has no argument in `hybrid_forward`",
    kinds=(EventKind.SIGNATURE,),
    check=check,
    valid=(
        Valid(forward("return x * gain", inputs="x, gain", init="self.gain = self.params.get('gain', shape=(6, 6))")),
        Valid(
            forward(
                "return x * params['gain']",
                inputs="x, **params",
                init="self.gain = self.params.get('gain', shape=(6, 6))",
            )
        ),
    ),
    invalid=(
        Invalid(
            forward("return x * 2", init="self.gain = self.params.get('gain', shape=(1,))"),
            ("def hybrid_forward(self, F, x",),
            fixed=("def hybrid_forward(self, F, x, gain):",),
        ),
        Invalid(
            forward(
                "return x * a",
                inputs="x, a",
                init="self.a = self.params.get('a', shape=(1, 6))\nself.b = self.params.get('b', shape=(1, 6))",
            ),
            ("def hybrid_forward(self, F, x, a",),
            fixed=("def hybrid_forward(self, F, x, a, b):",),
        ),
    ),
)
