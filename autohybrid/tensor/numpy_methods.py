"""Operators, subscripts and methods of `mx.np.ndarray`, attached when this module is imported."""

from __future__ import annotations

from typing import Any

import numpy as np

from autohybrid.context import Context
from autohybrid.tensor import copying, numpy_indexing
from autohybrid.tensor.array import refuse_inplace
from autohybrid.tensor.numpy_arithmetic import FUNCTIONS, apply, operators
from autohybrid.tensor.numpy_array import ndarray
from autohybrid.tensor.numpy_dialect import ARRAYS
from autohybrid.tensor.numpy_functions import functions


def _call(name: str, *args: Any, **kwargs: Any) -> Any:
    """The function `mx.np.<name>` on arrays."""
    return functions()[""][name](ARRAYS, *args, **kwargs)


def _method(name: str) -> Any:
    function = functions()[""][name]

    def method(self: ndarray, *args: Any, **kwargs: Any) -> Any:
        return function(ARRAYS, self, *args, **kwargs)

    method.__name__ = name
    method.__qualname__ = f"ndarray.{name}"
    method.__doc__ = function.__doc__
    return method


# -- methods whose arguments differ from the function's ----------------------------------------------------------------
def reshape(self: ndarray, *args: Any, **kwargs: Any) -> Any:
    """The elements in another shape, given as extents or as a tuple; one may be -1."""
    order = kwargs.pop("order", "C")
    if kwargs:
        raise TypeError(f"reshape() does not take the keyword {next(iter(kwargs))!r}")
    if len(args) == 1 and (args[0] is None or isinstance(args[0], (tuple, list))):
        args = tuple(args[0] or ())
    elif not args:
        raise TypeError("reshape() needs the extents")
    return _call("reshape", self, tuple(args), order)


def transpose(self: ndarray, *axes: Any) -> Any:
    """The array with its axes in another order, given one by one or as a tuple; reversed by default."""
    if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list))):
        axes = tuple(axes[0] or ())
    return _call("transpose", self, axes or None)


def clip(self: ndarray, min: Any = None, max: Any = None, out: Any = None) -> Any:
    """The elements, at least `min` and at most `max`."""
    return _call("clip", self, min, max, out)


def flatten(self: ndarray, order: str = "C") -> Any:
    """A copy of all elements as a vector."""
    return _call("copy", _call("ravel", self, order))


def copy(self: ndarray, order: str = "C") -> Any:
    """A copy on the same device."""
    if order != "C":
        raise NotImplementedError("copy(): order='C' only")
    return copying.copied(self, self._ctx).as_class(numpy=True)


def astype(
    self: ndarray, dtype: Any, order: str = "K", casting: str = "unsafe", subok: bool = True, copy: bool = True
) -> Any:
    """The values in another dtype; the array itself when it has that dtype and `copy` is False."""
    if order not in ("K", "A", "C") or casting != "unsafe" or not subok:
        raise ValueError("astype() takes order='K', casting='unsafe' and subok=True only")
    wanted = np.dtype(dtype)
    if not copy and wanted == np.dtype(self.dtype):
        return self
    return copying.copied(self, self._ctx, wanted.name).as_class(numpy=True)


def as_in_ctx(self: ndarray, ctx: Context) -> Any:
    """The array on another device; itself when it is there already."""
    return self if ctx == self._ctx else copying.as_in_context(self, ctx).as_class(numpy=True)


def copyto(self: ndarray, other: Any) -> Any:
    """The values written into another array, or copied to a device."""
    copied = copying.copyto(self, other)
    return copied.as_class(numpy=True) if isinstance(other, Context) else copied


def _negative(self: ndarray) -> Any:
    return ARRAYS.call("_npi_negative", self)


def _absolute(self: ndarray) -> Any:
    return ARRAYS.call("_npi_abs", self)


def _invert(self: ndarray) -> Any:
    return ARRAYS.call("_npi_bitwise_not", self)


def _floor_divide(self: ndarray, other: Any) -> Any:
    """The floor of the quotient, which MXNet 1.9.1 does not have."""
    return ARRAYS.call("_npi_floor", apply(ARRAYS, _QUOTIENT, self, other))


