"""Exceptions and warning categories that users catch by name. Owns no behaviour besides their messages.

The MXNet-shaped classes keep MXNet's public spelling and bases (`autohybrid.base` re-exports them); the two
`Hybridize*` classes are autohybrid's own and carry findings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from autohybrid.diagnostics.model import Diagnostic


class MXNetError(RuntimeError):
    """Invalid input to an operator, a file that is not what it claims to be, or a graph that cannot run.

    Raised wherever MXNet 1.9.1 raises `mxnet.base.MXNetError`.

    Fails:     `nd.dot(nd.ones((2, 3)), nd.ones((2, 3)))`
    Repaired:  `nd.dot(nd.ones((2, 3)), nd.ones((2, 3)), transpose_b=True)`
    """


class IndexOutOfBoundsError(MXNetError, IndexError):
    """An operator was given an index outside of the array (`nd.gather_nd`), where MXNet raises IndexError.

    Fails:     `nd.gather_nd(nd.ones((2, 3)), nd.array([[0], [3]]))`
    Repaired:  `nd.gather_nd(nd.ones((2, 3)), nd.array([[0], [2]]))`
    """


class ElementCountError(MXNetError, ValueError):
    """A new shape does not hold as many elements as the array, where the method `reshape` of MXNet raises ValueError.

    Fails:     `nd.ones((2, 3)).reshape((4, -1))`
    Repaired:  `nd.ones((2, 3)).reshape((3, -1))`
    """


class NotImplementedForSymbol(MXNetError):
    """A method that only an NDArray has was called on a Symbol (its value does not exist yet).

    Fails:     `mx.sym.var('x').asnumpy()`
    Repaired:  `mx.sym.var('x').eval(x=value)[0].asnumpy()`
    """

    def __init__(self, function: object, alias: str | None = None, *args: object) -> None:
        super().__init__()
        self.function = function if isinstance(function, str) else getattr(function, "__name__", str(function))
        self.alias = alias
        self.arguments = [str(type(a)) for a in args]

    def __str__(self) -> str:
        text = f"`{self.function}`"
        if self.alias:
            text += f' (the operator "{self.alias}")'
        if self.arguments:
            text += f" with arguments ({', '.join(self.arguments)})"
        return text + " is not defined for a Symbol: only an NDArray has a value"


class NotSupportedForSparseNDArray(MXNetError):
    """A method that only dense arrays offer was called on a csr or row_sparse array."""

    def __init__(self, function: object, alias: str | None = None, *args: object) -> None:
        super().__init__()
        self.function = function if isinstance(function, str) else getattr(function, "__name__", str(function))
        self.alias = alias
        self.arguments = [str(type(a)) for a in args]

    def __str__(self) -> str:
        name = f'`{self.function}` (the operator "{self.alias}")' if self.alias else f"`{self.function}`"
        return f"{name} is not defined for a sparse array; convert it with `.tostype('default')` first"


class DeferredInitializationError(MXNetError):
    """A parameter was read before its shape was known.

    Fails:     `net = nn.Dense(3); net.initialize(); net.weight.data()`
    Repaired:  call `net(x)` once first, or give `nn.Dense(3, in_units=4)`.
    """


class HybridizeWarning(UserWarning):
    """A finding of `hybridize()` that does not stop it: the source would not hybridize, or would behave
    differently, under MXNet, or has an effect (such as `print`) that happens only while the graph is built."""


class HybridizeError(MXNetError):
    """`hybridize()` refused: running the block as a graph could not give what running it imperatively gives.

    Every finding is reported at once; `diagnostics` holds them.

    Fails:     `if float(x.sum()) > 0: ...` inside `hybrid_forward`
    Repaired:  `F.where(x.sum() > 0, a, b)`
    """

    def __init__(self, message: str, diagnostics: Sequence[Diagnostic] = ()) -> None:
        super().__init__(message)
        self.diagnostics: tuple[Diagnostic, ...] = tuple(diagnostics)


class SourceUnavailableWarning(HybridizeWarning):
    """The source of a method could not be read (REPL, `exec`), so the graph was traced with Symbols instead."""
