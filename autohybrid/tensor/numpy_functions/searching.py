"""Functions that choose, find, order and count elements, and those that insert and delete."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.arithmetic import NUMBERS
from autohybrid.tensor.numpy_dialect import Dialect

NAMESPACE = ""


def take(F: Dialect, a: Any, indices: Any, axis: Any = None, mode: str = "raise", out: Any = None) -> Any:
    """The elements at positions along `axis`, of the flattened array by default."""
    if mode not in ("wrap", "clip", "raise"):
        raise NotImplementedError(f"take(): mode must be 'raise', 'clip' or 'wrap', got {mode!r}")
    if not F.is_tensor(indices):
        indices = F.call("_npi_cast", F.constant(indices), dtype="int64")
    if axis is None:
        return F.call("_npi_take", F.call("_npi_reshape", a, newshape=-1), indices, out=out, axis=0, mode=mode)
    return F.call("_npi_take", a, indices, out=out, axis=axis, mode=mode)


def sort(F: Dialect, a: Any, axis: Any = -1, kind: Any = None, order: Any = None) -> Any:
    """The elements in growing order along `axis`; of the flattened array with None."""
    if order is not None:
        raise NotImplementedError("sort(): `order` is for arrays with fields, which there are not")
    return F.call("_npi_sort", a, axis=axis, is_ascend=True)


def argsort(F: Dialect, a: Any, axis: Any = -1, kind: Any = None, order: Any = None) -> Any:
    """The positions (int64) that put the elements in growing order."""
    if order is not None:
        raise NotImplementedError("argsort(): `order` is for arrays with fields, which there are not")
    return F.call("_npi_argsort", a, axis=axis, is_ascend=True, dtype="int64")


def unique(
    F: Dialect, ar: Any, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False,
    axis: Any = None,
) -> Any:  # fmt: skip
    """The distinct elements in order; on demand where each is first, which each element is, and how often."""
    found = F.call("_npi_unique", ar, return_index=return_index, return_inverse=return_inverse,
                   return_counts=return_counts, axis=axis)  # fmt: skip
    return tuple(found) if isinstance(found, list) else found


def nonzero(F: Dialect, a: Any) -> Any:
    """The positions of the elements that are not 0, one array (int64) an axis."""
    if F.symbolic:
        raise MXNetError("nonzero() of a symbol gives as many positions as the values decide; use npx.nonzero")
    rows = F.call("_npx_nonzero", a)
    columns = F.call("_np_transpose", rows)
    return tuple(columns[k] for k in range(columns.shape[0]))


def flatnonzero(F: Dialect, a: Any) -> Any:
    """The positions in the flattened array of the elements that are not 0."""
    return nonzero(F, F.call("_np_reshape", a, newshape=(-1,)))[0]


def argwhere(F: Dialect, a: Any) -> Any:
    """The positions of the elements that are not 0, one row each."""
    return F.call("_npx_nonzero", a)


def _position(F: Dialect, obj: Any) -> tuple[list[Any], dict[str, Any]]:
    """A position, slice or index array as further inputs and attributes."""
    if isinstance(obj, slice):
        bounds = {"start": obj.start, "stop": obj.stop, "step": obj.step}
        return [], bounds if any(b is not None for b in bounds.values()) else {"start": 0}
    if isinstance(obj, int):
        return [], {"int_ind": obj}
    if not F.is_tensor(obj):
        obj = F.call("_npi_cast", F.constant(obj), dtype="int64")
    return [obj], {}


def delete(F: Dialect, arr: Any, obj: Any, axis: Any = None) -> Any:
    """The array without the elements at positions along `axis`, of the flattened array by default."""
    further, attrs = _position(F, obj)
    return F.call("_npi_delete", arr, *further, axis=axis, **attrs)


def insert(F: Dialect, arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    """The array with `values` put in front of positions along `axis`, of the flattened array by default."""
    further, attrs = _position(F, obj)
    if isinstance(values, NUMBERS):
        attrs["val"], block = values, []
    else:
        block = [values if F.is_tensor(values) else F.constant(values)]
    operator = "_npi_insert_tensor" if further else "_npi_insert_scalar" if "int_ind" in attrs else "_npi_insert_slice"
    return F.call(operator, arr, *block, *further, axis=axis, **attrs)


def unravel_index(F: Dialect, indices: Any, shape: Any, order: str = "C") -> Any:
    """Positions in the flattened array as coordinates, one array an axis."""
    if order != "C":
        raise NotImplementedError("unravel_index(): order='C' only")
    if F.symbolic:
        return F.call("_unravel_index", indices, shape=shape)
    flat = F.call("_np_reshape", indices, newshape=(-1,))
    found = F.call("_unravel_index", flat, shape=shape)
    return tuple(F.call("_np_reshape", found[k], newshape=indices.shape) for k in range(len(shape)))


def diag_indices_from(F: Dialect, arr: Any) -> Any:
    """The positions of the main diagonal, one array an axis."""
    rows = F.call("_npi_diag_indices_from", arr)
    return tuple(rows[k] for k in range(arr.ndim))


def may_share_memory(F: Dialect, a: Any, b: Any, max_work: Any = None) -> bool:
    """Whether two arrays may share memory."""
    return bool(F.call("_npi_share_memory", a, b).item())


def isclose(F: Dialect, a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    """Whether elements are equal within tolerances."""
    near = abs(a - b) <= atol + rtol * abs(b)
    near = near | F.call("_npi_cast", a == b, dtype="bool")
    return near | ((a != a) & (b != b)) if equal_nan else near


def allclose(F: Dialect, a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Whether all elements are equal within tolerances."""
    return bool(isclose(F, a, b, rtol, atol, equal_nan).all().item())


def array_equal(F: Dialect, a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    """Whether two arrays have one shape and the same elements."""
    first, second = (a if F.is_tensor(a) else F.constant(a) for a in (a1, a2))
    if first.shape != second.shape:
        return False
    same = first == second
    return bool((same | ((first != first) & (second != second)) if equal_nan else same).all().item())


FUNCTIONS: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        take, sort, argsort, unique, nonzero, flatnonzero, argwhere, delete, insert, unravel_index, diag_indices_from,
        may_share_memory, isclose, allclose, array_equal,
    )
}  # fmt: skip
FUNCTIONS["shares_memory"] = may_share_memory
