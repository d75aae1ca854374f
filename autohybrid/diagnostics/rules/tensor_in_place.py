"""AH109 tensor-in-place: a tensor is changed in place.

What it finds: `a += b`, `-=`, `*=`, `/=` and `operator.iadd` on a tensor.

Why a graph cannot express it: a graph has no memory to change: in-place operators are not defined for a Symbol.

Example: `a += b`

Instead: `a = a + b`.

Fix safety: unsafe: rebinding does not change the array under its other names.

When to suppress: when the value is a number that the analysis could not see.

MXNet 1.9.1: NotImplementedForSymbol for the operator `+=`.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.edits import rebinding
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """`+=`, `-=`, `*=`, `/=` on a tensor."""
    if event.name not in ("+=", "-=", "*=", "/="):
        return None
    target = event.get("target")
    message = f"`{target} {event.name} ...` changes a tensor in place, which a graph cannot do"
    if event.data.get("number"):
        message = (
            f"`{target}` is a number at first and a tensor from the second time on, which `{event.name}` cannot change"
        )
    operand = event.get("operand")
    return Finding(message, f"write `{target} = {target} {event.name[0]} {operand}`", fixes=rebinding(event))


RULE = Rule(
    code="AH109",
    name="tensor-in-place",
    summary="a tensor is changed in place",
    kinds=(EventKind.AUGMENT,),
    check=check,
    valid=(
        Valid(forward("n = 0\nn += 1\nreturn x * n")),
        Valid(forward("items = (x,)\nitems += (F.relu(x),)\nreturn F.stack(*items)")),
        Valid(forward("x = x + 1\nreturn x")),
        Valid(forward("y = F.relu(x)\ny **= 2\nreturn y")),
    ),
    invalid=(
        Invalid(forward("y = F.relu(x)\ny += 1\nreturn y"), ("y += 1",), fixed=("y = y + 1",)),
        Invalid(
            forward("y = F.relu(x)\nz = x * 2\nz -= y\nz /= y\nreturn z"),
            ("z -= y", "z /= y"),
            fixed=(
                "z = z - y",
                "z = z / y",
            ),
        ),
    ),
)
