"""AH507 frozen-mode: the training mode is asked while the graph is built.

What it finds: `autograd.is_training()` and `autograd.is_recording()` in a hybrid method.

Why a graph cannot express it: the graph of the first call serves training and inference alike.

Example: `if autograd.is_training():`

Instead: an operator that knows the mode (`F.Dropout`, `F.BatchNorm`), two blocks, or a flag of the constructor.

Fix safety: unsafe: both sides are computed, and one random number is drawn. Dropout of a one is 1 outside of training
and 0 or 2 inside, which tells the mode.

When to suppress: when the block is hybridized for one mode only; autohybrid itself keeps a graph per mode.

MXNet 1.9.1: no error: the branch of the first call is kept.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """`autograd.is_training()`."""
    message = f"`{event.text}` is asked once, while the graph is built: training and inference share the answer"
    return Finding(
        message, "use an operator that knows the mode (`F.Dropout`, `F.BatchNorm`), or a block for each mode"
    )


RULE = Rule(
    code="AH507",
    name="frozen-mode",
    summary="the training mode is asked while the graph is built",
    kinds=(EventKind.FLAG,),
    check=check,
    valid=(
        Valid(forward("return F.Dropout(x, p=0.5)")),
        Valid(forward("return x * 2 if self.training else x * 3", init="self.training = True")),
    ),
    invalid=(
        Invalid(
            forward("if autograd.is_training():\n    return x * 2\nreturn x * 1"),
            ("autograd.is_training()",),
            fixed=(
                "chosen = x * 2",
                "return F.where(F.broadcast_mul(F.ones_like(chosen), "
                "F.abs(F.Dropout(F.ones((1,)), p=0.5) - 1)), chosen, x * 1)",
            ),
            raises=False,
        ),
        Invalid(
            forward("r = mx.autograd.is_recording()\nreturn x * int(r)"), ("mx.autograd.is_recording()",), raises=False
        ),
    ),
)
