"""AH708 unsupported-operator: an operator that tensors do not have.

What it finds: `//`, `@`, `&`, `|`, `^`, `<<`, `>>`, unary `+`, `~` with a tensor.

Why a graph cannot express it: neither NDArray nor Symbol of MXNet 1.9.1 defines them. (autohybrid itself computes `//`
on floating-point tensors; the code would still not run under MXNet.)

Example: `x // 2`, `a @ b`

Instead: `F.floor(x / 2)`, `F.dot(a, b)`, `F.batch_dot`, `F.broadcast_logical_and`, `F.logical_not`.

Fix safety: safe.

When to suppress: when the value is a number that the analysis could not see.

MXNet 1.9.1: TypeError: unsupported operand type(s), before and after `hybridize()`.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.edits import NO_FIX, SAFE, after, before, operator_in_gap
from autohybrid.diagnostics.model import Fix
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward

_HELP = {
    "//": "write `F.floor({left} / {right})`",
    "@": "write `F.dot({left}, {right})`, or `F.batch_dot` for batches",
    "&": "write `F.broadcast_logical_and({left}, {right})`",
    "|": "write `F.broadcast_logical_or({left}, {right})`",
    "^": "write `F.broadcast_logical_xor({left}, {right})`",
    "<<": "write `{left} * 2 ** {right}`",
    ">>": "write `F.floor({left} / 2 ** {right})`",
    "unary +": "leave the `+` out",
    "unary ~": "write `F.logical_not({right})`",
}


def check(event: Event) -> Finding | None:
    """An operator that no tensor has."""
    if event.name not in _HELP:
        return None
    message = f"tensors of MXNet have no `{event.name}`: `{event.text}` fails there in both modes"
    fixes = NO_FIX
    if event.name == "//" and event.space:
        inner = operator_in_gap(event, "//", "/", "use `floor`")
        outer = (before(event.span, f"{event.space}.floor("), after(event.span, ")"))
        fixes = tuple(Fix(fix.message, (outer[0], *fix.edits, outer[1]), SAFE) for fix in inner)
    help_text = _HELP[event.name].format(left=event.get("left"), right=event.get("right"))
    return Finding(message, help_text, fixes=fixes)


RULE = Rule(
    code="AH708",
    name="unsupported-operator",
    summary="an operator that tensors do not have",
    kinds=(EventKind.OPERATOR,),
    check=check,
    valid=(
        Valid(forward("n = self.n // 2\nreturn x * n", init="self.n = 4")),
        Valid(forward("flags = 1\nflags |= 2\nreturn x * flags")),
    ),
    invalid=(
        Invalid(forward("y = F.relu(x)\nreturn y // 2"), ("y // 2",), fixed=("return F.floor(y / 2)",)),
        Invalid(
            forward("y = F.relu(x)\nreturn y @ y"),
            ("y @ y",),
            fixed=("return F.dot(y, y)",),
        ),
    ),
)
