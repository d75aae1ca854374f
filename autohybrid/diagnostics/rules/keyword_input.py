"""AH609 keyword-input: a block is called with keywords.

What it finds: `self.fc(x=x)`.

Why a graph cannot express it: `Block.__call__` takes inputs by place only.

Example: `self.attention(query=q)`

Instead: `self.attention(q)`.

Fix safety: unsafe: it may change what the code does imperatively.

When to suppress: when the class defines `__call__` itself.

MXNet 1.9.1: TypeError: __call__() got an unexpected keyword argument, before and after `hybridize()`.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """`self.child(name=value)`."""
    message = f"`{event.subject}` is a block, which takes no keyword such as `{event.get('keyword')}`"
    return Finding(message, "pass the inputs by place")


RULE = Rule(
    code="AH609",
    name="keyword-input",
    summary="a block is called with keywords",
    kinds=(EventKind.CALL_BLOCK,),
    check=check,
    valid=(
        Valid(forward("return self.fc(x)", init="self.fc = nn.Dense(3)")),
        Valid(forward("return F.FullyConnected(data=x, weight=w, num_hidden=6, no_bias=True)", inputs="x, w")),
    ),
    invalid=(
        Invalid(
            forward("return self.fc(x=x)", init="self.fc = nn.Dense(3)"),
            ("self.fc(x=x)",),
            fixed=("return self.fc(x)",),
        ),
        Invalid(
            forward("return self.a(data=F.relu(x))", init="self.a = nn.Activation('relu')"),
            ("self.a(data=F.relu(x))",),
            fixed=("return self.a(F.relu(x))",),
        ),
    ),
)
