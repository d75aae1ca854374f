"""Dense, Dropout, Embedding, Flatten and functions as layers."""

from __future__ import annotations

from typing import Any

from autohybrid.gluon.block import Block
from autohybrid.gluon.hybrid_block import HybridBlock
from autohybrid.gluon.nn.activations import Activation

__all__ = ["Dense", "Dropout", "Embedding", "Flatten", "HybridLambda", "Lambda"]


class Dense(HybridBlock):
    """`activation(x . weight^T + bias)`.

    Input `(batch, ...)`, flattened to `(batch, in_units)` unless `flatten=False`, when only the last axis is
    contracted. Output `(batch, units)` or `(..., units)`. `in_units` is inferred when 0.
    """

    _shape_argument = "in_units"

    def __init__(
        self,
        units: int,
        activation: str | None = None,
        use_bias: bool = True,
        flatten: bool = True,
        dtype: Any = "float32",
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        in_units: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._flatten = flatten
        self._units = units
        self._in_units = in_units
        with self.name_scope():
            self.weight = self.params.get(
                "weight", shape=(units, in_units), init=weight_initializer, dtype=dtype, allow_deferred_init=True
            )
            self.bias = None
            if use_bias:
                self.bias = self.params.get(
                    "bias", shape=(units,), init=bias_initializer, dtype=dtype, allow_deferred_init=True
                )
            self.act = None if activation is None else Activation(activation, prefix=activation + "_")

    def hybrid_forward(self, F: Any, x: Any, weight: Any, bias: Any = None) -> Any:
        out = F.FullyConnected(
            x, weight, bias, no_bias=bias is None, num_hidden=self._units, flatten=self._flatten, name="fwd"
        )
        if self.act is not None:
            out = self.act(out)
        return out

    def __repr__(self) -> str:
        units, in_units = self.weight.shape or (self._units, 0)
        return f"{type(self).__name__}({in_units or None} -> {units}, {self.act or 'linear'})"


class Dropout(HybridBlock):
    """In train mode sets a share `rate` of the inputs to zero and scales up the rest; otherwise the identity.

    One choice is shared along each of `axes`.
    """

    def __init__(self, rate: float, axes: Any = (), **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._rate = rate
        self._axes = axes

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        if self._rate > 0:
            return F.Dropout(x, p=self._rate, axes=self._axes, name="fwd", cudnn_off=False)
        return F.identity(x)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(p = {self._rate}, axes={self._axes})"


class Embedding(HybridBlock):
    """Rows of a learnt `(input_dim, output_dim)` table: indices of any shape `s` give `s + (output_dim,)`.

    With `sparse_grad` the gradient is row_sparse.
    """

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        dtype: Any = "float32",
        weight_initializer: Any = None,
        sparse_grad: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._kwargs = {
            "input_dim": input_dim, "output_dim": output_dim, "dtype": dtype, "sparse_grad": sparse_grad,
        }  # fmt: skip
        self.weight = self.params.get(
            "weight",
            shape=(input_dim, output_dim),
            init=weight_initializer,
            dtype=dtype,
            allow_deferred_init=True,
            grad_stype="row_sparse" if sparse_grad else "default",
        )

    def hybrid_forward(self, F: Any, x: Any, weight: Any) -> Any:
        return F.Embedding(x, weight, name="fwd", **self._kwargs)

    def __repr__(self) -> str:
        kwargs = self._kwargs
        return f"{type(self).__name__}({kwargs['input_dim']} -> {kwargs['output_dim']}, {kwargs['dtype']})"


class Flatten(HybridBlock):
    """`(batch, ...)` to `(batch, everything else)`."""

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return F.flatten(x)

    def __repr__(self) -> str:
        return type(self).__name__


class Lambda(Block):
    """A function, or the name of an operator of `mx.nd`, as a layer."""

    def __init__(self, function: Any, prefix: str | None = None) -> None:
        super().__init__(prefix=prefix)
        if isinstance(function, str):
            from autohybrid import ndarray

            if not hasattr(ndarray, function):
                raise AssertionError(f"mx.nd has no operator named `{function}`")
            self._func_impl = getattr(ndarray, function)
        elif callable(function):
            self._func_impl = function
        else:
            raise ValueError(f"a function or the name of an operator is needed, not {function!r}")

    def forward(self, *args: Any) -> Any:
        return self._func_impl(*args)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._func_impl.__name__})"


class HybridLambda(HybridBlock):
    """A function `f(F, x, ...)`, or the name of an operator that `mx.nd` and `mx.sym` have, as a layer."""

    def __init__(self, function: Any, prefix: str | None = None) -> None:
        super().__init__(prefix=prefix)
        if isinstance(function, str):
            from autohybrid import ndarray, symbol

            if not (hasattr(ndarray, function) and hasattr(symbol, function)):
                raise AssertionError(f"mx.nd and mx.sym do not both have an operator named `{function}`")
            self._func_name = function
            self._func = _named(function)
        elif callable(function):
            self._func_name = getattr(function, "__name__", type(function).__name__)
            self._func = function
        else:
            raise ValueError(f"a function or the name of an operator is needed, not {function!r}")

    def hybrid_forward(self, F: Any, x: Any, *args: Any) -> Any:
        return self._func(F, x, *args)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._func_name})"


def _named(function: str) -> Any:
    def call(F: Any, *args: Any) -> Any:
        return getattr(F, function)(*args)

    return call
