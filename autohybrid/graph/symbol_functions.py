"""Functions of `mx.sym` with a Python signature: arrays by rule (`zeros`, `arange`, `eye`...), `histogram`, `split_v2`.

They write the attributes that MXNet's functions of these names write, defaults included.
"""

from __future__ import annotations

from typing import Any

from autohybrid.graph.compose import call_operator, make_call
from autohybrid.graph.symbol import Symbol
from autohybrid.tensor.attrs import dtype_name
from autohybrid.tensor.frontend import bind
from autohybrid.tensor.ops import get_operator

__all__ = ["arange", "eye", "full", "histogram", "linspace", "ones", "split_v2", "zeros"]


def _by_rule(operator: str, attrs: dict[str, Any], dtype: Any) -> Symbol:
    given = {**attrs, "dtype": dtype_name("float32" if dtype is None else dtype)}
    return make_call(bind(get_operator(operator), operator, (), given), operator)


def zeros(shape: Any, dtype: Any = None, **kwargs: Any) -> Symbol:
    """Zeros of this shape."""
    return _by_rule("_zeros", {"shape": shape, **kwargs}, dtype)


def ones(shape: Any, dtype: Any = None, **kwargs: Any) -> Symbol:
    """Ones of this shape."""
    return _by_rule("_ones", {"shape": shape, **kwargs}, dtype)


def full(shape: Any, val: float, dtype: Any = None, **kwargs: Any) -> Symbol:
    """An array of this shape filled with `val`."""
    return _by_rule("_full", {"shape": shape, "value": float(val), **kwargs}, dtype)


def eye(N: int, M: int = 0, k: int = 0, dtype: Any = None, **kwargs: Any) -> Symbol:
    """A matrix (N, M) with ones on the diagonal `k` places above the main one; M=0 means N."""
    return _by_rule("_eye", {"N": N, "M": M, "k": k, **kwargs}, dtype)


def arange(
    start: float,
    stop: float | None = None,
    step: float = 1.0,
    repeat: int = 1,
    infer_range: bool = False,
    name: str | None = None,
    dtype: Any = None,
) -> Symbol:
    """Numbers from `start` (0 if it is the only bound) below `stop` in steps of `step`, each `repeat` times."""
    attrs = {"start": start, "stop": stop, "step": step, "repeat": repeat, "infer_range": infer_range, "name": name}
    return _by_rule("_arange", attrs, dtype)


def linspace(
    start: float, stop: float, num: int, endpoint: bool = True, name: str | None = None, dtype: Any = None
) -> Symbol:
    """`num` numbers evenly spaced from `start` to `stop`, which is the last one unless `endpoint=False`."""
    attrs = {"start": start, "stop": stop, "num": num, "endpoint": endpoint, "name": name}
    return _by_rule("_linspace", attrs, dtype)


def histogram(a: Symbol, bins: Any = 10, range: tuple[float, float] | None = None, **kwargs: Any) -> Symbol:
    """Counts of the values in each bin, and the edges of the bins.

    `bins` is a symbol of edges, or their number beside a `range`. Raises ValueError without one.
    """
    if isinstance(bins, Symbol):
        return call_operator(bind(get_operator("_histogram"), "_histogram", (a, bins), kwargs))
    if not isinstance(bins, int) or range is None:
        raise ValueError("histogram: `bins` is a symbol of edges, or a number of bins together with `range`")
    return call_operator(
        bind(get_operator("_histogram"), "_histogram", (a,), {"bin_cnt": bins, "range": range, **kwargs})
    )


def split_v2(ary: Symbol, indices_or_sections: Any, axis: int = 0, squeeze_axis: bool = False) -> Symbol:
    """The array cut along `axis`: in a number of equal sections, or before each of the given positions.

    Raises ValueError for anything else.
    """
    if isinstance(indices_or_sections, int):
        indices, sections = [], indices_or_sections
    elif isinstance(indices_or_sections, tuple):
        indices, sections = [0, *indices_or_sections], 0
    else:
        raise ValueError("split_v2: `indices_or_sections` is an int or a tuple of ints")
    options = {"indices": indices, "axis": axis, "squeeze_axis": squeeze_axis, "sections": sections}
    return call_operator(bind(get_operator("_split_v2"), "_split_v2", (ary,), options))
