"""AH511 array-kind-branch: a branch computes something else for arrays than for symbols.

What it finds: `if isinstance(x, NDArray):` or `if F is mx.nd:` whose sides use different operators.

Why a graph cannot express it: the block is one function before and another after `hybridize()`.

Example: `if isinstance(x, mx.nd.NDArray): return F.relu(x)`

Instead: the same operators on both sides, or none: let `F` be whatever it is.

Fix safety: unsafe: it may change what the code does imperatively.

When to suppress: when both sides are known to give the same.

MXNet 1.9.1: no error: the results differ.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.model import Confidence
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """Two sides that differ."""
    if event.name != "kind":
        return None
    message = f"`{event.text}` tells arrays from symbols, and the two sides do not compute the same"
    return Finding(message, "use one code for both; `F` is the namespace of whatever `x` is", Confidence.LIKELY)


RULE = Rule(
    code="AH511",
    name="array-kind-branch",
    summary="a branch computes something else for arrays than for symbols",
    kinds=(EventKind.TYPE_TEST,),
    check=check,
    valid=(
        Valid(
            forward(
                "if isinstance(x, mx.nd.NDArray):\n"
                "    if x.shape[-1] != 6:\n"
                "        raise ValueError('six columns')\n"
                "return F.softmax(x)"
            )
        ),
        Valid(
            forward(
                "if F is mx.nd:\n    y = y.reshape(x.shape)\nelse:\n    y = F.reshape_like(y, x)\nreturn y + 1",
                inputs="x, y",
            )
        ),
    ),
    invalid=(
        Invalid(
            forward("if isinstance(x, mx.nd.NDArray):\n    return F.relu(x)\nreturn F.tanh(x)"),
            ("isinstance(x, mx.nd.NDArray)",),
            Confidence.LIKELY,
            raises=False,
            fixed=("return F.relu(x)",),
        ),
        Invalid(
            forward("if F is mx.nd:\n    x = x * 2\nreturn F.relu(x)"),
            ("F is mx.nd",),
            Confidence.LIKELY,
            raises=False,
            fixed=("x = x * 2",),
        ),
    ),
)
