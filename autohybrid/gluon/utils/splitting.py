"""Cutting a batch into one part for each device."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from autohybrid import ndarray as nd
from autohybrid import numpy as mx_np
from autohybrid.context import Context
from autohybrid.ndarray import NDArray
from autohybrid.numpy_semantics import is_np_array


def split_data(data: NDArray, num_slice: int, batch_axis: int = 0, even_split: bool = True) -> list[NDArray]:
    """`data` in `num_slice` parts along `batch_axis`; the first parts are longer by one where it does not divide.

    Raises ValueError when it does not divide, unless `even_split=False`.
    """
    size = data.shape[batch_axis]
    each, extra = divmod(size, num_slice)
    if even_split and extra:
        raise ValueError(
            f"an array of shape {data.shape} cannot be split evenly into {num_slice} along axis {batch_axis}: use a "
            f"batch size that is a multiple of {num_slice}, or even_split=False"
        )
    ends = list(accumulate([each + 1] * extra + [each] * (num_slice - extra)))
    bounds = list(zip([0, *ends], ends))
    if batch_axis == 0:
        return [data[begin:end] for begin, end in bounds]
    if is_np_array():
        leading = (slice(None),) * batch_axis
        return [data[(*leading, slice(begin, end))] for begin, end in bounds]
    return [nd.slice_axis(data, axis=batch_axis, begin=begin, end=end) for begin, end in bounds]


def split_and_load(
    data: Any, ctx_list: Sequence[Context], batch_axis: int = 0, even_split: bool = True
) -> list[NDArray]:
    """`split_data` into one part for each device of `ctx_list`, moved there. `data` may be a NumPy array or a list."""
    if not hasattr(data, "as_in_context"):
        data = _array(data, ctx_list[0])
    if len(ctx_list) == 1:
        return [data.as_in_context(ctx_list[0])]
    parts = split_data(data, len(ctx_list), batch_axis, even_split)
    return [part.as_in_context(ctx) for part, ctx in zip(parts, ctx_list)]


def _array(data: Any, ctx: Context) -> Any:
    if is_np_array():
        return mx_np.array(data, ctx=ctx)
    return nd.array(data, ctx=ctx)
