"""Weights of convolutions with the filters last, from where every strategy goes on."""

from __future__ import annotations

from typing import Any

import numpy as np

#: So many filters are moved together: what is read stays in the cache until all of it was read.
_TOGETHER = 32


def filters_last(weight: Any, scale: Any, groups: int = 1) -> Any:
    """A weight (filters, channels / groups, *kernel) as (groups, *kernel, channels / groups, filters / groups).

    `scale` (filters,) multiplies each filter; None leaves them as they are.
    """
    filters = weight.shape[0] // groups
    cut = weight.reshape(groups, filters, *weight.shape[1:])
    result = np.empty((groups, *weight.shape[2:], weight.shape[1], filters), weight.dtype)
    for start in range(0, filters, _TOGETHER):
        part = slice(start, start + _TOGETHER)
        result[..., part] = cut[:, part].transpose(0, 3, 4, 2, 1)
    if scale is not None:
        result *= scale.reshape(groups, 1, 1, 1, filters)
    return result
