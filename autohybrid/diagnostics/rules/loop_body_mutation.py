"""AH308 loop-body-mutation: the body of a graph loop changes something outside it.

What it finds: a function given to `foreach`, `while_loop` or `cond` that changes a list or dictionary of the function
around it.

Why a graph cannot express it: the body of a loop is traced once, whatever the number of steps; imperatively it runs
at every step.

Example: `n[0] += 1` in the body of `F.contrib.foreach`

Instead: make it a state of the loop.

Fix safety: unsafe: it may change what the code does imperatively.

When to suppress: never: the results differ.

MXNet 1.9.1: no error: the step count stays at its first value.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """A captured container changes in a loop body."""
    if event.name != "mutation":
        return None
    message = f"`{event.subject}` changes once in a graph, and once per step imperatively: the loop body is traced once"
    return Finding(message, "carry the value as a state of the loop")


RULE = Rule(
    code="AH308",
    name="loop-body-mutation",
    summary="the body of a graph loop changes something outside it",
    kinds=(EventKind.LOOP_BODY,),
    check=check,
    valid=(
        Valid(
            forward(
                "def body(step, states):\n"
                "    total = step + states[0]\n"
                "    return total, [total]\n"
                "out, _ = F.contrib.foreach(body, x, [m])\n"
                "return out",
                inputs="x, m",
            )
        ),
        Valid(forward("out = []\nfor i in range(3):\n    out.append(x * i)\nreturn F.concat(*out)")),
    ),
    invalid=(
        Invalid(
            forward(
                "n = [0]\n"
                "def body(step, states):\n"
                "    n[0] += 1\n"
                "    return step * n[0], states\n"
                "out, _ = F.contrib.foreach(body, x, [])\n"
                "return out"
            ),
            ("n[0]",),
            raises=False,
        ),
        Invalid(
            forward(
                "seen = []\n"
                "def body(step, states):\n"
                "    seen.append(1)\n"
                "    return step, states\n"
                "out, _ = F.contrib.foreach(body, x, [])\n"
                "return out"
            ),
            ("seen.append(1)",),
            raises=False,
            removed=("seen.append(1)",),
        ),
    ),
)
