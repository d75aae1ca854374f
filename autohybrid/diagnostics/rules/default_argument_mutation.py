"""AH304 default-argument-mutation: a mutable default argument keeps a count.

What it finds: a helper that changes a list or dictionary that is the default of its argument.

Why a graph cannot express it: the default is one object for all calls; Python inside a hybrid method runs once, while
the graph is built; later calls run the graph alone.

Example: `def tick(store={'n': 0}): store['n'] += 1`

Instead: `None` as the default and a new container inside.

Fix safety: no fix is offered; the help names the rewrite.

When to suppress: never.

MXNet 1.9.1: no error: the container changes once.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """A default argument changes."""
    if event.name != "default":
        return None
    message = (
        f"`{event.subject}` is the default of an argument, shared by all calls, and changes only while a graph is built"
    )
    return Finding(message, "use `None` as the default, and keep no count inside the block")


RULE = Rule(
    code="AH304",
    name="default-argument-mutation",
    summary="a mutable default argument keeps a count",
    kinds=(EventKind.MUTATE,),
    check=check,
    valid=(
        Valid(
            forward(
                "return x * get(None)",
                before="def get(store=None):\n"
                "    store = {} if store is None else store\n"
                "    store['n'] = 1\n"
                "    return store['n']",
            )
        ),
        Valid(forward("return x * get()", before="def get(sizes=(1, 2)):\n    return sizes[0]")),
    ),
    invalid=(
        Invalid(
            forward(
                "return x * tick()", before="def tick(store={'n': 0}):\n    store['n'] += 1\n    return store['n']"
            ),
            ("store['n']",),
            raises=False,
        ),
        Invalid(
            forward("note(1)\nreturn F.relu(x)", before="def note(value, seen=[]):\n    seen.append(value)"),
            ("seen.append(value)",),
            raises=False,
        ),
    ),
)
