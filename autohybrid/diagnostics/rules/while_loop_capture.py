"""AH406 while-loop-capture: a function of `while_loop` uses a tensor from outside.

What it finds: `cond` or `func` of `F.contrib.while_loop` that reads a tensor of the function around it.

Why a graph cannot express it: the loop becomes a graph of its own, and the gradient of what it captures is not
connected.

Example: `cond=lambda i, acc: i < limit` with `limit` an input

Instead: make the tensor one of the `loop_vars` and return it unchanged.

Fix safety: no fix is offered; the help names the rewrite.

When to suppress: when the block never runs under `autograd.record()`.

MXNet 1.9.1: MXNetError under `autograd.record()`.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.model import Confidence
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """A captured tensor in a while loop."""
    if event.name != "capture":
        return None
    captured = event.get("captured")
    message = f"the loop uses `{captured}` from outside, which fails once hybridized under `autograd.record()`"
    return Finding(message, f"add `{captured}` to `loop_vars` and return it unchanged", Confidence.LIKELY)


RULE = Rule(
    code="AH406",
    name="while-loop-capture",
    summary="a function of `while_loop` uses a tensor from outside",
    kinds=(EventKind.LOOP_BODY,),
    check=check,
    valid=(
        Valid(
            forward(
                "v = [F.zeros((1,)), F.sum(x)]\n"
                "_, s = F.contrib.while_loop(lambda i, n: i < n, lambda i, n: ([], [i + 1, n]), v, max_iterations=3)\n"
                "return s[0]"
            )
        ),
        Valid(forward("return F.contrib.cond(F.sum(x) > 0, lambda: x * 2, lambda: x)")),
    ),
    invalid=(
        Invalid(
            forward(
                "v = [F.zeros((1,))]\n"
                "out, s = F.contrib.while_loop(lambda i: i < x, lambda i: ([], [i + 1]), v, max_iterations=3)\n"
                "return s[0]"
            ),
            ("F.contrib.while_loop(lambda i: i < x, lambda i: ([], [i + 1]), v, max_iterations=3)",),
            Confidence.LIKELY,
        ),
        Invalid(
            forward(
                "def step(i):\n"
                "    return [], [i + y]\n"
                "y = F.relu(x)\n"
                "out, s = F.contrib.while_loop(lambda i: i < 3, step, [F.zeros((1,))], max_iterations=3)\n"
                "return s[0]"
            ),
            ("F.contrib.while_loop(lambda i: i < 3, step, [F.zeros((1,))], max_iterations=3)",),
            Confidence.LIKELY,
        ),
    ),
)
