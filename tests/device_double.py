"""A second array library over NumPy that is as strict as CuPy, so that kernels can be tested without a GPU.

`DeviceArray` refuses to meet a `numpy.ndarray`, refuses every implicit way to the host (`float(x)`, `bool(x)`,
`numpy.asarray(x)`...) and counts the explicit ones (`x.get()`). `namespace` is its `xp`: it knows only what CuPy 14
has, and gives 0-d arrays where NumPy gives scalars.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

#: Names of NumPy that CuPy has not (from CuPy's own table of functions).
_NOT_IN_CUPY = frozenset(
    """asmatrix block bmat char ctypeslib datetime64 einsum_path emath errstate frompyfunc fromregex geomspace
    histogram_bin_edges insert longdouble ma matrix matvec memmap nanpercentile nanquantile ndarray ndenumerate nditer
    nested_iters polyder polydiv polyint rec recarray record spacing strings timedelta64 unstack vecdot vecmat
    multi_dot svdvals""".split()
)
_GENERATOR_METHODS = frozenset(
    """beta binomial chisquare dirichlet exponential f gamma geometric hypergeometric integers logseries poisson power
    random standard_exponential standard_gamma standard_normal uniform""".split()
)
_METHODS = frozenset(
    """all any argmax argmin argpartition argsort astype choose clip compress conj conjugate copy cumprod cumsum
    diagonal dot fill flatten max mean min nonzero partition prod ptp put ravel repeat reshape round searchsorted sort
    squeeze std sum swapaxes take trace transpose var view""".split()
)
_UFUNC_METHODS = {
    "reduce": ("add", "multiply"),
    "accumulate": ("add", "multiply"),
    "reduceat": ("add",),
    "at": ("add", "subtract", "maximum", "minimum", "bitwise_and", "bitwise_or", "bitwise_xor"),
    "outer": ("add", "subtract", "multiply", "divide", "power", "maximum", "minimum"),
}
_FIELDS = frozenset("T dtype flags imag itemsize nbytes ndim real shape size strides".split())
_BINARY = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift eq ne lt le gt ge".split()
_REFLECTED = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()


class Transfers:
    """How many arrays went to the host, in `count`."""

    count = 0


class DeviceArray:
    """An array that lives on the pretended device. Only `namespace` functions and its own methods read it."""

    __slots__ = ("_values",)
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]
    __autohybrid_namespace__: Any = None

    def __init__(self, values: np.ndarray[Any, Any]) -> None:
        self._values = values

    def get(self) -> np.ndarray[Any, Any]:
        """A copy on the host; counted."""
        Transfers.count += 1
        return self._values.copy()

    def item(self) -> Any:
        """The one element as a number of the host; counted."""
        Transfers.count += 1
        return self._values.item()

    @property
    def base(self) -> DeviceArray | None:
        return None if self._values.base is None else DeviceArray(np.asarray(self._values.base))

    def __getattr__(self, name: str) -> Any:
        if name in _FIELDS:
            return _up(getattr(self._values, name))
        if name in _METHODS:
            return _calling(getattr(self._values, name))
        raise AttributeError(f"arrays of a device have no attribute {name!r}")

    def __getitem__(self, key: Any) -> DeviceArray:
        return DeviceArray(np.asarray(self._values[_down(key)]))

    def __setitem__(self, key: Any, value: Any) -> None:
        self._values[_down(key)] = _down(value)

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[DeviceArray]:
        return (DeviceArray(np.asarray(v)) for v in self._values)

    def __repr__(self) -> str:
        return f"DeviceArray({self._values!r})"

    def __neg__(self) -> DeviceArray:
        return DeviceArray(np.asarray(-self._values))

    def __invert__(self) -> DeviceArray:
        return DeviceArray(np.asarray(~self._values))

    def __abs__(self) -> DeviceArray:
        return DeviceArray(np.asarray(abs(self._values)))

    def _refuse(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("an array of a device was implicitly converted to a value of the host")

    __array__ = __array_function__ = __bool__ = __float__ = __int__ = __index__ = __complex__ = _refuse


def _install_operators() -> None:
    def make(name: str) -> Callable[[DeviceArray, Any], Any]:
        def operator(self: DeviceArray, other: Any) -> Any:
            result = getattr(self._values, name)(_down(other))
            return result if result is NotImplemented else DeviceArray(np.asarray(result))

        return operator

    def make_in_place(name: str) -> Callable[[DeviceArray, Any], DeviceArray]:
        def operator(self: DeviceArray, other: Any) -> DeviceArray:
            getattr(self._values, name)(_down(other))
            return self

        return operator

    for name in _BINARY:
        setattr(DeviceArray, f"__{name}__", make(f"__{name}__"))
    for name in _REFLECTED:
        setattr(DeviceArray, f"__r{name}__", make(f"__r{name}__"))
        if name != "matmul":
            setattr(DeviceArray, f"__i{name}__", make_in_place(f"__i{name}__"))


def _down(value: Any) -> Any:
    """Arguments for NumPy: the values of device arrays, also inside containers. Raises TypeError for host arrays."""
    if isinstance(value, DeviceArray):
        return value._values
    if isinstance(value, np.ndarray):
        raise TypeError("an array of the host met an array of a device; convert it with `xp.asarray`")
    if isinstance(value, (list, tuple)):
        return type(value)([_down(v) for v in value])
    if isinstance(value, dict):
        return {k: _down(v) for k, v in value.items()}
    return value


def _up(value: Any) -> Any:
    """NumPy's results as device arrays; scalars of NumPy become 0-d arrays, as in CuPy."""
    if isinstance(value, np.ndarray):
        return DeviceArray(value)
    if isinstance(value, np.generic):
        return DeviceArray(np.asarray(value))
    if isinstance(value, (list, tuple)) and any(isinstance(v, (np.ndarray, np.generic)) for v in value):
        if hasattr(value, "_fields"):
            return type(value)(*[_up(v) for v in value])
        return type(value)([_up(v) for v in value])
    return value


