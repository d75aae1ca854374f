"""Names of NumPy 1.23 that NumPy has dropped since and that code of MXNet's time uses: `np.float`, `np.asscalar`.

Each means what it meant. `compat.install()` and `autohybrid run` put them back, and so does the environment variable
AUTOHYBRID_LEGACY_NUMPY=1 when autohybrid is imported; they stand for the whole process then. So does the binary mode of
`np.fromstring`, with which old code reads files. A name that NumPy still has keeps its meaning.
"""

from __future__ import annotations

import ast
import builtins
import math
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

#: The kinds of dtypes in the order in which `find_common_type` lets scalars win over arrays.
_KINDS = "buifcSUVOMm"


def _found(path: str) -> Any:
    """What NumPy has under a dotted path today; None in a NumPy that still has the old name instead."""
    value: Any = np
    for part in path.split("."):
        value = getattr(value, part, None)
    return value


def _asfarray(a: Any, dtype: Any = np.float64) -> Any:
    """An array of a dtype with a fraction: float64 in place of any other."""
    return np.asarray(a, dtype=dtype if np.issubdtype(dtype, np.inexact) else np.float64)


def _in1d(ar1: Any, ar2: Any, assume_unique: bool = False, invert: bool = False, **more: Any) -> Any:
    """`isin` of the flattened first array."""
    return np.isin(np.ravel(ar1), ar2, assume_unique=assume_unique, invert=invert, **more)


def _find_common_type(array_types: Sequence[Any], scalar_types: Sequence[Any]) -> Any:
    """The dtype of the arrays; scalars count only when they are of a higher kind."""
    arrays = np.result_type(*array_types) if len(array_types) else None
    scalars = np.result_type(*scalar_types) if len(scalar_types) else None
    if arrays is None or scalars is None:
        return scalars if arrays is None else arrays
    return np.promote_types(arrays, scalars) if _KINDS.index(scalars.kind) > _KINDS.index(arrays.kind) else arrays


def _issubclass(arg1: Any, arg2: Any) -> bool:
    """`issubclass`, False for what is no class."""
    try:
        return issubclass(arg1, arg2)
    except TypeError:
        return False


def _obj2sctype(rep: Any, default: Any = None) -> Any:
    """The scalar type of a dtype, its name, a type or an array; `default` for anything else."""
    if isinstance(rep, type) and issubclass(rep, np.generic):
        return rep  # also the abstract ones
    if isinstance(rep, np.ndarray):
        return rep.dtype.type
    try:
        return np.dtype(rep).type
    except TypeError:
        return default


def _sctype2char(sctype: Any) -> str:
    """The character of a scalar type. Raises ValueError for what is none."""
    found = _obj2sctype(sctype)
    if found is None:
        raise ValueError(f"{sctype!r} is no scalar type")
    return str(np.dtype(found).char)


class _Casts(dict[Any, Callable[[Any], Any]]):
    """`np.cast[kind](x)`: x as an array of that kind."""

    def __missing__(self, kind: Any) -> Callable[[Any], Any]:
        return lambda x: np.asarray(x).astype(kind)


_SIZED = {
    "int": [np.int8, np.int16, np.int32, np.int64],
    "uint": [np.uint8, np.uint16, np.uint32, np.uint64],
    "float": [np.float16, np.float32, np.float64, np.longdouble],
    "complex": [np.complex64, np.complex128, np.clongdouble],
    "others": [bool, object, bytes, str, np.void],
}

