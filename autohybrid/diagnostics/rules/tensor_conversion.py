"""AH202 tensor-conversion: a tensor is converted to a Python number.

What it finds: `float(x)`, `int(x)`, `bool(x)`, `round(x)`, `divmod(x, y)`, `range(x)` of a tensor.

Why a graph cannot express it: the value does not exist while the graph is built.

Example: `bool(F.sum(x) > 0)`

Instead: operators: `F.cast`, `F.round`, `F.floor`, `F.where` with the condition as a tensor.

Fix safety: unsafe: it may change what the code does imperatively.

When to suppress: when the value is a number that the analysis could not see.

MXNet 1.9.1: NotImplementedForSymbol or TypeError.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward

_HELP = {
    "float": "keep the tensor; `F.cast({x}, dtype='float32')` changes its type",
    "int": "keep the tensor; `F.floor({x})` or `F.cast({x}, dtype='int32')`",
    "bool": "keep the condition as a tensor and choose with `F.where({x}, a, b)`",
    "round": "write `F.round({x})`",
    "divmod": "write `F.floor({x} / y)` and `{x} % y`",
    "range": "give the number of steps to the constructor, or use `F.contrib.foreach`",
}


def check(event: Event) -> Finding | None:
    """`float`, `int`, `bool`, ... of a tensor."""
    if event.name.startswith("math."):
        return None
    message = f"`{event.name}()` needs the value of `{event.subject}`, which does not exist while the graph is built"
    return Finding(message, _HELP.get(event.name, "keep the tensor").format(x=event.subject))


RULE = Rule(
    code="AH202",
    name="tensor-conversion",
    summary="a tensor is converted to a Python number",
    kinds=(EventKind.CONVERT,),
    check=check,
    valid=(
        Valid(forward("k = int(self.k)\nreturn x * k", init="self.k = '3'")),
        Valid(forward("return x * float('2')")),
    ),
    invalid=(
        Invalid(
            forward("p = bool(F.sum(x) > 0)\nreturn x * 2 if p else x * 3"),
            ("bool(F.sum(x) > 0)",),
            fixed=("p = F.sum(x) > 0",),
        ),
        Invalid(
            forward("y = F.relu(x)\nreturn x * float(y)"),
            ("float(y)",),
            fixed=("return F.broadcast_mul(x, F.stop_gradient(F.reshape(y, shape=(-1,))))",),
        ),
    ),
)
