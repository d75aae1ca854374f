"""AH505 frozen-randomness: a random number of Python is drawn once.

What it finds: `random.*`, `numpy.random.*`, `secrets` in a hybrid method.

Why a graph cannot express it: Python inside a hybrid method runs once, while the graph is built; later calls run the
graph alone. The number, and any branch it decides, is the same ever after.

Example: `if random.random() < self.rate:`

Instead: `F.random.uniform`, `F.Dropout`, or the choice made outside and passed in.

Fix safety: unsafe: it may change what the code does imperatively.

When to suppress: when one draw is what you want.

MXNet 1.9.1: no error: the first draw is kept.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """A random number of Python or NumPy."""
    if event.get("source") != "random":
        return None
    message = f"`{event.text}` is drawn once, while the graph is built, and is the same at every call"
    return Finding(
        message,
        "draw inside the graph: `F.random.uniform(shape=...)`, `F.Dropout(x, p=...)`; or choose outside the block",
    )


RULE = Rule(
    code="AH505",
    name="frozen-randomness",
    summary="a random number of Python is drawn once",
    kinds=(EventKind.RANDOM,),
    check=check,
    valid=(
        Valid(forward("return x + F.random.normal_like(x)")),
        Valid(forward("return x * self.r", before="import random", init="self.r = random.random()")),
    ),
    invalid=(
        Invalid(
            forward("if random.random() < 0.5:\n    return x * 2\nreturn x * 3", before="import random"),
            ("random.random()",),
            raises=False,
            fixed=("if F.random.uniform(0, 1, shape=(1,)) < 0.5:",),
        ),
        Invalid(
            forward("return x * np.random.uniform()", before="import numpy as np"),
            ("np.random.uniform()",),
            raises=False,
            fixed=("return F.broadcast_mul(x, F.random.uniform(0, 1, shape=(1,)))",),
        ),
    ),
)
