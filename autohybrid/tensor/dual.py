"""Dual numbers over arrays: a value and its derivative in one direction, carried through array arithmetic.

Running a backward pass on Duals differentiates it (forward over reverse), which is how RNN, CTCLoss and others get
second derivatives without a second hand-written pass. Functions of an array library are in `tensor/dual_namespace.py`;
those below are what `tensor/recurrence.py` uses.
"""

from __future__ import annotations

from typing import Any


class Dual:
    """`value + epsilon * tangent`; arithmetic with arrays and numbers treats those as constants."""

    __slots__ = ("tangent", "value")
    __array_ufunc__ = None  # arrays leave `array * dual` to the reflected methods here

    def __init__(self, value: Any, tangent: Any) -> None:
        self.value = value
        self.tangent = tangent

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.shape  # type: ignore[no-any-return]

    @property
    def dtype(self) -> Any:
        return self.value.dtype

    @property
    def ndim(self) -> int:
        return self.value.ndim  # type: ignore[no-any-return]

    @property
    def size(self) -> int:
        return self.value.size  # type: ignore[no-any-return]

    @property
    def T(self) -> Dual:
        return Dual(self.value.T, self.tangent.T)

    def reshape(self, *shape: Any) -> Dual:
        return Dual(self.value.reshape(*shape), self.tangent.reshape(*shape))

    def transpose(self, *axes: int) -> Dual:
        return Dual(self.value.transpose(*axes), self.tangent.transpose(*axes))

    def sum(self, axis: int, keepdims: bool = False) -> Dual:
        return Dual(self.value.sum(axis=axis, keepdims=keepdims), self.tangent.sum(axis=axis, keepdims=keepdims))

    def astype(self, dtype: Any, copy: bool = True) -> Dual:
        return Dual(self.value.astype(dtype, copy=copy), self.tangent.astype(dtype, copy=copy))

    def copy(self) -> Dual:
        return Dual(self.value.copy(), self.tangent.copy())

    def __getitem__(self, key: Any) -> Dual:
        return Dual(self.value[key], self.tangent[key])

    def __setitem__(self, key: Any, new: Any) -> None:
        self.value[key] = value_of(new)
        self.tangent[key] = new.tangent if isinstance(new, Dual) else 0

    def __lt__(self, other: Any) -> Any:
        return self.value < value_of(other)

    def __le__(self, other: Any) -> Any:
        return self.value <= value_of(other)

    def __gt__(self, other: Any) -> Any:
        return self.value > value_of(other)

    def __ge__(self, other: Any) -> Any:
        return self.value >= value_of(other)

    def __add__(self, other: Any) -> Dual:
        if isinstance(other, Dual):
            return Dual(self.value + other.value, self.tangent + other.tangent)
        return Dual(self.value + other, self.tangent)

    __radd__ = __add__

    def __neg__(self) -> Dual:
        return Dual(-self.value, -self.tangent)

    def __sub__(self, other: Any) -> Dual:
        return self.__add__(-other)

    def __rsub__(self, other: Any) -> Dual:
        return (-self).__add__(other)

    def __mul__(self, other: Any) -> Dual:
        if isinstance(other, Dual):
            return Dual(self.value * other.value, self.tangent * other.value + self.value * other.tangent)
        return Dual(self.value * other, self.tangent * other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Dual:
        if not isinstance(other, Dual):
            return Dual(self.value / other, self.tangent / other)
        value = self.value / other.value
        return Dual(value, (self.tangent - value * other.tangent) / other.value)

    def __rtruediv__(self, other: Any) -> Dual:
        value = other / self.value
        return Dual(value, -value * self.tangent / self.value)

    def __matmul__(self, other: Any) -> Dual:
        if isinstance(other, Dual):
            return Dual(self.value @ other.value, self.tangent @ other.value + self.value @ other.tangent)
        return Dual(self.value @ other, self.tangent @ other)

    def __rmatmul__(self, other: Any) -> Dual:
        return Dual(other @ self.value, other @ self.tangent)


def value_of(array: Any) -> Any:
    """The plain array of an array or Dual."""
    return array.value if isinstance(array, Dual) else array


def sigmoid(xp: Any, x: Any) -> Any:
    """The logistic function, through tanh so that nothing overflows."""
    if isinstance(x, Dual):
        y = sigmoid(xp, x.value)
        return Dual(y, y * (1 - y) * x.tangent)
    y = xp.tanh(x * x.dtype.type(0.5))
    y *= y.dtype.type(0.5)
    y += y.dtype.type(0.5)
    return y


def tanh(xp: Any, x: Any) -> Any:
    """The hyperbolic tangent."""
    if isinstance(x, Dual):
        y = xp.tanh(x.value)
        return Dual(y, (1 - y * y) * x.tangent)
    return xp.tanh(x)


def relu(xp: Any, x: Any) -> Any:
    """max(x, 0)."""
    if isinstance(x, Dual):
        return x * (x.value > 0)
    return xp.maximum(x, x.dtype.type(0))


def clip(xp: Any, x: Any, low: float, high: float) -> Any:
    """`x` limited to [low, high]."""
    if isinstance(x, Dual):
        return Dual(xp.clip(x.value, low, high), x.tangent * ((x.value >= low) & (x.value <= high)))
    return xp.clip(x, low, high)


def transposed(xp: Any, x: Any) -> Any:
    """A matrix transposed and laid out anew: products with it are twice as fast for a few rows."""
    if isinstance(x, Dual):
        return Dual(transposed(xp, x.value), transposed(xp, x.tangent))
    return xp.ascontiguousarray(x.T)


def stack(xp: Any, parts: list[Any]) -> Any:
    """The parts along a new first axis; plain arrays among Duals are constants."""
    return _joined(xp, xp.stack, parts, 0)


def concatenate(xp: Any, parts: list[Any], axis: int) -> Any:
    """The parts joined along an axis; plain arrays among Duals are constants."""
    return _joined(xp, xp.concatenate, parts, axis)


def _joined(xp: Any, how: Any, parts: list[Any], axis: int) -> Any:
    if not any(isinstance(p, Dual) for p in parts):
        return how(parts, axis=axis)
    tangents = [p.tangent if isinstance(p, Dual) else xp.zeros_like(p) for p in parts]
    return Dual(how([value_of(p) for p in parts], axis=axis), how(tangents, axis=axis))
