"""AH801 overridden-forward: a HybridBlock overrides `forward` and so has no graph of its own.

What it finds: a HybridBlock with a `forward` of its own and no `hybrid_forward`.

Why a graph cannot express it: `hybridize()` keeps a graph of `hybrid_forward`; a block that overrides `forward` is
never cached, and cannot be exported.

Example: `def forward(self, x): return x * 2` in a HybridBlock

Instead: rename it `hybrid_forward(self, F, x)`, or derive from `Block`.

Fix safety: no fix is offered.

When to suppress: when the block is only run imperatively.

MXNet 1.9.1: no error until `export()`, or until it is the child of a hybridized block and uses what a Symbol lacks.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.model import Confidence
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """A hybrid class with `forward`."""
    if event.name != "forward":
        return None
    message = f"`{event.block}` overrides `forward`, so `hybridize()` keeps no graph of it and it cannot be exported"
    return Finding(message, "write `hybrid_forward(self, F, ...)`, or derive from `Block`", Confidence.POSSIBLE)


RULE = Rule(
    code="AH801",
    name="overridden-forward",
    summary="a HybridBlock overrides `forward` and so has no graph of its own",
    kinds=(EventKind.EXPORT,),
    check=check,
    valid=(
        Valid(forward("return F.relu(x)")),
        Valid(
            "from mxnet.gluon import Block\n\n\nclass Other(Block):\n    def forward(self, x):\n        return x * 2\n"
        ),
    ),
    invalid=(
        Invalid(
            "from mxnet.gluon import HybridBlock\n"
            "\n"
            "\n"
            "class Other(HybridBlock):\n"
            "    def forward(self, x):\n"
            "        return x * 2\n",
            ("def forward(self, x",),
            Confidence.POSSIBLE,
            raises=False,
        ),
        Invalid(
            "from mxnet.gluon import HybridBlock\n"
            "\n"
            "\n"
            "class Base(HybridBlock):\n"
            "    pass\n"
            "\n"
            "\n"
            "class Other(Base):\n"
            "    def forward(self, x, y):\n"
            "        return x * y\n",
            ("def forward(self, x, y",),
            Confidence.POSSIBLE,
            raises=False,
        ),
    ),
)
