"""AH102 tensor-dtype: the dtype or storage type of a tensor is read.

What it finds: `.dtype` or `.stype` of a tensor inside a hybrid method.

Why a graph cannot express it: a Symbol has no type until the graph is bound.

Example: `mask.astype(x.dtype)`

Instead: an operator that follows the type of its input (`zeros_like`, `ones_like`, `x > 0` and the like), or a type
given to the constructor.

Fix safety: unsafe: it may change what the code does imperatively.

When to suppress: when the block is never hybridized.

MXNet 1.9.1: AttributeError: 'Symbol' object has no attribute 'dtype'.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """`x.dtype`, `x.stype`."""
    if event.name not in ("dtype", "stype") or event.get("owner") != "array":
        return None
    message = f"`{event.subject}` is a tensor: its `{event.name}` is not known while the graph is built"
    help_text = (
        f"give the type to the constructor (`self._{event.name}`), or follow it: `F.zeros_like({event.subject})`, "
    )
    return Finding(message, help_text + f"`F.ones_like({event.subject})`")


RULE = Rule(
    code="AH102",
    name="tensor-dtype",
    summary="the dtype or storage type of a tensor is read",
    kinds=(EventKind.ATTRIBUTE,),
    check=check,
    valid=(
        Valid(forward("return F.cast(x, self.dtype)", init="self.dtype = 'float32'")),
        Valid(forward("return F.zeros_like(x)")),
    ),
    invalid=(
        Invalid(
            forward("return mask.astype(x.dtype)", inputs="x, mask"),
            ("x.dtype",),
            fixed=("return mask.astype('float32')",),
        ),
        Invalid(
            forward("if x.stype == 'csr':\n    return x * 2\nreturn x * 1"),
            ("x.stype",),
            removed=("if x.stype == 'csr':", "return x * 2"),
        ),
    ),
)
