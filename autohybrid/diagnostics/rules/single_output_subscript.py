"""AH106 single-output-subscript: an operator that gives one tensor is subscripted as if it gave several.

What it finds: `F.split(x, num_outputs=1)[0]` and `F.topk(x)[0]` without `ret_typ='both'`.

Why a graph cannot express it: with one output there is nothing to pick: the array gives a row, the graph the whole
tensor.

Example: `F.topk(x, k=2)[0]`

Instead: leave the subscript out, or ask for two outputs: `F.topk(x, k=2, ret_typ='both')[0]`.

Fix safety: unsafe: it may change what the code does imperatively.

When to suppress: never: the results differ.

MXNet 1.9.1: no error: the hybridized block computes with the whole tensor.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """A subscript of an operator with one output."""
    single = event.get("single")
    if not single or event.get("index") != "int":
        return None
    message = f"`{event.text}` picks a row of an array but an output of a graph, and `{single}` has one output"
    if single == "topk":
        return Finding(message, "leave the subscript out, or give `ret_typ='both'` for values and indices")
    return Finding(
        message, f"leave the subscript out where there is one part, or slice: `F.squeeze({event.subject}, axis=0)`"
    )


RULE = Rule(
    code="AH106",
    name="single-output-subscript",
    summary="an operator that gives one tensor is subscripted as if it gave several",
    kinds=(EventKind.SUBSCRIPT,),
    check=check,
    valid=(
        Valid(forward("return F.topk(x, k=2, ret_typ='both')[0]")),
        Valid(forward("a = F.split(x, num_outputs=3, axis=1)\nreturn a[0]")),
    ),
    invalid=(
        Invalid(
            forward("return F.topk(x, k=2)[0]"),
            ("F.topk(x, k=2)[0]",),
            raises=False,
            fixed=("return F.squeeze(F.slice_axis(F.topk(x, k=2), axis=0, begin=0, end=1), axis=0)",),
        ),
        Invalid(
            forward("p = F.split(x, num_outputs=1, axis=1)\nreturn p[0] + 1"),
            ("p[0]",),
            raises=False,
            fixed=("return F.squeeze(F.slice_axis(p, axis=0, begin=0, end=1), axis=0) + 1",),
        ),
    ),
)
