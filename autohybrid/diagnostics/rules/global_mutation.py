"""AH303 global-mutation: a name of the module changes inside a hybrid method.

What it finds: `global n; n += 1`, `CACHE['x'] = x`, `LOG.append(...)`, `nonlocal` in a hybrid method or a helper.

Why a graph cannot express it: Python inside a hybrid method runs once, while the graph is built; later calls run the
graph alone.

Example: `COUNTS['calls'] += 1`

Instead: do it outside the block.

Fix safety: unsafe: it may change what the code does imperatively.

When to suppress: when the change is meant to happen once.

MXNet 1.9.1: no error: the change happens once.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """A global or nonlocal name changes."""
    if event.name == "default":
        return None
    message = f"`{event.subject}` outlives the call and changes once only, while the graph is built"
    return Finding(message, "keep it local, or change it outside the block")


RULE = Rule(
    code="AH303",
    name="global-mutation",
    summary="a name of the module changes inside a hybrid method",
    kinds=(EventKind.MUTATE,),
    check=check,
    valid=(
        Valid(forward("local = {}\nlocal['x'] = x\nreturn local['x'] * 2")),
        Valid(forward("return x * SCALE['a']", before="SCALE = {'a': 2}")),
    ),
    invalid=(
        Invalid(
            forward("COUNTS['n'] += 1\nreturn F.relu(x)", before="COUNTS = {'n': 0}"),
            ("COUNTS['n']",),
            raises=False,
            removed=("COUNTS['n'] += 1",),
        ),
        Invalid(
            forward("LOG.append(1)\nreturn F.relu(x)", before="LOG = []"),
            ("LOG.append(1)",),
            raises=False,
            removed=("LOG.append(1)",),
        ),
    ),
)
