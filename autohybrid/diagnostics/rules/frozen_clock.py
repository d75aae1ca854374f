"""AH506 frozen-clock: the clock is read once.

What it finds: `time.time()`, `datetime.now()`, `uuid.uuid4()`, `os.urandom()` in a hybrid method.

Why a graph cannot express it: Python inside a hybrid method runs once, while the graph is built; later calls run the
graph alone.

Example: `t = time.time()`

Instead: read the clock outside the block.

Fix safety: no fix is offered; the help names the rewrite.

When to suppress: when the time of building is what you want.

MXNet 1.9.1: no error: the first reading is kept.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """The clock."""
    if event.get("source") != "clock":
        return None
    return Finding(f"`{event.text}` is read once, while the graph is built", "read it outside the block")


RULE = Rule(
    code="AH506",
    name="frozen-clock",
    summary="the clock is read once",
    kinds=(EventKind.RANDOM,),
    check=check,
    valid=(
        Valid(forward("return F.relu(x)", before="import time\nSTART = time.time()")),
        Valid(forward("return x * self.t", before="import time", init="self.t = time.time()")),
    ),
    invalid=(
        Invalid(forward("t = time.time()\nreturn x * t", before="import time"), ("time.time()",), raises=False),
        Invalid(
            forward("t = time.perf_counter()\nreturn x * 2", before="import time"),
            ("time.perf_counter()",),
            raises=False,
        ),
    ),
)
