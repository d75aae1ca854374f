"""AH709 boolean-operand: a tensor and a Python boolean in one operation.

What it finds: `x + True`, `x == True`, `x * self.flag` with a flag that is a boolean.

Why a graph cannot express it: the number of a scalar operator is written into the graph as text, and `True` is not a
number there.

Example: `x + self._shift` with `shift=True`

Instead: `x + int(self._shift)`.

Fix safety: safe.

When to suppress: when the flag is a number.

MXNet 1.9.1: MXNetError: Invalid Parameter format for scalar expect double but value='True'.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.edits import around
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """A boolean beside a tensor."""
    if event.get("operand") != "bool":
        return None
    other = event.get("other")
    message = f"`{other}` is a boolean, which `{event.name}` takes beside an array but not in a graph"
    fixes = around(f"convert `{other}`", event.parts["other"].span, "int(", ")") if event.parts else ()
    return Finding(message, f"write `int({other})`", fixes=fixes)


RULE = Rule(
    code="AH709",
    name="boolean-operand",
    summary="a tensor and a Python boolean in one operation",
    kinds=(EventKind.OPERATOR,),
    check=check,
    valid=(
        Valid(forward("k = int(self.on) + True\nreturn x * k", init="self.on = True")),
        Valid(forward("return x * (1.5 if self.on else 0)", init="self.on = True")),
    ),
    invalid=(
        Invalid(forward("y = F.relu(x)\nreturn y + True"), ("y + True",), fixed=("return y + int(True)",)),
        Invalid(
            forward("y = F.relu(x)\nreturn y * (self.n > 2)", init="self.n = 3"),
            ("y * (self.n > 2)",),
            fixed=("return y * (int(self.n > 2))",),
        ),
    ),
)
