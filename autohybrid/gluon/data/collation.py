"""From a list of samples to a batch."""

from __future__ import annotations

from typing import Any

import numpy as np

from autohybrid import ndarray as nd
from autohybrid import numpy as mx_np
from autohybrid.context import Context
from autohybrid.numpy_semantics import is_np_array


def default_batchify_fn(data: Any) -> Any:
    """Stack samples along a new first axis; tuples give a list with one batch for each of their parts."""
    first = data[0]
    if hasattr(first, "as_nd_ndarray"):
        if is_np_array():
            return mx_np.array(np.stack([np.asarray(sample) for sample in data]), dtype=first.dtype)
        return nd.stack(*data)
    if isinstance(first, tuple):
        return [default_batchify_fn(part) for part in zip(*data)]
    values = np.asarray(data)
    if is_np_array():
        return mx_np.array(values, dtype=values.dtype)
    return nd.array(values, dtype=values.dtype)


#: In MXNet this one puts the batch into shared memory; here batches of worker processes travel as bytes.
default_mp_batchify_fn = default_batchify_fn


def move(data: Any, ctx: Context) -> Any:
    """The arrays of a batch on `ctx`; tuples become lists, other things stay as they are."""
    if hasattr(data, "as_in_context"):
        return data.as_in_context(ctx)
    if isinstance(data, (list, tuple)):
        return [move(part, ctx) for part in data]
    return data
