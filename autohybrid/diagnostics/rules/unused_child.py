"""AH602 unused-child: a child is not used by default while some shape is open.

What it finds: a parameter, or a layer with parameters, made without condition and used only when a flag is set that is
off by default, or never, in a block where some layer leaves its input size open.

Why a graph cannot express it: open shapes are inferred from the graph of the whole block; a parameter that the graph
does not hold makes that inference fail for all.

Example: `self.aux = nn.Dense(2)` used under `if self.use_aux:`

Instead: make the layer under the same flag, or give every layer its input size.

Fix safety: unsafe: it may change what the code does imperatively.

When to suppress: when the flag is always on.

MXNet 1.9.1: ValueError: Deferred initialization failed, at the first hybridized call.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.model import Confidence
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """A deferred child that is not used."""
    if event.get("how") != "unused":
        return None
    flag = event.get("flag")
    if event.get("what") == "parameter":
        message = f"the parameter `{event.name}` is not used, and some shape of the block is open"
        return Finding(message, "use it or remove it, or give every layer its input size")
    if flag:
        message = f"`{event.name}` is made always but used only when `self.{flag}` is set, which it is not by default"
        return Finding(message, f"make it under `if {flag}:`, or give every layer its input size")
    return Finding(
        f"`{event.name}` is made but never used, and some shape of the block is open",
        "remove it, or give every layer its input size",
    )


RULE = Rule(
    code="AH602",
    name="unused-child",
    summary="a child is not used by default while some shape is open",
    kinds=(EventKind.CHILD,),
    check=check,
    valid=(
        Valid(
            forward(
                "y = self.body(x)\nreturn self.aux(y) if self.use_aux else y",
                init="self.use_aux = True\nself.body = nn.Dense(3)\nself.aux = nn.Dense(2)",
            )
        ),
        Valid(forward("return self.a(x)", init="self.a = nn.Dense(3, in_units=6)\nself.b = nn.Dense(2, in_units=6)")),
    ),
    invalid=(
        Invalid(
            "from mxnet.gluon import HybridBlock, nn\n"
            "\n"
            "\n"
            "class Net(HybridBlock):\n"
            "    def __init__(self, use_aux=False):\n"
            "        super().__init__()\n"
            "        self.use_aux = use_aux\n"
            "        self.body = nn.Dense(3)\n"
            "        self.aux = nn.Dense(2)\n"
            "\n"
            "    def hybrid_forward(self, F, x):\n"
            "        y = self.body(x)\n"
            "        if self.use_aux:\n"
            "            return y, self.aux(x)\n"
            "        return y\n",
            ("self.aux = nn.Dense(2)",),
            Confidence.LIKELY,
            fixed=("self.aux = nn.Dense(2) if self.use_aux else None",),
        ),
        Invalid(
            "from mxnet.gluon import HybridBlock, nn\n"
            "\n"
            "\n"
            "class Net(HybridBlock):\n"
            "    def __init__(self, extra=0):\n"
            "        super().__init__()\n"
            "        self.extra = extra\n"
            "        self.a = nn.Dense(3)\n"
            "        self.b = nn.Conv2D(8, 3)\n"
            "\n"
            "    def hybrid_forward(self, F, x):\n"
            "        return self.b(x) if self.extra else self.a(x)\n",
            ("self.b = nn.Conv2D(8, 3)",),
            Confidence.LIKELY,
            fixed=("self.b = nn.Conv2D(8, 3) if self.extra else None",),
        ),
    ),
)
