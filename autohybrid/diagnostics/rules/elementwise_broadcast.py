"""AH504 elementwise-broadcast: an operator meets two shapes, which only arrays broadcast.

What it finds: `+ - * / % **`, comparisons, `F.maximum`, `F.minimum`, `F.power` where the shapes are known to differ,
or where a parameter with a size of 1 meets another tensor, or a sum, mean, maximum or norm the tensor it was made of,
or one of the same shape.

Why a graph cannot express it: these become element-wise operators in a graph, which want equal shapes.

Example: `x * scale` with `scale` of shape (1, n)

Instead: `F.broadcast_mul(x, scale)`, `F.broadcast_add`, ...

Fix safety: safe: `broadcast_*` gives the same where shapes are equal.

When to suppress: when the shapes are equal at every call.

MXNet 1.9.1: MXNetError at the call: Incompatible attr in node.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.edits import call_of_operands, replacement
from autohybrid.diagnostics.model import Confidence
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward

_OPERATORS = {
    "+": "broadcast_add",
    "-": "broadcast_sub",
    "*": "broadcast_mul",
    "/": "broadcast_div",
    "%": "broadcast_mod",
    "**": "broadcast_power",
    "==": "broadcast_equal",
    "!=": "broadcast_not_equal",
    "<": "broadcast_lesser",
    "<=": "broadcast_lesser_equal",
    ">": "broadcast_greater",
    ">=": "broadcast_greater_equal",
    "maximum": "broadcast_maximum",
    "minimum": "broadcast_minimum",
    "power": "broadcast_power",
}


def check(event: Event) -> Finding | None:
    """An element-wise operation of two shapes."""
    operator = _OPERATORS.get(event.name)
    if operator is None:
        return None
    left, right = event.get("left"), event.get("right")
    certain = "are" if event.confidence is Confidence.DEFINITE else "may be"
    message = (
        f"the shapes of `{left}` and `{right}` {certain} different, and `{event.name}` does not broadcast in a graph"
    )
    title = f"use `{operator}`"
    if "function" in event.parts and event.space:
        fixes = replacement(title, event.parts["function"].span, f"{event.space}.{operator}")
    else:
        fixes = call_of_operands(event, operator, event.name, title)
    return Finding(message, f"write `F.{operator}({left}, {right})`", fixes=fixes)


RULE = Rule(
    code="AH504",
    name="elementwise-broadcast",
    summary="an operator meets two shapes, which only arrays broadcast",
    kinds=(EventKind.SHAPES,),
    check=check,
    valid=(
        Valid(forward("return F.sum(x, axis=1) * F.max(x, axis=1)")),
        Valid(forward("return F.exp(F.mean(x, axis=1, keepdims=True)) - F.mean(F.exp(x), axis=1, keepdims=True)")),
        Valid(
            forward("return F.broadcast_mul(x, s)", inputs="x, s", init="self.s = self.params.get('s', shape=(1, 6))")
        ),
        Valid(
            forward(
                "return F.dot(x, a * b)",
                inputs="x, a, b",
                init="self.a = self.params.get('a', shape=(6, 2))\nself.b = self.params.get('b', shape=(6, 2))",
            )
        ),
    ),
    invalid=(
        Invalid(
            forward("return x * s", inputs="x, s", init="self.s = self.params.get('s', shape=(1, 6))"),
            ("x * s",),
            Confidence.LIKELY,
            fixed=("return F.broadcast_mul(x, s)",),
        ),
        Invalid(
            forward(
                "return F.dot(x, a * b)",
                inputs="x, a, b",
                init="self.a = self.params.get('a', shape=(6, 2))\nself.b = self.params.get('b', shape=(6, 1))",
            ),
            ("a * b",),
            fixed=("return F.dot(x, F.broadcast_mul(a, b))",),
        ),
        Invalid(
            forward("y = F.relu(x)\nreturn y - y.mean(axis=1, keepdims=True)"),
            ("y - y.mean(axis=1, keepdims=True)",),
            Confidence.LIKELY,
            fixed=("return F.broadcast_sub(y, y.mean(axis=1, keepdims=True))",),
        ),
        Invalid(
            forward("return x / F.sqrt(F.sum(x * x, axis=1, keepdims=True) + 1e-5)"),
            ("x / F.sqrt(F.sum(x * x, axis=1, keepdims=True) + 1e-5)",),
            Confidence.LIKELY,
            fixed=("return F.broadcast_div(x, F.sqrt(F.sum(x * x, axis=1, keepdims=True) + 1e-5))",),
        ),
    ),
)
