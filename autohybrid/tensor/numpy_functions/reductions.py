"""Functions that reduce axes, and those of neighbours: sum, mean, max, std, argmax, cumsum, diff, percentile..."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autohybrid.tensor.arithmetic import NUMBERS
from autohybrid.tensor.numpy_dialect import Dialect

NAMESPACE = ""


def given(**attrs: Any) -> dict[str, Any]:
    """The attributes that say something: those that are neither None nor False."""
    return {name: value for name, value in attrs.items() if value is not None and value is not False}


def sum(
    F: Dialect,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    out: Any = None,
) -> Any:
    """The sum over `axis`, an int or a tuple; over all axes by default."""
    return F.call("_np_sum", a, out=out, **given(axis=axis, dtype=dtype, keepdims=keepdims, initial=initial))


def prod(
    F: Dialect,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
) -> Any:
    """The product over `axis`, an int or a tuple; over all axes by default."""
    return F.call("_np_prod", a, out=out, **given(axis=axis, dtype=dtype, keepdims=keepdims, initial=initial))


def _extreme(operator: str, what: str) -> Callable[..., Any]:
    def function(
        F: Dialect, a: Any, axis: Any = None, keepdims: bool = False, initial: Any = None, out: Any = None
    ) -> Any:
        return F.call(operator, a, out=out, **given(axis=axis, keepdims=keepdims, initial=initial))

    function.__doc__ = f"The {what} element along `axis`, an int or a tuple; of all elements by default."
    return function


def _logic(operator: str, what: str) -> Callable[..., Any]:
    def function(F: Dialect, a: Any, axis: Any = None, keepdims: bool = False, out: Any = None) -> Any:
        return F.call(operator, a, out=out, **given(axis=axis, keepdims=keepdims))

    function.__doc__ = f"Whether {what} element along `axis` is not 0."
    return function


def mean(F: Dialect, a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """The mean over `axis`; of integers in float32."""
    return F.call("_npi_mean", a, out=out, axis=axis, keepdims=keepdims, **given(dtype=dtype))


def _moment(operator: str, what: str) -> Callable[..., Any]:
    def function(
        F: Dialect, a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: int = 0, keepdims: bool = False
    ) -> Any:
        return F.call(operator, a, out=out, axis=axis, ddof=ddof, keepdims=keepdims, **given(dtype=dtype))

    function.__doc__ = f"The {what} over `axis`; the sum of squares is divided by the number of elements minus `ddof`."
    return function


def _place(operator: str, what: str) -> Callable[..., Any]:
    def function(F: Dialect, a: Any, axis: Any = None, out: Any = None) -> Any:
        return F.call(operator, a, out=out, axis=axis, keepdims=False)

    function.__doc__ = f"The place (int64) of the {what} element along `axis`, of the flattened array by default."
    return function


def cumsum(F: Dialect, a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """The sums up to each element along `axis`, of the flattened array by default."""
    return F.call("_np_cumsum", a, out=out, **given(axis=axis, dtype=dtype))


def average(F: Dialect, a: Any, axis: Any = None, weights: Any = None, returned: bool = False, out: Any = None) -> Any:
    """The mean over `axis` by `weights`; with `returned` also the sum of the weights."""
    if weights is None:
        return F.call("_npi_average", a, out=out, axis=axis, returned=returned, weighted=False)
    return F.call("_npi_average", a, weights, out=out, axis=axis, returned=returned)


def percentile(
    F: Dialect, a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: Any = None,
    interpolation: str = "linear", keepdims: bool = False,
) -> Any:  # fmt: skip
    """The value below which `q` percent of the elements lie."""
    if overwrite_input:
        raise NotImplementedError("percentile(): `overwrite_input` is not supported")
    attrs = {"axis": axis, "interpolation": interpolation, "keepdims": keepdims}
    if isinstance(q, NUMBERS):
        return F.call("_npi_percentile", a, out=out, q_scalar=q, **attrs)
    return F.call("_npi_percentile", a, q if F.is_tensor(q) else F.constant(q), out=out, **attrs)


def quantile(
    F: Dialect, a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: Any = None,
    interpolation: str = "linear", keepdims: bool = False,
) -> Any:  # fmt: skip
    """The value below which the share `q` of the elements lies."""
    share = q if F.is_tensor(q) or isinstance(q, NUMBERS) else F.constant(q)
    return percentile(F, a, share * 100, axis, out, overwrite_input, interpolation, keepdims)


def median(F: Dialect, a: Any, axis: Any = None, out: Any = None, overwrite_input: Any = None,
           keepdims: bool = False) -> Any:  # fmt: skip
    """The element in the middle, or the mean of the two in the middle."""
    return quantile(F, a, 0.5, axis, out, overwrite_input, "midpoint", keepdims)


def bincount(F: Dialect, x: Any, weights: Any = None, minlength: int = 0) -> Any:
    """How often each number from 0 on occurs in a vector of integers, or the sum of their weights."""
    if weights is None:
        return F.call("_npi_bincount", x, minlength=minlength, has_weights=False)
    return F.call("_npi_bincount", x, weights, minlength=minlength, has_weights=True)


def trace(F: Dialect, a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, out: Any = None) -> Any:
    """The sum of a diagonal."""
    attrs = {"offset": offset, "axis1": axis1, "axis2": axis2}
    plain = {"offset": 0, "axis1": 0, "axis2": 1}
    return F.call("_np_trace", a, out=out, **(attrs if attrs != plain else {}))


def diff(F: Dialect, a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """The differences of neighbours along `axis`, taken `n` times."""
    if prepend is not None or append is not None:
        raise NotImplementedError("diff(): `prepend` and `append` are not supported")
    return F.call("_npi_diff", a, n=n, axis=axis)


def ediff1d(F: Dialect, ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """The differences of neighbours of the flattened array, with values behind and in front."""
    arrays = [ary]
    attrs: dict[str, Any] = {}
    for name, value in (("to_end", to_end), ("to_begin", to_begin)):
        is_array = F.is_tensor(value)
        if is_array:
            arrays.append(value)
        attrs[f"{name}_arr_given"] = is_array
        attrs[f"{name}_scalar"] = None if is_array else value
    return F.call("_npi_ediff1d", *arrays, **attrs)


def histogram(F: Dialect, a: Any, bins: Any = 10, range: Any = None, normed: Any = None, weights: Any = None,
              density: Any = None) -> Any:  # fmt: skip
    """How many elements lie in each bin, and the edges of the bins."""
    if weights is not None or normed or density:
        raise NotImplementedError("histogram(): `weights`, `normed` and `density` are not supported")
    if F.is_tensor(bins):
        return F.call("_npi_histogram", a, bins)
    if not isinstance(bins, int):
        return F.call("_npi_histogram", a, F.constant(bins))
    if range is None:
        raise NotImplementedError("histogram(): `range` is needed with a number of bins")
    return F.call("_npi_histogram", a, bin_cnt=bins, range=range)


_max, _min = _extreme("_np_max", "largest"), _extreme("_np_min", "smallest")
_amax, _amin = _extreme("_np_amax", "largest"), _extreme("_np_amin", "smallest")

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sum": sum,
    "prod": prod,
    "product": prod,
    "max": _max,
    "min": _min,
    "amax": _amax,
    "amin": _amin,
    "all": _logic("_np_all", "every"),
    "any": _logic("_np_any", "some"),
    "alltrue": _logic("_np_all", "every"),
    "sometrue": _logic("_np_any", "some"),
    "mean": mean,
    "std": _moment("_npi_std", "standard deviation"),
    "var": _moment("_npi_var", "variance"),
    "argmax": _place("_npi_argmax", "largest"),
    "argmin": _place("_npi_argmin", "smallest"),
    "cumsum": cumsum,
    "average": average,
    "percentile": percentile,
    "quantile": quantile,
    "median": median,
    "bincount": bincount,
    "trace": trace,
    "diff": diff,
    "ediff1d": ediff1d,
    "histogram": histogram,
}
