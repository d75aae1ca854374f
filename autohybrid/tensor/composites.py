"""Functions of `mx.nd` with a Python signature that put operators together: `concatenate`, `moveaxis`, `split_v2`..."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autohybrid.tensor.array import NDArray
from autohybrid.tensor.creation import array
from autohybrid.tensor.gradient_namespace import gradient_namespace

__all__ = ["concatenate", "histogram", "moveaxis", "onehot_encode", "split_v2"]


def concatenate(arrays: Sequence[NDArray], axis: int = 0, always_copy: bool = True) -> NDArray:
    """The arrays joined along `axis`; a single one itself when `always_copy` is False.

    Raises AssertionError for none, or for other extents, ranks or dtypes than those of the first.
    """
    if not arrays:
        raise AssertionError("concatenate: no arrays were given")
    first = arrays[0]
    if len(arrays) == 1 and not always_copy:
        return first
    for position, other in enumerate(arrays):
        rest = [shape[:axis] + shape[axis:][1:] for shape in (first.shape, other.shape)]
        if first.ndim != other.ndim or rest[0] != rest[1] or first.dtype != other.dtype:
            raise AssertionError(
                f"concatenate: array {position} of shape {other.shape} and dtype {other.dtype.__name__} does not fit "
                f"the first, {first.shape} {first.dtype.__name__}, along axis {axis}"
            )
    return gradient_namespace().Concat(*arrays, dim=axis)  # type: ignore[no-any-return]


def moveaxis(tensor: NDArray, source: int | Sequence[int], destination: int | Sequence[int]) -> NDArray:
    """The array with the axes `source` moved to the positions `destination`, the others in order.

    Raises ValueError for axes out of range or lists of different lengths.
    """
    origins = _axes(source, tensor.ndim, "source")
    targets = _axes(destination, tensor.ndim, "destination")
    if len(origins) != len(targets):
        raise ValueError("moveaxis: `source` and `destination` must have the same number of elements")
    for what, axes in (("source", origins), ("destination", targets)):
        if len(set(axes)) < len(axes):
            raise ValueError(f"moveaxis: `{what}` names one axis twice")
    order = [axis for axis in range(tensor.ndim) if axis not in origins]
    for target, origin in sorted(zip(targets, origins)):
        order.insert(target, origin)
    return gradient_namespace().transpose(tensor, axes=tuple(order))  # type: ignore[no-any-return]


def _axes(axes: int | Sequence[int], ndim: int, what: str) -> list[int]:
    listed = [axes] if isinstance(axes, int) else list(axes)
    for axis in listed:
        if not -ndim <= axis < ndim:
            raise ValueError(f"moveaxis: `{what}` {axis} is out of range for an array of {ndim} dimensions")
    return [axis % ndim for axis in listed]


def histogram(a: NDArray, bins: Any = 10, range: tuple[float, float] | None = None) -> Any:
    """Counts of the values in each bin, and the edges of the bins; `bins` is their number, or an NDArray of edges.

    Counts are int64, but float32 when neither edges nor a range are given (as in MXNet 1.9.1).
    """
    F = gradient_namespace()
    if isinstance(bins, NDArray):
        return F._histogram(a, bins)
    if not isinstance(bins, int):
        raise ValueError("histogram: `bins` is a number of bins or an NDArray of edges")
    if range is not None:
        return F._histogram(a, bin_cnt=bins, range=range)
    counts, edges = np.histogram(a.asnumpy(), bins=bins)
    return array(counts, a.context), array(edges, a.context)


def onehot_encode(indices: NDArray, out: NDArray) -> NDArray:
    """Write into `out` (n, classes) a 1 at each index and 0 elsewhere. `nd.one_hot` is the newer function."""
    out[:] = gradient_namespace().one_hot(indices, depth=out.shape[1], dtype=out.dtype)
    return out


def split_v2(ary: NDArray, indices_or_sections: Any, axis: int = 0, squeeze_axis: bool = False) -> list[NDArray]:
    """The array cut along `axis`: in a number of equal sections, or before each of the given positions.

    Raises ValueError for anything else.
    """
    F = gradient_namespace()
    options = {"axis": axis, "squeeze_axis": squeeze_axis}
    if isinstance(indices_or_sections, int):
        extent = ary.shape[axis]
        if indices_or_sections < 1 or extent % indices_or_sections:
            raise ValueError(
                f"split_v2: {indices_or_sections} equal sections do not make up an axis of extent {extent}"
            )
        return F._split_v2(ary, sections=indices_or_sections, indices=(0,), **options)  # type: ignore[no-any-return]
    if isinstance(indices_or_sections, (tuple, list)):
        return F._split_v2(ary, indices=(0, *indices_or_sections), **options)  # type: ignore[no-any-return]
    raise ValueError("split_v2: `indices_or_sections` is an int or a tuple of ints")


def isnan(data: NDArray) -> NDArray:
    """1 where the value is NaN, else 0."""
    return gradient_namespace().broadcast_not_equal(data, data)  # type: ignore[no-any-return]


def isinf(data: NDArray) -> NDArray:
    """1 where the value is infinite, else 0."""
    return gradient_namespace()._equal_scalar(data.abs(), scalar=float("inf"))  # type: ignore[no-any-return]


def isfinite(data: NDArray) -> NDArray:
    """1 where the value is neither infinite nor NaN, else 0."""
    return gradient_namespace()._lesser_scalar(data.abs(), scalar=float("inf"))  # type: ignore[no-any-return]


def install(cls: type[NDArray]) -> None:
    """Attach the methods to `cls`."""
    cls.split_v2 = split_v2  # type: ignore[attr-defined]
