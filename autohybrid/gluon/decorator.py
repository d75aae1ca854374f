"""`@autohybrid` on a block class or a plain function `f(F, x, ...)`: hybridized from the first call on."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, overload

from autohybrid.gluon.hybrid_block import HybridBlock
from autohybrid.gluon.hybridize_options import HybridizeOptions

BlockClass = TypeVar("BlockClass", bound=type[HybridBlock])
Decorated = TypeVar("Decorated", bound=Callable[..., Any])


@overload
def autohybrid(target: Decorated) -> Decorated: ...
@overload
def autohybrid(**options: Any) -> Callable[[Decorated], Decorated]: ...
def autohybrid(target: Any = None, **options: Any) -> Any:
    """Hybridize a HybridBlock class, or a function of the operator namespace and tensors.

    Instances of a decorated class are hybridized when they are made; a decorated function becomes a callable that takes
    NDArrays without the namespace: `f(x)`. `options` are those of `hybridize()`; with `strict=True` findings are raised
    as HybridizeError at decoration, else they are reported as HybridizeWarning at the first call. Raises TypeError for
    an unknown option, or a target that is neither.

    >>> @autohybrid
    ... def scale(F, x):
    ...     return F.relu(x) * 2
    >>> scale(mx.nd.ones((2,)))
    """
    checked = HybridizeOptions().updated(options)
    if target is None:
        return lambda wrapped: autohybrid(wrapped, **options)
    if isinstance(target, type) and issubclass(target, HybridBlock):
        if checked.strict:
            _raise_findings(target)
        return _hybridized_class(target, options)
    if callable(target) and not isinstance(target, type):
        return _hybridized_function(target, options)
    raise TypeError(f"@autohybrid takes a HybridBlock class or a function f(F, x, ...), not {target!r}")


def _hybridized_class(cls: Any, options: dict[str, Any]) -> Any:
    original = cls.__init__

    @functools.wraps(original)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        if type(self) is cls:  # a subclass's __init__ is still running otherwise
            self.hybridize(**options)

    cls.__init__ = __init__
    return cls


def _hybridized_function(function: Callable[..., Any], options: dict[str, Any]) -> Callable[..., Any]:
    block = FunctionBlock(function)
    block.hybridize(**options)

    @functools.wraps(function)
    def call(*args: Any) -> Any:
        return block(*args)

    call.block = block  # type: ignore[attr-defined]
    return call


class FunctionBlock(HybridBlock):
    """A block around a function `f(F, x, ...)`."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(prefix=f"{function.__name__}_")
        self._function = function

    def hybrid_forward(self, F: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        """Call the function; while a graph is built, its lowered form."""
        from autohybrid.tensor.tape import state

        if state.builder is None:
            return self._function(F, x, *args, **kwargs)
        from autohybrid.transform.lowered import lowered_callable

        return lowered_callable(self._function)(F, x, *args, **kwargs)


def _raise_findings(cls: type) -> None:
    from autohybrid.errors import HybridizeError
    from autohybrid.transform.findings import findings_of_class

    findings = findings_of_class(cls)
    if findings.found:
        raise HybridizeError(findings.text(cls.__name__), findings.found)
