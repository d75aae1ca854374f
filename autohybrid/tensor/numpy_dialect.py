"""What the functions of numpy mode are written with: one interface to operator calls on arrays and on symbols."""

from __future__ import annotations

from typing import Any, Protocol

from autohybrid.tensor.array import NDArray
from autohybrid.tensor.imperative import invoke
from autohybrid.tensor.ops import get_operator


class Dialect(Protocol):
    """Calls operators by their registered names. `symbolic` says whether tensors are symbols."""

    symbolic: bool

    def call(self, name: str, *inputs: Any, out: Any = None, **attrs: Any) -> Any:
        """The operator's result: a tensor, or a list of several."""
        ...

    def is_tensor(self, value: Any) -> bool:
        """Whether a value is a tensor of this dialect."""
        ...

    def constant(self, value: Any) -> Any:
        """A tensor with the values of a number or nested sequence. Raises TypeError where there can be none."""
        ...


class ArrayDialect:
    """Numpy mode on arrays, and on their stand-ins while a graph is built."""

    symbolic = False

    def call(self, name: str, *inputs: Any, out: Any = None, **attrs: Any) -> Any:
        """Run an operator. Raises MXNetError for what it refuses, TypeError for an input that is no array."""
        op = get_operator(name)
        for value in inputs:
            if not isinstance(value, NDArray):
                raise TypeError(f"{name}: an input must be an mx.np array, got {type(value).__name__}")
        if op.variadic is not None and op.active_inputs is None:
            attrs = {op.variadic: len(inputs), **attrs}
        result = invoke(op, op.parse(attrs), inputs, out)
        if out is not None:
            return out
        if isinstance(result, NDArray):
            return result.as_class(numpy=True)
        return [r.as_class(numpy=True) for r in result]

    def is_tensor(self, value: Any) -> bool:
        """Whether a value is an array."""
        return isinstance(value, NDArray)

    def constant(self, value: Any) -> Any:
        """The values as an array on the current device."""
        from autohybrid.tensor.numpy_array import array

        return array(value)


ARRAYS = ArrayDialect()
