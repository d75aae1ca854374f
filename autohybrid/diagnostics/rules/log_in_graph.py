"""AH306 log-in-graph: something is logged or written while the graph is built.

What it finds: calls of `logging` and `open` in a hybrid method, unless an exception follows.

Why a graph cannot express it: Python inside a hybrid method runs once, while the graph is built; later calls run the
graph alone.

Example: `logging.info('step')`

Instead: log outside the block.

Fix safety: unsafe: it may change what the code does imperatively.

When to suppress: when one line at build time is what you want.

MXNet 1.9.1: no error: it happens once.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.model import Confidence, Severity
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """`logging.*`, `open`."""
    if event.name not in ("log", "file"):
        return None
    message = f"`{event.text}` runs once, while the graph is built"
    return Finding(message, "move it outside the block")


RULE = Rule(
    code="AH306",
    name="log-in-graph",
    summary="something is logged or written while the graph is built",
    kinds=(EventKind.EFFECT,),
    check=check,
    severity=Severity.WARNING,
    valid=(
        Valid(forward("return F.relu(x)", before="import logging\nlogging.info('loaded')")),
        Valid(
            forward(
                "return x * self.info()",
                before="class Holder:\n    def info(self):\n        return 2",
                init="self.info = Holder().info",
            )
        ),
    ),
    invalid=(
        Invalid(
            forward("logging.info('step')\nreturn F.relu(x)", before="import logging"),
            ("logging.info('step')",),
            Confidence.LIKELY,
            raises=False,
            removed=("logging.info('step')",),
        ),
        Invalid(
            forward("log.debug('step')\nreturn F.relu(x)", before="import logging\nlog = logging.getLogger(__name__)"),
            ("log.debug('step')",),
            Confidence.LIKELY,
            raises=False,
            removed=("log.debug('step')",),
        ),
    ),
)
