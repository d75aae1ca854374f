"""AH110 tensor-in-place-modulo: `%=` changes an array but only rebinds in a graph.

What it finds: `x %= y` on a tensor.

Why a graph cannot express it: an NDArray is changed in place, also under its other names; a Symbol has no `%=`, so
Python rebinds the name.

Example: `x %= 2`

Instead: `x = x % 2`.

Fix safety: unsafe: rebinding does not change the array under its other names.

When to suppress: when no other name sees the array.

MXNet 1.9.1: no error: the caller's array is changed by the imperative block and left alone by the hybridized one.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.edits import rebinding
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """`%=` on a tensor."""
    if event.name != "%=":
        return None
    target = event.get("target")
    message = f"`{target} %= ...` changes the array of `{target}` for every name it has, and a graph changes none"
    return Finding(message, f"write `{target} = {target} % {event.get('operand')}`", fixes=rebinding(event))


RULE = Rule(
    code="AH110",
    name="tensor-in-place-modulo",
    summary="`%=` changes an array but only rebinds in a graph",
    kinds=(EventKind.AUGMENT,),
    check=check,
    valid=(
        Valid(forward("return x % 2")),
        Valid(forward("n = 5\nn %= 3\nreturn x * n")),
    ),
    invalid=(
        Invalid(forward("y = F.relu(x)\ny %= 2\nreturn y"), ("y %= 2",), raises=False, fixed=("y = y % 2",)),
        Invalid(forward("y = x * 2\ny %= 3\nreturn y"), ("y %= 3",), raises=False, fixed=("y = y % 3",)),
    ),
)
