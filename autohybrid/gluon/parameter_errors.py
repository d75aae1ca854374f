"""What to say about parameters that have no values yet: which, whose they are, and what is missing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from autohybrid.gluon.parameter import Parameter

_LISTED = 12


class UninitializedParameterError(RuntimeError):
    """A parameter was used before `initialize()`. Lists every such parameter of the block that was called.

    Fails:     `net = nn.Dense(3); net(x)`
    Repaired:  `net = nn.Dense(3); net.initialize(); net(x)`
    """

    def __init__(self, parameters: Iterable[Parameter]) -> None:
        self.parameters = list(parameters)
        super().__init__(_text(self.parameters))

    def extend(self, parameters: Iterable[Parameter]) -> None:
        """Add the uninitialised ones among `parameters`."""
        known = {id(p) for p in self.parameters}
        self.parameters += [p for p in parameters if p._data is None and not p._deferred_init and id(p) not in known]
        self.args = (_text(self.parameters),)

    def __reduce__(self) -> tuple[type[RuntimeError], tuple[str]]:
        return RuntimeError, (str(self),)


def _text(parameters: list[Parameter]) -> str:
    return (
        f"{_listed(parameters)} not been initialized; call `initialize()` on the outermost block (or on "
        "`collect_params()`, which includes the children's; `params` does not) before using it"
    )


def deferred_message(parameters: list[Parameter], verb: str = "") -> str:
    """Why parameters that wait for their shape have no values, and how to tell the shape."""
    wanted = sorted({p._owner[2] for p in parameters if p._owner and p._owner[2]})
    remedy = f"give `{'`, `'.join(wanted)}`" if wanted else "give the whole shape"
    return (
        f"{_listed(parameters)} not been initialized yet: {verb}the shape is unknown until data has gone through the "
        f"network; call it once on a batch first, or {remedy} when the layer is made"
    )


def _listed(parameters: list[Parameter]) -> str:
    shown = [p.describe() for p in parameters[:_LISTED]]
    if len(shown) == 1:
        return f"{shown[0]} has"
    more = len(parameters) - len(shown)
    return "these parameters:\n  " + "\n  ".join(shown) + (f"\n  and {more} more" if more else "") + "\nhave"
