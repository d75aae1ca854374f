"""What element-wise operator records share: dtype rules, scalars as an array's dtype takes them, integer results.

Classic MXNet arrays keep their dtype: arithmetic on integers gives integers, truncated towards zero, and boolean
arrays take part only with numbers (as int64). The functions here are kernels' building blocks and import no library.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import Dtypes
from autohybrid.tensor.shapes import same_dtype

#: The attributes of every `*_scalar` operator. `is_int=False` makes the result of an integer array float64.
SCALAR_ATTRS = (
    Attr("scalar", "float", 1.0, doc="the number"),
    Attr("is_int", "bool", True, doc="whether the number counts as an integer beside an integer array"),
)


def numeric_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    """One dtype for all, which may not be bool. Raises MXNetError."""
    ins, outs = same_dtype(attrs, ins, outs)
    if "bool" in ins:
        raise MXNetError("dtype bool is not supported here; convert the array with `astype`")
    return ins, outs


def scalar_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    """An array with a number: the array's dtype, except as MXNet 1.9.1 has it for bool and for `is_int=False`."""
    dtype = ins[0]
    if dtype is None:
        return [outs[0]] if attrs.is_int and outs[0] != "bool" else [None], [outs[0]]
    if dtype == "bool" or (not dtype.startswith(("float", "bfloat")) and not attrs.is_int):
        return [dtype], ["int64" if attrs.is_int else "float64"]
    return [dtype], [dtype]


def with_scalar(x: Any, attrs: Attrs) -> tuple[Any, float | int]:
    """The array and the number in the dtype `scalar_dtype` promises: truncated and wrapped beside integers."""
    kind = x.dtype.kind
    if kind == "f":
        return x, attrs.scalar
    if not attrs.is_int:
        return x.astype("float64"), attrs.scalar
    if kind == "b":
        x = x.astype("int64")
    return x, wrapped(int(attrs.scalar), x.dtype)


def wrapped(value: int, dtype: Any) -> int:
    """`value` as the integer `dtype` stores it: modulo two to the number of bits."""
    bits = 8 * int(dtype.itemsize)
    value &= (1 << bits) - 1
    return value - (1 << bits) if dtype.kind == "i" and value >> (bits - 1) else value


def is_floating(tensor: Any) -> bool:
    """Whether an NDArray holds floating-point numbers; for gradients that are zero for integers."""
    return bool(tensor.dtype.__name__.startswith("float"))


def divide(xp: Any, x: Any, y: Any) -> Any:
    """x / y, where one may be a number; of integers the quotient truncated towards zero."""
    array = x if hasattr(x, "dtype") else y
    if array.dtype.kind == "f":
        return xp.true_divide(x, y)
    floor = xp.floor_divide(x, y)
    return floor + ((floor < 0) & (floor * y != x)).astype(floor.dtype)


def in_floats(compute: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """A unary kernel from `compute(xp, x)` on floating point; integers go through float64 and are truncated."""

    def kernel(xp: Any, attrs: Attrs, x: Any) -> Any:
        if x.dtype.kind == "f":
            return compute(xp, x)
        return compute(xp, x.astype("float64")).astype(x.dtype)

    return kernel


def function(name: str) -> Callable[[Any, Any], Any]:
    """`compute(xp, x)` that calls the namespace's function `name`."""

    def compute(xp: Any, x: Any) -> Any:
        return getattr(xp, name)(x)

    return compute


def polynomial(x: Any, coefficients: Sequence[float]) -> Any:
    """Horner's rule, highest power first."""
    result: Any = coefficients[0]
    for coefficient in coefficients[1:]:
        result = result * x + coefficient
    return result
