"""AH207 parameter-data: the value of a parameter is read inside the block.

What it finds: `self.weight.data()`, `self.fc.weight.data()`, `.grad()` inside a hybrid method.

Why a graph cannot express it: the value is an array; in a graph a parameter is a variable, and the array cannot be
mixed with it.

Example: `F.sum(self.fc.weight.data())`

Instead: take the parameter as an argument of `hybrid_forward` (it is passed by its attribute name); a child's
parameter can be kept as a field too.

Fix safety: unsafe: it may change what the code does imperatively.

When to suppress: when the block is never hybridized.

MXNet 1.9.1: TypeError or AssertionError where the array meets a Symbol; DeferredInitializationError before.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """`parameter.data()`."""
    message = f"`{event.text}` is the value of a parameter now; in a graph a parameter is a variable"
    name = event.subject.rpartition(".")[2]
    if event.subject.count(".") == 1:
        return Finding(message, f"take `{name}` as an argument: `def hybrid_forward(self, F, x, {name})`")
    return Finding(message, f"keep it as a field, `self.{name} = {event.subject}`, and take `{name}` as an argument")


RULE = Rule(
    code="AH207",
    name="parameter-data",
    summary="the value of a parameter is read inside the block",
    kinds=(EventKind.PARAMETER_DATA,),
    check=check,
    valid=(
        Valid(forward("return F.dot(x, w)", inputs="x, w", init="self.w = self.params.get('w', shape=(6, 6))")),
        Valid(forward("return x * self.cfg.get('data', 2)", init="self.cfg = {}")),
    ),
    invalid=(
        Invalid(
            forward(
                "return F.dot(x, self.w.data())",
                inputs="x, w",
                init="self.w = self.params.get('w', shape=(6, 6))",
            ),
            ("self.w.data()",),
            fixed=("return F.dot(x, w)",),
        ),
        Invalid(
            forward("return self.fc(x) + F.sum(self.fc.weight.data())", init="self.fc = nn.Dense(1)"),
            ("self.fc.weight.data()",),
        ),
    ),
)
