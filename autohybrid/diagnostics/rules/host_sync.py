"""AH201 host-sync: a tensor is copied to the host.

What it finds: `asnumpy()`, `asscalar()`, `wait_to_read()` on a tensor.

Why a graph cannot express it: the value does not exist while the graph is built; it cannot reach Python.

Example: `m = x.mean().asscalar()`

Instead: keep the tensor: `F.broadcast_div(x, x.mean())` instead of dividing by a number.

Fix safety: unsafe: it may change what the code does imperatively.

When to suppress: when the block is never hybridized.

MXNet 1.9.1: NotImplementedForSymbol: asnumpy is not implemented for Symbol.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward

_HELP = {
    "asnumpy": "keep `{x}` as a tensor and use operators of `F`",
    "asscalar": "keep `{x}` as a tensor of one element: `F.broadcast_mul(..., {x})`, `F.broadcast_div(..., {x})`; "
    "where the gradient must not flow, `F.stop_gradient({x})`",
    "wait_to_read": "leave it out: a graph runs as a whole; wait for its result outside the block",
}


def check(event: Event) -> Finding | None:
    """`asnumpy`, `asscalar`, `wait_to_read`."""
    if event.name not in _HELP:
        return None
    message = f"`{event.subject}` has no value while the graph is built, so `.{event.name}()` cannot give one"
    return Finding(message, _HELP[event.name].format(x=event.subject))


RULE = Rule(
    code="AH201",
    name="host-sync",
    summary="a tensor is copied to the host",
    kinds=(EventKind.METHOD,),
    check=check,
    valid=(
        Valid(forward("return x * self.cfg.get('asscalar', 1)", init="self.cfg = {}")),
        Valid(forward("if isinstance(x, mx.nd.NDArray):\n    x.wait_to_read()\nreturn F.relu(x)")),
    ),
    invalid=(
        Invalid(
            forward("m = x.mean().asscalar()\nreturn x > m"),
            ("x.mean().asscalar()",),
            fixed=("m = F.stop_gradient(x.mean())", "return F.broadcast_greater(x, m)"),
        ),
        Invalid(
            forward("y = F.relu(x)\ny.wait_to_read()\nreturn y"),
            ("y.wait_to_read()",),
            removed=("y.wait_to_read()",),
        ),
    ),
)
