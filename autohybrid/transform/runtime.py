"""`g`: what lowered code calls for the constructs that cannot stay Python when a tensor decides them.

Every function here first looks at what it was given: Python values keep Python's meaning and run at once, while the
graph is built; a tensor makes a branch or loop node. So lowering never has to guess.

`g.<operator>` is the operator of the imperative namespace, which stages while a graph is built.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autohybrid import ndarray
from autohybrid.tensor.tape import state
from autohybrid.transform.branches import build_branch, build_check, require_one_element
from autohybrid.transform.builtin_calls import find_tensor_form, is_tensor, truth
from autohybrid.transform.loops import build_for, build_while
from autohybrid.transform.undefined import NOTHING, Undefined
from autohybrid.transform.while_loop import Signal


class Runtime:
    """See the module."""

    #: How the body of a loop ended.
    NEXT, BREAK, RETURN = Signal.NEXT, Signal.BREAK, Signal.RETURN
    #: What it gives unless it returns.
    NOTHING = NOTHING

    @property
    def F(self) -> Any:
        """The namespace that the user's `F` stands for."""
        return ndarray

    def __getattr__(self, name: str) -> Any:
        return getattr(ndarray, name)

    def undefined(self, name: str) -> Undefined:
        """The value of a local variable that is not assigned yet."""
        return Undefined(name)

    def branch(
        self, test: Any, then: Callable[..., Any], otherwise: Callable[..., Any], values: tuple[Any, ...] = ()
    ) -> Any:
        """`if test: ... else: ...`; the two functions take and return the variables that either side assigns."""
        if not is_tensor(test):
            return then(*values) if test else otherwise(*values)
        return build_branch(test, then, otherwise, values)

    def while_loop(
        self, test: Callable[..., Any], body: Callable[..., Any], values: tuple[Any, ...], has_else: bool = False
    ) -> Any:
        """`while test: body`; the body takes the variables it assigns, and returns (signal, variables, result)."""
        return build_while(test, body, values, has_else)

    def for_loop(self, items: Any, body: Callable[..., Any], values: tuple[Any, ...]) -> Any:
        """`for item in items: body`, unrolled; `body(item, *variables)` as in `while_loop`."""
        return build_for(items, body, values)

    def returned(self, signal: Any) -> Any:
        """Whether a loop ended with `return`."""
        return signal is Signal.RETURN if not is_tensor(signal) else signal == float(Signal.RETURN.value)

    def exhausted(self, signal: Any) -> Any:
        """Whether a loop came to its end: its `else` runs."""
        return signal is Signal.NEXT if not is_tensor(signal) else signal == float(Signal.NEXT.value)

    def and_(self, first: Any, *rest: Callable[[], Any]) -> Any:
        """`first and ...`, the later operands evaluated only when needed."""
        for operand in rest:
            first = self.branch(first, operand, lambda kept=first: kept)
        return first

    def or_(self, first: Any, *rest: Callable[[], Any]) -> Any:
        """`first or ...`, the later operands evaluated only when needed."""
        for operand in rest:
            first = self.branch(first, lambda kept=first: kept, operand)
        return first

    def all_true(self, first: Any, second: Callable[[], Any]) -> Any:
        """The truth of `first and second()`: a Python bool, or a one-element tensor of 1 or 0."""
        return self.branch(first, lambda: truth(second()), lambda: False)

    def any_true(self, first: Any, second: Callable[[], Any]) -> Any:
        """The truth of `first or second()`: a Python bool, or a one-element tensor of 1 or 0."""
        return self.branch(first, lambda: True, lambda: truth(second()))

    def not_(self, value: Any) -> Any:
        """`not value`; a tensor gives 1 or 0."""
        if not is_tensor(value):
            return not value
        require_one_element(state.builder.lift(value))
        return value == 0

    def check(self, test: Any, message: Callable[[], Any]) -> None:
        """`assert test, message`."""
        if not is_tensor(test):
            assert test, message()
            return
        build_check(test, message)

    def call(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        """A call of the user's own function or method, lowered too where that is possible and needed, or of a builtin
        function that may be given tensors."""
        from autohybrid.transform.lowered import lowered_callable

        form = find_tensor_form(function)
        if form is not None:
            return form(*args, **kwargs)
        return lowered_callable(function)(*args, **kwargs)


runtime = Runtime()
