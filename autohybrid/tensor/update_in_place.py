"""Optimizer updates that write into weights and states: the rules of `tensor/update_rules.py` without fresh arrays.

Every number comes from the same operations in the same order, so the results are equal bit for bit. Large arrays are
worked on in blocks that stay in the cache of a core, with scratch memory of one block.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from autohybrid.tensor.array import NDArray
from autohybrid.tensor.numpy_array import DENSE
from autohybrid.tensor.quiet import hush, unhush
from autohybrid.tensor.versions import note_write

_BLOCK = 1 << 14
_NO_LIMIT = -1.0


def can_update(*arrays: Any) -> bool:
    """Whether these arrays (weight, gradient, states) of one update can be written and read in place: dense arrays of
    NumPy of one shape and dtype, float32 or float64, with their elements side by side."""
    first = arrays[0]._data
    if type(first) is not np.ndarray or first.dtype.char not in "fd":
        return False
    for array in arrays:
        if type(array) not in DENSE:
            return False
        data = array._data
        if data.dtype != first.dtype or data.shape != first.shape or not data.flags.c_contiguous:
            return False
    return True


def sgd(
    weight: NDArray,
    grad: NDArray,
    momentum_state: NDArray | None,
    *,
    lr: float,
    wd: float,
    rescale_grad: float,
    momentum: float = 0.0,
    clip_gradient: float = _NO_LIMIT,
) -> None:
    """`sgd_update`, or with a state `sgd_mom_update`, for arrays that `can_update`."""
    states = () if momentum_state is None else (momentum_state,)
    token = hush()
    try:
        for step, w, g, *mom in _blocks(weight, grad, *states):
            _gradient(step, g, w, wd, rescale_grad, clip_gradient)
            np.multiply(step, lr, step)
            if not mom:
                np.subtract(w, step, w)
                continue
            velocity = mom[0]
            np.multiply(velocity, momentum, velocity)
            np.subtract(velocity, step, velocity)
            np.add(w, velocity, w)
    finally:
        unhush(token)
    _note(weight, *states)


def adam(
    weight: NDArray,
    grad: NDArray,
    mean: NDArray,
    var: NDArray,
    *,
    lr: float,
    wd: float,
    beta1: float,
    beta2: float,
    epsilon: float,
    rescale_grad: float,
    clip_gradient: float = _NO_LIMIT,
) -> None:
    """`adam_update` for arrays that `can_update`."""
    # In single precision 1 - 0.999 is not 0.001, and MXNet's attributes are single.
    keep_mean, keep_var = np.float32(beta1), np.float32(beta2)
    take_mean, take_var = 1 - keep_mean, 1 - keep_var
    token = hush()
    try:
        for step, w, g, m, v in _blocks(weight, grad, mean, var):
            _gradient(step, g, w, wd, rescale_grad, clip_gradient, decay_first=True)
            squares = np.square(step)
            np.multiply(m, keep_mean, m)
            np.multiply(step, take_mean, step)
            np.add(m, step, m)
            np.multiply(v, keep_var, v)
            np.multiply(squares, take_var, squares)
            np.add(v, squares, v)
            np.sqrt(v, squares)
            np.add(squares, epsilon, squares)
            np.multiply(m, lr, step)
            np.divide(step, squares, step)
            np.subtract(w, step, w)
    finally:
        unhush(token)
    _note(weight, mean, var)


def _gradient(
    step: Any, grad: Any, weight: Any, wd: float, rescale_grad: float, limit: float, decay_first: bool = False
) -> None:
    """`step` becomes the gradient rescaled, decayed and clipped; Adam decays before it clips, SGD after."""
    np.multiply(grad, rescale_grad, step)
    if limit >= 0 and not decay_first:
        np.clip(step, -limit, limit, out=step)
    if wd != 0.0:
        np.add(step, wd * weight, step)
    if limit >= 0 and decay_first:
        np.clip(step, -limit, limit, out=step)


def _blocks(*arrays: NDArray) -> Iterator[Sequence[Any]]:
    """Scratch memory and the arrays, block by block."""
    flat = [a._data.reshape(-1) for a in arrays]
    size = flat[0].size
    scratch = np.empty(min(size, _BLOCK), dtype=flat[0].dtype)
    if size <= _BLOCK:
        yield scratch, *flat
        return
    for start in range(0, size, _BLOCK):
        stop = min(start + _BLOCK, size)
        yield scratch[: stop - start], *[a[start:stop] for a in flat]


def _note(*arrays: NDArray) -> None:
    for array in arrays:
        note_write(array._data)
