"""AH701 array-only-operator: an operator that only `mx.nd` has.

What it finds: `F.array`, `F.concatenate`, `F.add`, `F.equal`, `F.logical_and`, `F.contrib.isnan`, ... read from `F`,
also through `getattr`.

Why a graph cannot express it: `F` is `mx.sym` while the graph is built, and `mx.sym` does not have these names.

Example: `F.concatenate([x, y], axis=1)`

Instead: the name that both have: `F.concat(x, y, dim=1)`.

Fix safety: unsafe where an operand is a number, else safe.

When to suppress: when the block is never hybridized.

MXNet 1.9.1: AttributeError: module 'mxnet.symbol' has no attribute.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.edits import NO_FIX, replacement
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward

_TWINS = {
    "array": "a parameter: `self.params.get_constant(name, value)`",
    "concatenate": "`F.concat(a, b, dim=...)`",
    "add": "`F.broadcast_add`",
    "subtract": "`F.broadcast_sub`",
    "multiply": "`F.broadcast_mul`",
    "divide": "`F.broadcast_div`",
    "true_divide": "`F.broadcast_div`",
    "modulo": "`F.broadcast_mod`",
    "equal": "`F.broadcast_equal`",
    "not_equal": "`F.broadcast_not_equal`",
    "greater": "`F.broadcast_greater`",
    "greater_equal": "`F.broadcast_greater_equal`",
    "lesser": "`F.broadcast_lesser`",
    "lesser_equal": "`F.broadcast_lesser_equal`",
    "logical_and": "`F.broadcast_logical_and`",
    "logical_or": "`F.broadcast_logical_or`",
    "logical_xor": "`F.broadcast_logical_xor`",
    "moveaxis": "`F.transpose(x, axes=...)`",
    "empty": "`F.zeros`",
    "onehot_encode": "`F.one_hot`",
    "contrib.isnan": "`x != x`",
    "contrib.isinf": "`F.abs(x) == float('inf')`",
    "contrib.isfinite": "`F.abs(x) < float('inf')`",
    "waitall": "nothing: wait outside the block",
    "save": "nothing: save outside the block",
}


def check(event: Event) -> Finding | None:
    """A name that only `mx.nd` has."""
    if event.get("owner") != "array":
        return None
    name = f"{event.get('namespace')}.{event.name.rpartition('.')[2]}"
    message = f"`{name}` exists for arrays only, not while the graph is built"
    twin = _TWINS.get(event.name)
    fixes = NO_FIX
    if twin is not None and twin.startswith("`F.broadcast_") and "function" in event.parts:
        new = twin.strip("`").replace("F.", f"{event.get('namespace')}.", 1)
        fixes = replacement(f"use `{new}`", event.parts["function"].span, new)
    help_text = f"use {twin}" if twin else "use an operator that `mx.sym` has too"
    return Finding(message, help_text, fixes=fixes)


RULE = Rule(
    code="AH701",
    name="array-only-operator",
    summary="an operator that only `mx.nd` has",
    kinds=(EventKind.MISSING,),
    check=check,
    valid=(
        Valid(forward("return F.concat(x, x, dim=1)")),
        Valid(forward("f = getattr(F, 'add', None)\nreturn F.broadcast_add(x, x)")),
        Valid(forward("return F.maximum(x, 0) + F.broadcast_add(x, F.zeros((1, 6)))")),
    ),
    invalid=(
        Invalid(
            forward("return F.concatenate([x, x], axis=1)"),
            ("F.concatenate",),
            fixed=("return F.concat(x, x, dim=1)",),
        ),
        Invalid(
            forward("return F.logical_and(x > 0, x < 1)"),
            ("F.logical_and",),
            fixed=("return F.broadcast_logical_and(x > 0, x < 1)",),
        ),
    ),
)
