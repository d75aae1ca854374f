"""The functions of an array library on Duals: a kernel that is given a DualNamespace as its `xp` is differentiated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autohybrid.tensor.dual import Dual, clip, concatenate, stack, value_of


class DualNamespace:
    """`xp` for kernels some of whose arrays are Duals. New floating-point arrays are Duals, so that Duals can be
    written into them; a function that is not here works on plain arrays only.
    """

    def __init__(self, xp: Any) -> None:
        self.plain = xp

    def __getattr__(self, name: str) -> Any:
        return getattr(self.plain, name)

    # -- new arrays
    def _made(self, array: Any) -> Any:
        return Dual(array, self.plain.zeros_like(array)) if array.dtype.kind == "f" else array

    def zeros(self, shape: Any, dtype: Any = float) -> Any:
        return self._made(self.plain.zeros(shape, dtype=dtype))

    def zeros_like(self, like: Any) -> Any:
        return self._made(self.plain.zeros_like(value_of(like)))

    def full(self, shape: Any, value: Any, dtype: Any = None) -> Any:
        return self._made(self.plain.full(shape, value, dtype=dtype))

    # -- element by element
    def exp(self, x: Any) -> Any:
        value = self.plain.exp(value_of(x))
        return Dual(value, value * x.tangent) if isinstance(x, Dual) else value

    def log(self, x: Any) -> Any:
        value = self.plain.log(value_of(x))
        return Dual(value, x.tangent / x.value) if isinstance(x, Dual) else value

    def floor(self, x: Any) -> Any:
        return self.plain.floor(value_of(x))

    def isfinite(self, x: Any) -> Any:
        return self.plain.isfinite(value_of(x))

    def logaddexp(self, a: Any, b: Any) -> Any:
        xp, value = self.plain, self.plain.logaddexp(value_of(a), value_of(b))
        if not isinstance(a, Dual) and not isinstance(b, Dual):
            return value
        base = xp.where(xp.isfinite(value), value, 0)  # both -inf: no share for either
        return Dual(value, sum(xp.exp(x.value - base) * x.tangent for x in (a, b) if isinstance(x, Dual)))

    def where(self, condition: Any, a: Any, b: Any) -> Any:
        condition, value = value_of(condition), self.plain.where(condition, value_of(a), value_of(b))
        if not isinstance(a, Dual) and not isinstance(b, Dual):
            return value
        parts = [x.tangent if isinstance(x, Dual) else value.dtype.type(0) for x in (a, b)]
        return Dual(value, self.plain.where(condition, *parts))

    def minimum(self, a: Any, b: Any) -> Any:
        return self.where(value_of(a) <= value_of(b), a, b)

    def maximum(self, a: Any, b: Any) -> Any:
        return self.where(value_of(a) >= value_of(b), a, b)

    def clip(self, x: Any, low: float, high: float) -> Any:
        return clip(self.plain, x, low, high)

    # -- moving elements, and products
    def linear(self, function: Callable[..., Any], x: Any) -> Any:
        """`function` of plain arrays, linear in its only argument, of a Dual."""
        return Dual(function(x.value), function(x.tangent)) if isinstance(x, Dual) else function(x)

    def bilinear(self, function: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
        """`function` of plain arrays, linear in each of its two arguments, of Duals."""
        value = function(value_of(a), value_of(b))
        tangents = [function(a.tangent, value_of(b))] if isinstance(a, Dual) else []
        if isinstance(b, Dual):
            tangents.append(function(value_of(a), b.tangent))
        return Dual(value, sum(tangents[1:], tangents[0])) if tangents else value

    def take_along_axis(self, x: Any, index: Any, axis: int) -> Any:
        return self.linear(lambda array: self.plain.take_along_axis(array, index, axis=axis), x)

    def ascontiguousarray(self, x: Any) -> Any:
        return self.linear(self.plain.ascontiguousarray, x)

    def broadcast_arrays(self, *arrays: Any) -> list[Any]:
        shape = self.plain.broadcast_shapes(*[x.shape for x in arrays])
        return [self.linear(lambda array: self.plain.broadcast_to(array, shape), x) for x in arrays]

    def bincount(self, index: Any, weights: Any, minlength: int) -> Any:
        return self.linear(lambda array: self.plain.bincount(index, weights=array, minlength=minlength), weights)

    def matmul(self, a: Any, b: Any) -> Any:
        return self.bilinear(self.plain.matmul, a, b)

    def stack(self, parts: Sequence[Any], axis: int = 0) -> Any:
        if axis == 0:
            return stack(self.plain, list(parts))
        widened = [self.linear(lambda array: self.plain.expand_dims(array, axis), part) for part in parts]
        return concatenate(self.plain, widened, axis)

    def concatenate(self, parts: Sequence[Any], axis: int) -> Any:
        return concatenate(self.plain, list(parts), axis)