_TYPES: dict[str, object] = {
    **{name: getattr(builtins, name) for name in ("bool", "int", "float", "complex", "object", "str")},
    "long": int,
    "unicode": str,
    "bool8": np.bool_,
    "int0": np.intp,
    "uint0": np.uintp,
    "bytes0": np.bytes_,
    "str0": np.str_,
    "object0": np.object_,
    "void0": np.void,
    "float_": np.float64,
    "complex_": np.complex128,
    "cfloat": np.complex128,
    "singlecomplex": np.complex64,
    "longfloat": np.longdouble,
    "clongfloat": np.clongdouble,
    "longcomplex": np.clongdouble,
    "string_": np.bytes_,
    "unicode_": np.str_,
    "typeDict": np.sctypeDict,
    "sctypes": _SIZED,
    "cast": _Casts(),
    "obj2sctype": _obj2sctype,
    "sctype2char": _sctype2char,
    "issubsctype": lambda arg1, arg2: issubclass(_obj2sctype(arg1), _obj2sctype(arg2)),
    "issctype": lambda rep: isinstance(rep, (type, np.dtype)) and _obj2sctype(rep) not in (None, np.object_),
    "issubclass_": _issubclass,
    "find_common_type": _find_common_type,
}

_NUMBERS: dict[str, object] = {
    **dict.fromkeys(("Inf", "Infinity", "PINF", "infty"), np.inf),
    **dict.fromkeys(("NaN", "NAN"), np.nan),
    "NINF": -np.inf,
    "PZERO": 0.0,
    "NZERO": -0.0,
    "MAXDIMS": 32,
    **{name: code for code, name in enumerate(("CLIP", "WRAP", "RAISE"))},
}

_FUNCTIONS: dict[str, object] = {
    "alltrue": np.all,
    "sometrue": np.any,
    "product": np.prod,
    "cumproduct": np.cumprod,
    "round_": np.round,
    "row_stack": np.vstack,
    "mat": np.asmatrix,
    "trapz": _found("trapezoid"),
    "msort": lambda a: np.sort(a, axis=0),
    "asscalar": lambda a: a.item(),
    "asfarray": _asfarray,
    "in1d": _in1d,
    "safe_eval": ast.literal_eval,
    "byte_bounds": _found("lib.array_utils.byte_bounds"),
    "compare_chararrays": _found("char.compare_chararrays"),
}

#: Classes that moved, and modules that NumPy had among its names because it used them itself.
_MOVED: dict[str, object] = {
    **{
        name: _found(f"exceptions.{name}")
        for name in (
            "AxisError",
            "ComplexWarning",
            "ModuleDeprecationWarning",
            "RankWarning",
            "TooHardError",
            "VisibleDeprecationWarning",
        )
    },
    "DataSource": _found("lib.npyio.DataSource"),
    "format_parser": _found("rec.format_parser"),
    **{module.__name__: module for module in (math, sys, warnings)},
    "os": os,
}

#: Name -> what it meant, in terms of today's NumPy or of Python's builtins.
NAMES: dict[str, object] = {
    name: value
    for names in (_TYPES, _NUMBERS, _FUNCTIONS, _MOVED)
    for name, value in names.items()
    if value is not None
}

_text_fromstring = np.fromstring


def restore_names() -> set[str]:
    """Put the names back on `numpy`, where they are missing; gives those that were not there, for `remove_names`."""
    added = {name for name in NAMES if name not in vars(np)}
    for name in added:
        setattr(np, name, NAMES[name])
    if np.fromstring is not _fromstring:
        setattr(np, "fromstring", _fromstring)  # noqa: B010 - NumPy declares it with overloads
        added.add("fromstring")
    return added


def remove_names(names: set[str]) -> None:
    """Take away what a call of `restore_names` added."""
    for name in names - {"fromstring"}:
        delattr(np, name)
    if "fromstring" in names:
        setattr(np, "fromstring", _text_fromstring)  # noqa: B010 - as above


def _fromstring(string: Any, dtype: Any = float, count: int = -1, *, sep: str = "", **more: Any) -> Any:
    """`numpy.fromstring`, whose empty `sep` means bytes, as it did."""
    if sep:
        return _text_fromstring(string, dtype, count, sep=sep, **more)
    data = string.encode("latin1") if isinstance(string, str) else string
    return np.frombuffer(data, dtype, count).copy()