def _floor_divide_reflected(self: ndarray, other: Any) -> Any:
    return ARRAYS.call("_npi_floor", apply(ARRAYS, _QUOTIENT, other, self))


def _matmul(self: ndarray, other: Any) -> Any:
    return _call("matmul", self, other)


def _matmul_reflected(self: ndarray, other: Any) -> Any:
    return _call("matmul", other, self)


def _transposed(self: ndarray) -> Any:
    return self.transpose()


def _array_ufunc(self: ndarray, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """What `numpy.add(x, y)` does where one operand is an `mx.np` array: the function of the same name here."""
    name = {"true_divide": "true_divide", "divide": "true_divide", "remainder": "mod", "conjugate": ""}.get(
        ufunc.__name__, ufunc.__name__
    )
    function = functions()[""].get(name)
    if method != "__call__" or function is None or any(isinstance(x, np.ndarray) and x.ndim for x in inputs):
        return NotImplemented
    out = kwargs.pop("out", None)
    if out is not None:
        kwargs["out"] = out[0]
    return function(ARRAYS, *inputs, **kwargs)


def _array_function(self: ndarray, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """What `numpy.mean(x)` does: the function of the same name here, else numpy's own on copies of the values."""
    module = function.__module__.rpartition(".")[2]
    known = functions().get("linalg" if module == "linalg" else "", {}).get(function.__name__)
    if known is not None and not any(isinstance(a, np.ndarray) for a in args):
        return known(ARRAYS, *args, **kwargs)
    from autohybrid.tensor.numpy_fallback import call_numpy

    return call_numpy(function, args, kwargs)


_QUOTIENT = next(row for row in FUNCTIONS if row.names[0] == "true_divide")
_SAME = (
    "all", "any", "argmax", "argmin", "argsort", "cumsum", "diag", "diagonal", "dot", "max", "mean", "min", "nonzero",
    "prod", "ravel", "repeat", "round", "sort", "squeeze", "std", "sum", "swapaxes", "take", "tile", "trace", "var",
    "expand_dims", "flip", "broadcast_to", "abs", "sign", "sqrt", "square", "exp", "expm1", "log", "log2", "log10",
    "log1p", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh",
    "ceil", "floor", "trunc", "fix", "rint", "cbrt", "reciprocal", "degrees", "radians", "zeros_like", "ones_like",
    "split",
)  # fmt: skip


def _order(name: str) -> Any:
    """`max(axis, out, keepdims)`: as methods these take their arguments in numpy's order."""
    function = functions()[""][name]

    def method(self: ndarray, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        return function(ARRAYS, self, axis=axis, out=out, keepdims=keepdims)

    method.__name__ = name
    method.__doc__ = function.__doc__
    return method


def _sum(self: ndarray, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """The sum over `axis`, an int or a tuple; over all axes by default."""
    return _call("sum", self, axis=axis, dtype=dtype, out=out, keepdims=keepdims)


def install(cls: type[ndarray]) -> None:
    """Attach everything to `cls`."""
    numpy_indexing.install(cls)
    for name, method in operators(ARRAYS, refuse_inplace).items():
        setattr(cls, name, method)
    for name in _SAME:
        setattr(cls, name, _method(name))
    for name in ("max", "min", "all", "any"):
        setattr(cls, name, _order(name))
    methods: dict[str, Any] = {
        "sum": _sum, "reshape": reshape, "transpose": transpose, "clip": clip, "flatten": flatten, "copy": copy,
        "astype": astype, "as_in_ctx": as_in_ctx, "as_in_context": as_in_ctx, "copyto": copyto,
        "T": property(_transposed, doc="The array with its axes reversed."), "__neg__": _negative,
        "__abs__": _absolute, "__invert__": _invert, "__floordiv__": _floor_divide,
        "__rfloordiv__": _floor_divide_reflected, "__matmul__": _matmul, "__rmatmul__": _matmul_reflected,
        "__array_ufunc__": _array_ufunc, "__array_function__": _array_function,
    }  # fmt: skip
    for name, value in methods.items():
        setattr(cls, name, value)


install(ndarray)
