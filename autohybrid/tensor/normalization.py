"""The one computation behind BatchNorm, LayerNorm, GroupNorm and InstanceNorm, on arrays of any array library.

Data is viewed as (outer, channel, inner). Each norm says over which of the three axes its statistics run; the scale
`gamma` and the shift `beta` always run along the channel axis.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class View:
    """A view of data as (outer, channel, inner), and the axes of it that the statistics are taken over."""

    shape: tuple[int, int, int]
    over: tuple[int, ...]

    @property
    def count(self) -> int:
        """How many elements share one mean and variance."""
        return math.prod(self.shape[a] for a in self.over)

    @property
    def statistics(self) -> tuple[int, ...]:
        """The shape of the statistics, reduced axes kept as 1."""
        return tuple(1 if a in self.over else n for a, n in enumerate(self.shape))


def view_along(shape: tuple[int, ...], axis: int, over: tuple[int, ...]) -> View:
    """The view of data whose channels are `axis` (not negative)."""
    return View((math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])), over)


#: Rows that are added one after the other. Libraries add the rows of an outer axis in sequence, so that the rounding
#: error grows with their number; sums of the sums of blocks keep it small.
_BLOCK = 64


def _blocks(array: Any) -> tuple[Any, Any]:
    """The rows in blocks (blocks, _BLOCK, channel, inner), and those that are left over."""
    whole = len(array) - len(array) % _BLOCK
    return array[:whole].reshape(-1, _BLOCK, *array.shape[1:]), array[whole:]


def sum_over(array: Any, over: tuple[int, ...]) -> Any:
    """The sum over axes of a view, innermost first, keeping them as 1."""
    for axis in reversed(over):
        if axis == 0 and len(array) > 2 * _BLOCK:
            blocks, rest = _blocks(array)
            array = blocks.sum(axis=1).sum(axis=0, keepdims=True) + rest.sum(axis=0, keepdims=True)
        elif array.shape[axis] != 1:
            array = array.sum(axis=axis, keepdims=True)
    return array


def dot_over(xp: Any, a: Any, b: Any, over: tuple[int, ...]) -> Any:
    """The sum of `a * b` over axes of a view, keeping them as 1, without a temporary of their size."""
    letters = "oci"
    kept = "".join(letter for axis, letter in enumerate(letters) if axis not in over)
    shape = [1 if axis in over else n for axis, n in enumerate(a.shape)]
    if over and over[-1] == 2 and a.shape[2] > 1:  # one reduction over contiguous rows, then the rest
        rows = xp.einsum("oci,oci->oc", a, b)[:, :, None]
        return sum_over(rows, over).reshape(shape)
    if 0 in over and len(a) > 2 * _BLOCK:
        (blocks_a, rest_a), (blocks_b, rest_b) = _blocks(a), _blocks(b)
        sums = xp.einsum(f"noci,noci->n{kept}", blocks_a, blocks_b).sum(axis=0)
        return (sums + xp.einsum(f"oci,oci->{kept}", rest_a, rest_b)).reshape(shape)
    return xp.einsum(f"oci,oci->{kept}", a, b).reshape(shape)


def statistics(xp: Any, x: Any, view: View) -> tuple[Any, Any, Any]:
    """Mean, population variance, and the data with its mean taken off (all in the view's shape)."""
    mean = sum_over(x, view.over) / x.dtype.type(max(view.count, 1))
    centred = x - mean
    variance = dot_over(xp, centred, centred, view.over) / x.dtype.type(max(view.count, 1))
    return mean, variance, centred


def scale_and_shift(x: Any, scale: Any, beta: Any) -> Any:
    """`x * scale + beta` written into `x`."""
    x *= scale
    x += beta
    return x


def backward(
    xp: Any,
    head: Any,
    data: Any,
    gamma: Any,
    mean: Any,
    inverse_std: Any,
    view: View,
    own_statistics: bool,
    out: Any = None,
    work: Any = None,
) -> tuple[Any, Any, Any]:
    """Gradients of data, gamma and beta. `own_statistics`: mean and deviation were those of the data itself.

    `out` is memory for the first, `work` an array of its size; both are made where not given.
    """
    h, x = head.reshape(view.shape), data.reshape(view.shape)
    s, m = inverse_std.reshape(view.statistics), mean.reshape(view.statistics)
    gamma = gamma.reshape(1, -1, 1)
    normal = xp.subtract(x, m, out=None if work is None else work.reshape(view.shape))
    normal *= s
    to_gamma = dot_over(xp, h, normal, (0, 2)).reshape(-1)
    to_beta = sum_over(h, (0, 2)).reshape(-1)
    scaled = xp.multiply(h, gamma, out=None if out is None else out.reshape(view.shape))
    if not own_statistics:
        scaled *= s
        return scaled.reshape(data.shape), to_gamma, to_beta
    n = x.dtype.type(max(view.count, 1))
    if view.over == (0, 2):
        share, shift = (to_gamma / n).reshape(1, -1, 1) * gamma, (to_beta / n).reshape(1, -1, 1) * gamma
    else:
        share, shift = dot_over(xp, scaled, normal, view.over) / n, sum_over(scaled, view.over) / n
    normal *= share
    scaled -= normal
    scaled -= shift
    scaled *= s
    return scaled.reshape(data.shape), to_gamma, to_beta
