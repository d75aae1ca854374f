"""Axes and shapes of reductions (sum, max, norm...): which axes go, and what is left.

MXNet's rule for arrays without zero-dimensional shapes: reducing every axis leaves shape `(1,)`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import Shape, Shapes
from autohybrid.tensor.shapes import normalize_axis

#: The attributes of sum, mean, max...; `axis` is an int or a tuple, None and () mean all axes.
REDUCE_ATTRS = (
    Attr("axis", "shape?", None, doc="the axes to reduce; all by default"),
    Attr("keepdims", "bool", False, doc="keep the reduced axes with extent 1"),
    Attr("exclude", "bool", False, doc="reduce all axes but those given"),
)


@lru_cache(maxsize=4096)
def reduced_axes(axis: tuple[int, ...] | None, ndim: int, exclude: bool = False) -> tuple[int, ...]:
    """The axes to reduce, from the front, sorted. Raises MXNetError for one out of range or given twice."""
    if not axis:
        return tuple(range(ndim))
    listed = sorted(normalize_axis(a, ndim) for a in axis)
    if len(set(listed)) < len(listed):
        raise MXNetError(f"`axis` {axis} names an axis twice")
    return tuple(a for a in range(ndim) if a not in listed) if exclude else tuple(listed)


def reduced_shape(shape: Shape, axis: tuple[int, ...] | None, keepdims: bool, exclude: bool = False) -> Shape:
    """What is left of `shape`; `(1,)` when every axis goes and none is kept."""
    if shape is None:
        return (1,) if not axis and not keepdims else None
    axes = reduced_axes(axis, len(shape), exclude)
    if keepdims:
        return tuple(1 if a in axes else n for a, n in enumerate(shape))
    return tuple(n for a, n in enumerate(shape) if a not in axes) or (1,)


def infer_reduced(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    """Shape inference for one reduced input and outputs of one reduced shape."""
    shape = reduced_shape(ins[0], attrs.axis, attrs.keepdims, getattr(attrs, "exclude", False))
    return ins, [shape] * len(outs)


def kept_shape(shape: tuple[int, ...], attrs: Attrs) -> tuple[int, ...]:
    """The reduced shape with the reduced axes kept, whatever `keepdims` says: it broadcasts against `shape`."""
    axes = reduced_axes(attrs.axis, len(shape), getattr(attrs, "exclude", False))
    return tuple(1 if a in axes else n for a, n in enumerate(shape))


def finish(result: Any) -> Any:
    """A reduction's result as MXNet shapes it: never zero-dimensional."""
    return result.reshape(1) if result.ndim == 0 else result
