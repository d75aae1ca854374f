"""Initializers whose values do not depend on chance: Zero, One, Constant, Bilinear, LSTMBias."""

from __future__ import annotations

from typing import Any

from autohybrid.ndarray import NDArray
from autohybrid.optim.initializer.base import Initializer, alias, bilinear_kernel, register


@register
@alias("zeros")
class Zero(Initializer):
    """Zeros."""

    def __init__(self) -> None:
        super().__init__()

    def _init_weight(self, name: str, arr: NDArray) -> None:
        arr[:] = 0


@register
@alias("ones")
class One(Initializer):
    """Ones."""

    def __init__(self) -> None:
        super().__init__()

    def _init_weight(self, name: str, arr: NDArray) -> None:
        arr[:] = 1


@register
class Constant(Initializer):
    """One number, or an array (NDArray, NumPy array, nested lists) of the parameter's shape."""

    def __init__(self, value: Any) -> None:
        plain = value.asnumpy() if isinstance(value, NDArray) else value
        super().__init__(value=plain.tolist() if hasattr(plain, "tolist") else plain)
        self.value = value

    def _init_weight(self, name: str, arr: NDArray) -> None:
        arr[:] = self.value


@register
class Bilinear(Initializer):
    """The kernel of bilinear up-sampling, for the weights of a transposed convolution (4 dimensions)."""

    def __init__(self) -> None:
        super().__init__()

    def _init_weight(self, name: str, arr: NDArray) -> None:
        arr[:] = bilinear_kernel(arr.shape)


@register
class LSTMBias(Initializer):
    """Zeros, with `forget_bias` for the forget gate: the second of the four parts of an LSTM's bias."""

    def __init__(self, forget_bias: float = 1.0) -> None:
        super().__init__(forget_bias=forget_bias)
        self.forget_bias = forget_bias

    def _init_weight(self, name: str, arr: NDArray) -> None:
        hidden = arr.shape[0] // 4
        arr[:] = 0
        arr[hidden : 2 * hidden] = self.forget_bias
