"""AH101 tensor-shape: the shape of a tensor is read.

What it finds: `.shape`, `.size` or `.ndim` of a tensor inside a hybrid method or a helper it calls.

Why a graph cannot express it: a Symbol has no shape until the graph is bound; the number read while the graph is
built would be frozen into it.

Example: `n = x.shape[0]`

Instead: the reshape codes 0 (keep), -1 (infer), -2 (keep the rest), -3 (merge two), -4 (split one), or an operator
that follows a shape by itself: `reshape_like`, `slice_like`, `broadcast_like`, `F.contrib.arange_like`,
`F.shape_array`.

Fix safety: unsafe: sizes become reshape codes, `_like` operators, or tensors of one element.

When to suppress: when the block is never hybridized, or autohybrid itself builds one graph per shape.

MXNet 1.9.1: AttributeError: 'Symbol' object has no attribute 'shape'.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward

_HELP = {
    "shape": "use the reshape codes 0, -1, -2, -3, -4 (`{x}.reshape((0, -1))` keeps the first axis), a `_like` "
    "operator (`F.reshape_like`, `F.slice_like`, `F.broadcast_like`, `F.contrib.arange_like({x}, axis=...)`), or "
    "`F.shape_array({x})` for the sizes as a tensor",
    "size": "use `F.size_array({x})`, or `F.mean` instead of dividing a sum by the size",
    "ndim": "pass the number of axes to the constructor, or use the reshape code -2 for all remaining axes",
}


def check(event: Event) -> Finding | None:
    """`x.shape`, `x.size`, `x.ndim`."""
    if event.name not in _HELP or event.get("owner") != "array":
        return None
    message = f"`{event.subject}` is a tensor: its `{event.name}` is not known while the graph is built"
    return Finding(message, _HELP[event.name].format(x=event.subject))


RULE = Rule(
    code="AH101",
    name="tensor-shape",
    summary="the shape of a tensor is read",
    kinds=(EventKind.ATTRIBUTE,),
    check=check,
    valid=(
        Valid(forward("return x / self.shape", init="self.shape = 3")),
        Valid(forward("return F.broadcast_div(x, F.cast(F.shape_array(x), 'float32').sum())")),
    ),
    invalid=(
        Invalid(
            forward("n = x.shape[0]\nreturn x / n"),
            ("x.shape",),
            fixed=(
                "n = F.cast(F.slice_axis(F.shape_array(x), axis=0, begin=0, end=1), dtype='float32')",
                "return F.broadcast_div(x, n)",
            ),
        ),
        Invalid(
            forward("y = F.relu(x)\nreturn y / y.size"),
            ("y.size",),
            fixed=("return F.broadcast_div(y, F.cast(F.size_array(y), dtype='float32'))",),
        ),
    ),
)
