"""AH714 random-operator-differs: an operator that differs between arrays and graphs.

What it finds: `F.random.shuffle`, `F.random.multinomial` without `get_prob`, `F.histogram` with a number of bins.

Why a graph cannot express it: the functions of `mx.nd` and `mx.sym` do not do the same here.

Example: `F.random.multinomial(p)`

Instead: `F.sample_multinomial(p)`; a permutation passed in; bins with `range`.

Fix safety: unsafe: it may change what the code does imperatively.

When to suppress: when the block is never hybridized.

MXNet 1.9.1: `shuffle`: MXNetError, no gradient. `multinomial`: a list of two results. `histogram`: ValueError without
`range`.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward

_PROBLEMS = {
    "shuffle": (
        "has no gradient, which a hybridized block always prepares",
        "shuffle outside the block, or `F.take` with a permutation",
    ),
    "multinomial": ("gives one result for arrays and two in a graph", "write `F.sample_multinomial(...)`"),
    "histogram": ("needs `range` in a graph", "give `range=(low, high)`"),
}


def check(event: Event) -> Finding | None:
    """An operator with two behaviours."""
    known = _PROBLEMS.get(event.get("problem"))
    if known is None:
        return None
    return Finding(f"`{event.text}` {known[0]}", known[1])


RULE = Rule(
    code="AH714",
    name="random-operator-differs",
    summary="an operator that differs between arrays and graphs",
    kinds=(EventKind.ARGUMENT,),
    check=check,
    valid=(
        Valid(forward("return F.sample_multinomial(F.softmax(x))")),
        Valid(forward("return x + F.random.normal_like(x)")),
    ),
    invalid=(
        Invalid(forward("return F.random.shuffle(x)"), ("F.random.shuffle(x)",)),
        Invalid(
            forward("return F.random.multinomial(F.softmax(x))"),
            ("F.random.multinomial(F.softmax(x))",),
            raises=False,
            fixed=("return F.sample_multinomial(F.softmax(x))",),
        ),
    ),
)
