"""Clipping gradients by their common norm."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

from autohybrid import ndarray as nd
from autohybrid.ndarray import NDArray


def clip_global_norm(arrays: Sequence[NDArray], max_norm: float, check_isfinite: bool = True) -> Any:
    """Scale `arrays` in place so that the norm of all of them together is at most `max_norm`; gives the norm before.

    The norm is a number; with `check_isfinite=False` an NDArray of shape (1,), and nothing waits for a device. Warns
    when the norm is nan or infinite.
    """
    if not arrays:
        raise AssertionError("clip_global_norm needs at least one array")
    ctx = arrays[0].context
    norm = nd.sqrt(nd.add_n(*[_square_sum(array).as_in_context(ctx) for array in arrays]))
    if check_isfinite and not math.isfinite(norm.asscalar()):
        warnings.warn(
            UserWarning("nan or inf is among the gradients; the result of clipping is undefined"), stacklevel=2
        )
    scale = nd.minimum(max_norm / (norm + 1e-8), 1.0)
    for array in arrays:
        array *= scale.as_in_context(array.context)
    return norm.asscalar() if check_isfinite else norm


def _square_sum(array: NDArray) -> NDArray:
    if array.stype != "default":
        return nd.square(array.norm())  # type: ignore[no-any-return]
    flat = array.reshape((-1,))
    return nd.dot(flat, flat)  # type: ignore[no-any-return]
