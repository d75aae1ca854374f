"""AH204 numpy-on-tensor: a NumPy function on a tensor.

What it finds: `np.sqrt(x)`, `np.concatenate([x, y])`, `np.array(x)` with a tensor.

Why a graph cannot express it: NumPy computes on values; a tensor of a graph has none.

Example: `np.sqrt(x)`

Instead: the operator: `F.sqrt(x)`.

Fix safety: unsafe: it may change what the code does imperatively.

When to suppress: never.

MXNet 1.9.1: an array of objects without an error, in both modes; later code fails. `np.sum` and a few others hand
over to the tensor's own method and work.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """`np.f(x)`."""
    if event.get("how") != "numpy":
        return None
    name = event.name.rpartition(".")[2]
    message = f"`{event.name}` computes on values, and `{event.get('array')}` is a tensor of the graph"
    return Finding(message, f"use the operator of `F` (`F.{name}` if it exists)")


RULE = Rule(
    code="AH204",
    name="numpy-on-tensor",
    summary="a NumPy function on a tensor",
    kinds=(EventKind.FOREIGN,),
    check=check,
    valid=(
        Valid(forward("return x * np.sqrt(4.0)", before="import numpy as np")),
        Valid(forward("return np.sum(x) + 1", before="import numpy as np")),
    ),
    invalid=(
        Invalid(
            forward("return np.sqrt(x)", before="import numpy as np"),
            ("np.sqrt(x)",),
            fixed=("return F.sqrt(x)",),
        ),
        Invalid(
            forward("y = F.relu(x)\nreturn np.exp(y)", before="import numpy as np"),
            ("np.exp(y)",),
            fixed=("return F.exp(y)",),
        ),
    ),
)
