"""Functions of `mx.np` that are numpy's own: computed on copies of the values, outside the recorded graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from autohybrid.errors import MXNetError
from autohybrid.tensor.array import NDArray
from autohybrid.tensor.numpy_array import array
from autohybrid.tensor.tape import state

#: The functions that MXNet 1.9.1 hands to numpy, as far as numpy still has them.
NAMES = (
    "apply_along_axis", "apply_over_axes", "argpartition", "array_equiv", "choose", "compress", "corrcoef", "correlate",
    "count_nonzero", "cov", "digitize", "divmod", "extract", "float_power", "frexp", "heaviside", "histogram2d",
    "histogram_bin_edges", "histogramdd", "i0", "in1d", "interp", "intersect1d", "isin", "ix_", "lexsort",
    "min_scalar_type", "modf", "msort", "nanargmax", "nanargmin", "nancumprod", "nancumsum", "nanmax", "nanmedian",
    "nanmin", "nanpercentile", "nanprod", "nanquantile", "packbits", "partition", "piecewise", "poly", "polyadd",
    "polydiv", "polyfit", "polyint", "polymul", "polysub", "positive", "promote_types", "ptp", "real", "resize",
    "result_type", "roots", "searchsorted", "select", "setdiff1d", "setxor1d", "signbit", "spacing", "take_along_axis",
    "trapz", "tril_indices_from", "trim_zeros", "triu", "triu_indices_from", "union1d", "unpackbits", "unwrap",
    "vander",
)  # fmt: skip
LINALG_NAMES = ("cond", "lstsq", "matrix_power", "matrix_rank", "multi_dot", "qr")


def find(name: str, linalg: bool = False) -> Any:
    """The function `name` over `mx.np` arrays; None when it is not among those handed to numpy."""
    if name not in (LINALG_NAMES if linalg else NAMES):
        return None
    source = getattr(np.linalg if linalg else np, name, None)
    if source is None:
        return None

    def function(*args: Any, **kwargs: Any) -> Any:
        return call_numpy(source, args, kwargs)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"`numpy.{'linalg.' if linalg else ''}{name}`, outside the recorded graph."
    return function


def call_numpy(function: Any, args: Any, kwargs: Any) -> Any:
    """numpy's function on copies of the values, with its arrays as `mx.np` arrays.

    Raises MXNetError while recording, when an argument is part of the recorded graph: no gradient could flow.
    """
    given: list[NDArray] = []
    plain_args = _host(args, given)
    plain_kwargs = {name: _host(value, given) for name, value in kwargs.items()}
    if state.recording and any(x._entry is not None for x in given):
        raise MXNetError(
            f"numpy.{function.__name__} computes outside the recorded graph, so no gradient flows through it; call it "
            "outside `autograd.record()`, or on `x.detach()`"
        )
    return _back(function(*plain_args, **plain_kwargs))


def _host(value: Any, given: list[NDArray]) -> Any:
    if isinstance(value, NDArray):
        given.append(value)
        return value.asnumpy()
    if isinstance(value, (list, tuple)):
        return type(value)([_host(v, given) for v in value]) if type(value) in (list, tuple) else value
    return value


def _back(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return array(value, dtype=value.dtype)
    if isinstance(value, (tuple, list)) and not hasattr(value, "_fields"):
        return type(value)([_back(v) for v in value])
    return value
