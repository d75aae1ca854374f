"""AH710 odd-operand: a tensor and something that is no number in one operation.

What it finds: `x + None`, `x * [1, 2]`, `x + np.ones(3)`, `x + 'a'`, `x * self.weight` with a Parameter.

Why a graph cannot express it: the operand must be a tensor or a number.

Example: `x * [1, 2, 3]`

Instead: a constant of the block, or a tensor made with `F`.

Fix safety: unsafe: it may change what the code does imperatively.

When to suppress: when the value is a number that the analysis could not see.

MXNet 1.9.1: TypeError: type not supported, before and after `hybridize()`.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.model import Confidence
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward

_KINDS = {
    "list": "a list",
    "none": "`None`",
    "str": "a text",
    "numpy": "a NumPy array",
    "dict": "a dictionary",
    "parameter": "a parameter, not its tensor",
}


def check(event: Event) -> Finding | None:
    """A list, text, array or None beside a tensor."""
    if event.kind is EventKind.FOREIGN:
        if event.get("how") != "odd":
            return None
        message = f"`{event.get('array')}` is a NumPy array, which `{event.name}` does not take"
        return Finding(message, "make it a constant of the block: `self.params.get_constant(name, value)`")
    kind = _KINDS.get(event.get("operand"))
    if kind is None:
        return None
    other = event.get("other")
    what = f"`{other}` is {kind}" if other else f"one side is {kind}"
    confidence = Confidence.LIKELY if event.get("operand") in ("numpy", "none", "str") else None
    return Finding(
        f"{what}, which a tensor does not take beside `{event.name}`", "use a tensor or a number", confidence
    )


RULE = Rule(
    code="AH710",
    name="odd-operand",
    summary="a tensor and something that is no number in one operation",
    kinds=(EventKind.OPERATOR, EventKind.FOREIGN),
    check=check,
    valid=(
        Valid(forward("return x * np.float32(2)", before="import numpy as np")),
        Valid(forward("outs = [F.relu(x)] + [x]\nreturn outs[0]")),
    ),
    invalid=(
        Invalid(
            forward("y = F.relu(x)\nreturn y * [1, 2]"),
            ("y * [1, 2]",),
            fixed=("return F.broadcast_mul(y, F.arange(1, 3))",),
        ),
        Invalid(
            forward("y = F.relu(x)\nreturn y + np.ones((2, 3))", before="import numpy as np"),
            ("y + np.ones((2, 3))",),
            Confidence.LIKELY,
        ),
    ),
)
