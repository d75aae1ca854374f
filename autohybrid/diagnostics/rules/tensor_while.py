"""AH402 tensor-while: a loop runs as long as a tensor says.

What it finds: `while` whose condition is a tensor.

Why a graph cannot express it: the number of steps would depend on values that do not exist while the graph is built.

Example: `while F.max(x) > 1:`

Instead: `F.contrib.while_loop` with a maximum number of steps.

Fix safety: unsafe: it may change what the code does imperatively.

When to suppress: when the value is a number that the analysis could not see.

MXNet 1.9.1: NotImplementedForSymbol: bool is not implemented for Symbol.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """A tensor decides a loop."""
    if event.name != "while":
        return None
    message = f"`{event.subject}` is a tensor: how often the loop runs is not known while the graph is built"
    return Finding(message, "write `F.contrib.while_loop(cond, func, loop_vars, max_iterations=...)`")


RULE = Rule(
    code="AH402",
    name="tensor-while",
    summary="a loop runs as long as a tensor says",
    kinds=(EventKind.CONDITION,),
    check=check,
    valid=(
        Valid(forward("n = 3\nwhile n > 0:\n    x = F.relu(x)\n    n -= 1\nreturn x")),
        Valid(forward("xs = [x, x]\nwhile len(xs) > 1:\n    xs = xs[1:]\nreturn xs[0] * 2")),
    ),
    invalid=(
        Invalid(
            forward("y = F.relu(x)\nwhile F.max(y) > 1:\n    y = y / 2\nreturn y"),
            ("F.max(y) > 1",),
            fixed=(
                "for _ in range(64):",
                "going = F.max(y) > 1",
                "y = F.where(F.broadcast_mul(F.ones_like(y), going), y / 2, y)",
            ),
        ),
        Invalid(
            forward("y = F.relu(x)\nwhile y.sum() > 0:\n    y = y - 1\nreturn y"),
            ("y.sum() > 0",),
            fixed=(
                "for _ in range(64):",
                "going = y.sum() > 0",
                "y = F.where(F.broadcast_mul(F.ones_like(y), going), y - 1, y)",
            ),
        ),
    ),
)
