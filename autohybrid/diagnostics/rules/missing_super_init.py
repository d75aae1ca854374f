"""AH612 missing-super-init: the constructor does not run the one of the base class first.

What it finds: a block whose `__init__` calls no other `__init__`, or sets a layer or parameter before it does.

Why a graph cannot express it: the base class makes the tables in which children and parameters are kept.

Example: `def __init__(self): self.fc = nn.Dense(3)`

Instead: `super().__init__()` as the first statement.

Fix safety: no fix is offered.

When to suppress: never: construction fails.

MXNet 1.9.1: AttributeError: object has no attribute '_children'.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """`super().__init__()` is missing or late."""
    how = event.get("how")
    if how == "super":
        return Finding(f"`{event.name}.__init__` never calls `super().__init__()`", "call `super().__init__()` first")
    if how == "early":
        message = f"`self.{event.name}` is set before `super().__init__()` has made the tables of children"
        return Finding(message, "call `super().__init__()` first")
    return None


RULE = Rule(
    code="AH612",
    name="missing-super-init",
    summary="the constructor does not run the one of the base class first",
    kinds=(EventKind.CHILD,),
    check=check,
    valid=(
        Valid(forward("return self.d(x)", init="n = 3\nself.d = nn.Dense(n)")),
        Valid(
            "from mxnet.gluon import HybridBlock\n"
            "\n"
            "\n"
            "class Net(HybridBlock):\n"
            "    def __init__(self, n=2, **kwargs):\n"
            "        self_n = n\n"
            "        super(Net, self).__init__(**kwargs)\n"
            "        self.n = self_n\n"
            "\n"
            "    def hybrid_forward(self, F, x):\n"
            "        return x * self.n\n"
        ),
    ),
    invalid=(
        Invalid(
            "from mxnet.gluon import HybridBlock, nn\n"
            "\n"
            "\n"
            "class Net(HybridBlock):\n"
            "    def __init__(self):\n"
            "        self.n = 2\n"
            "\n"
            "    def hybrid_forward(self, F, x):\n"
            "        return x * self.n\n",
            ("def __init__",),
            fixed=("super().__init__()",),
        ),
        Invalid(
            "from mxnet.gluon import HybridBlock, nn\n"
            "\n"
            "\n"
            "class Net(HybridBlock):\n"
            "    def __init__(self):\n"
            "        self.d = nn.Dense(3)\n"
            "        super().__init__()\n"
            "\n"
            "    def hybrid_forward(self, F, x):\n"
            "        return self.d(x)\n",
            ("self.d = nn.Dense(3)",),
            fixed=("super().__init__()",),
        ),
    ),
)
