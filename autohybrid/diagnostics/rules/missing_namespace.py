"""AH604 missing-namespace: `hybrid_forward` is called without the namespace.

What it finds: `super().hybrid_forward(x)` or `self.hybrid_forward(x)` without `F`.

Why a graph cannot express it: the first argument of `hybrid_forward` is the namespace; the tensor would be taken for
it.

Example: `super().hybrid_forward(x)`

Instead: `super().hybrid_forward(F, x)`.

Fix safety: safe.

When to suppress: never.

MXNet 1.9.1: AttributeError or TypeError, before and after `hybridize()`.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.edits import NO_FIX, SAFE, before
from autohybrid.diagnostics.model import Fix
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """A call of `hybrid_forward` without `F`."""
    if event.kind is EventKind.SIGNATURE:
        if event.name != "namespace":
            return None
        message = "`hybrid_forward` has no argument for the namespace, which is passed before the inputs"
        return Finding(message, "write `def hybrid_forward(self, F, x)`")
    message = f"`{event.text}` passes a tensor where `hybrid_forward` takes the namespace `F`"
    fixes = NO_FIX
    if event.space and "first" in event.parts:
        edit = before(event.parts["first"].span, f"{event.space}, ")
        fixes = (Fix("pass the namespace", (edit,), SAFE),)
    return Finding(message, "pass the namespace first: `hybrid_forward(F, ...)`", fixes=fixes)


RULE = Rule(
    code="AH604",
    name="missing-namespace",
    summary="`hybrid_forward` is called without the namespace",
    kinds=(EventKind.SUPER, EventKind.SIGNATURE),
    check=check,
    valid=(
        Valid(
            "from mxnet.gluon import HybridBlock\n"
            "\n"
            "\n"
            "class Base(HybridBlock):\n"
            "    def hybrid_forward(self, F, x):\n"
            "        return F.relu(x)\n"
            "\n"
            "\n"
            "class Net(Base):\n"
            "    def hybrid_forward(self, F, x):\n"
            "        return super().hybrid_forward(F, x) + 1\n"
        ),
        Valid(forward("return F.relu(x)")),
    ),
    invalid=(
        Invalid(
            "from mxnet.gluon import HybridBlock\n"
            "\n"
            "\n"
            "class Base(HybridBlock):\n"
            "    def hybrid_forward(self, F, x):\n"
            "        return F.relu(x)\n"
            "\n"
            "\n"
            "class Net(Base):\n"
            "    def hybrid_forward(self, F, x):\n"
            "        return super().hybrid_forward(x) + 1\n",
            ("super().hybrid_forward(x)",),
            fixed=("return super().hybrid_forward(F, x) + 1",),
        ),
        Invalid(
            "from mxnet.gluon import HybridBlock\n"
            "\n"
            "\n"
            "class Base(HybridBlock):\n"
            "    def hybrid_forward(self, F, x):\n"
            "        return F.relu(x)\n"
            "\n"
            "\n"
            "class Net(Base):\n"
            "    def hybrid_forward(self, F, x):\n"
            "        y = F.tanh(x)\n"
            "        return super(Net, self).hybrid_forward(y)\n",
            ("super(Net, self).hybrid_forward(y)",),
            fixed=("return super(Net, self).hybrid_forward(F, y)",),
        ),
    ),
)
