"""Names that NumPy has dropped and that packages of MXNet's time still use: `np.float`, `np.int`, `np.Inf`.

Each stands for exactly what it meant. They are put back only when asked for - by `autohybrid run --legacy-numpy`, or by
the environment variable AUTOHYBRID_LEGACY_NUMPY=1 when autohybrid is imported - and then for the whole process; so is
the binary mode of `np.fromstring`, with which those packages read files.
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

#: Name -> what it meant, as an expression in terms of today's NumPy or of Python's builtins.
NAMES: dict[str, object] = {
    **{name: getattr(builtins, name) for name in ("int", "float", "complex", "object", "str")},
    "unicode": str,
    "float_": np.float64,
    "complex_": np.complex128,
    "cfloat": np.complex128,
    "singlecomplex": np.complex64,
    "longfloat": np.longdouble,
    "clongfloat": np.clongdouble,
    "longcomplex": np.clongdouble,
    "string_": np.bytes_,
    "unicode_": np.str_,
    "Inf": np.inf,
    "Infinity": np.inf,
    "PINF": np.inf,
    "infty": np.inf,
    "NINF": -np.inf,
    "NaN": np.nan,
    "PZERO": 0.0,
    "NZERO": -0.0,
    "alltrue": np.all,
    "sometrue": np.any,
    "product": np.prod,
    "cumproduct": np.cumprod,
    "round_": np.round,
    "row_stack": np.vstack,
    "mat": np.asmatrix,
    "long": int,
    "bool8": np.bool_,
    "asscalar": lambda a: a.item(),
    "asfarray": lambda a, dtype=np.float64: np.asarray(a, dtype=dtype),
    "in1d": lambda ar1, ar2, *args, **kwargs: np.isin(np.ravel(ar1), ar2, *args, **kwargs),
    "trapz": getattr(np, "trapezoid", None),  # a NumPy without it has `trapz`
    "msort": lambda a: np.sort(a, axis=0),
    "find_common_type": lambda array_types, scalar_types: np.result_type(*array_types, *scalar_types),
    "issubclass_": lambda arg1, arg2: isinstance(arg1, type) and issubclass(arg1, arg2),
}


def restore_names() -> None:
    """Put the names back on `numpy`, where they are missing; a name that NumPy has keeps its meaning."""
    for name, value in NAMES.items():
        if name not in vars(np):
            setattr(np, name, value)
    if np.fromstring is not _fromstring:
        setattr(np, "fromstring", _fromstring)  # noqa: B010 - NumPy declares it with overloads


_text_fromstring = np.fromstring


def _fromstring(string: Any, dtype: Any = float, count: int = -1, *, sep: str = "", **more: Any) -> Any:
    """`numpy.fromstring`, whose empty `sep` means bytes, as it did."""
    if sep:
        return _text_fromstring(string, dtype, count, sep=sep, **more)
    data = string.encode("latin1") if isinstance(string, str) else string
    return np.frombuffer(data, dtype, count).copy()
