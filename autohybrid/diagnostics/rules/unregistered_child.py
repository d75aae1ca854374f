"""AH611 unregistered-child: a list or dictionary hides children with parameters.

What it finds: a field that is a list, tuple or dictionary of blocks with parameters which are registered nowhere.

Why a graph cannot express it: a block knows its children by the fields that hold them; those in a list are not
initialized, saved, cast or hybridized.

Example: `self.layers = [nn.Dense(3), nn.Dense(2)]`

Instead: `nn.HybridSequential`, or `self.register_child(layer)` for each.

Fix safety: unsafe: the parameters of the blocks become parameters of the block, and are saved with it.

When to suppress: when the blocks are initialized and trained elsewhere.

MXNet 1.9.1: a warning when the block is initialized, then RuntimeError: Parameter has not been initialized.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.model import Confidence
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """Blocks in a container of Python."""
    if event.get("how") != "unregistered":
        return None
    message = f"the blocks in `self.{event.name}` are no children of the block: their parameters are not collected"
    return Finding(message, "use `nn.HybridSequential`, or call `self.register_child(...)` for each", Confidence.LIKELY)


RULE = Rule(
    code="AH611",
    name="unregistered-child",
    summary="a list or dictionary hides children with parameters",
    kinds=(EventKind.CHILD,),
    check=check,
    valid=(
        Valid(
            forward(
                "return self.a(x) + self.b(x)",
                init="self.a, self.b = nn.Dense(3, in_units=6), nn.Dense(3, in_units=6)\nself.both = [self.a, self.b]",
            )
        ),
        Valid(
            forward(
                "for layer in self.layers:\n    x = layer(x)\nreturn x",
                init="self.layers = [nn.Dense(3, in_units=6), nn.Dense(3, in_units=3)]\n"
                "for layer in self.layers:\n"
                "    self.register_child(layer)",
            )
        ),
    ),
    invalid=(
        Invalid(
            forward("return self.layers[0](x)", init="self.layers = [nn.Dense(3)]"),
            ("self.layers = [nn.Dense(3)]",),
            Confidence.LIKELY,
            fixed=("for child in self.layers:", "self.register_child(child)"),
        ),
        Invalid(
            forward("return self.by_name['a'](x)", init="self.by_name = {'a': nn.Dense(3)}"),
            ("self.by_name = {'a': nn.Dense(3)}",),
            Confidence.LIKELY,
            fixed=("for child in self.by_name.values():", "self.register_child(child)"),
        ),
    ),
)