def _calling(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        return _up(function(*_down(args), **_down(kwargs)))

    return call


class _Ufunc:
    """A ufunc of the namespace with the methods that CuPy's have."""

    def __init__(self, ufunc: np.ufunc) -> None:
        self._ufunc = ufunc

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        out = kwargs.get("out")
        result = _up(self._ufunc(*_down(args), **_down(kwargs)))
        return out if isinstance(out, DeviceArray) else result

    def __getattr__(self, name: str) -> Any:
        if self._ufunc.__name__ not in _UFUNC_METHODS.get(name, ()):
            raise AttributeError(f"CuPy has no {self._ufunc.__name__}.{name}")
        return _calling(getattr(self._ufunc, name))


class Namespace:
    """`xp` for device arrays: NumPy's functions as far as CuPy has them, over DeviceArray."""

    def __init__(self, module: types.ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        if name in _NOT_IN_CUPY:
            raise AttributeError(f"CuPy has no {self._module.__name__}.{name}")
        found = getattr(self._module, name)
        if isinstance(found, types.ModuleType):
            wrapped: Any = Namespace(found)
        elif isinstance(found, np.ufunc):
            wrapped = _Ufunc(found)
        elif isinstance(found, type) or not callable(found):
            wrapped = found
        else:
            wrapped = _creating(found) if name in ("asarray", "array", "ascontiguousarray") else _calling(found)
        setattr(self, name, wrapped)
        return wrapped


def _creating(function: Callable[..., Any]) -> Callable[..., Any]:
    """`asarray` and `array` are the explicit way from the host, so they take its arrays."""

    def call(value: Any, *args: Any, **kwargs: Any) -> DeviceArray:
        values = value if isinstance(value, np.ndarray) else _down(value)
        return DeviceArray(function(values, *args, **kwargs))

    return call


class DeviceGenerator:
    """Random numbers on the device: NumPy's generator with the methods of CuPy's."""

    def __init__(self, seed: int) -> None:
        self._generator = np.random.default_rng(seed)

    def __getattr__(self, name: str) -> Any:
        if name not in _GENERATOR_METHODS:
            raise AttributeError(f"the generator of CuPy has no {name!r}")
        return _calling(getattr(self._generator, name))


_install_operators()
namespace = Namespace(np)
DeviceArray.__autohybrid_namespace__ = namespace
