"""AH409 tensor-comparison: a tensor is compared with `None`, a text or a list.

What it finds: `x == None`, `x != None`, `x == 'a'`, `x == [1]`.

Why a graph cannot express it: `==` is an operator on tensors and accepts tensors and numbers only.

Example: `if x == None:`

Instead: `x is None`.

Fix safety: safe for `None`.

When to suppress: never.

MXNet 1.9.1: TypeError, on an array and on a Symbol.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.edits import operator_in_gap
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """`x == None` and the like."""
    operand = event.get("operand")
    if operand not in ("none", "str", "list"):
        return None
    if operand == "none":
        word = "is" if event.name == "==" else "is not"
        fixes = operator_in_gap(event, event.name, word, f"compare with `{word}`")
        return Finding(f"`{event.text}` compares a tensor with `None` by value", f"write `{word} None`", fixes=fixes)
    return Finding(
        f"`{event.text}` compares a tensor with something that is no number", "compare with a tensor or a number"
    )


RULE = Rule(
    code="AH409",
    name="tensor-comparison",
    summary="a tensor is compared with `None`, a text or a list",
    kinds=(EventKind.COMPARE,),
    check=check,
    valid=(
        Valid(forward("if mask is None:\n    return x * 2\nreturn x * mask", inputs="x, mask=None")),
        Valid(forward("if mode == 'a':\n    return x * 2\nreturn x * 3", inputs="x, mode='a'")),
    ),
    invalid=(
        Invalid(
            forward("y = F.relu(x)\nif y == None:\n    return x * 3\nreturn y"),
            ("y == None",),
            fixed=("if y is None:",),
        ),
        Invalid(forward("y = F.relu(x)\nz = y != None\nreturn y"), ("y != None",), fixed=("z = y is not None",)),
    ),
)
