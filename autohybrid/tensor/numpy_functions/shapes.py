"""Functions that rearrange elements, join arrays and cut them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autohybrid.tensor.numpy_dialect import Dialect
from autohybrid.tensor.numpy_functions.reductions import given

NAMESPACE = ""


def reshape(F: Dialect, a: Any, newshape: Any, order: str = "C", out: Any = None) -> Any:
    """The elements in another shape; one extent may be -1. Only the order 'C' is there."""
    return F.call("_np_reshape", a, out=out, newshape=newshape, **({} if order == "C" else {"order": order}))


def ravel(F: Dialect, x: Any, order: str = "C") -> Any:
    """All elements as a vector."""
    return F.call("_np_reshape", x, newshape=(-1,), order=order)


def transpose(F: Dialect, a: Any, axes: Any = None) -> Any:
    """The array with its axes in another order, reversed by default."""
    return F.call("_np_transpose", a, **given(axes=axes))


def swapaxes(F: Dialect, a: Any, axis1: int, axis2: int) -> Any:
    """The array with two axes in each other's place."""
    return F.call("_npi_swapaxes", a, dim1=axis1, dim2=axis2)


def moveaxis(F: Dialect, a: Any, source: Any, destination: Any) -> Any:
    """The array with some axes at other places; the others keep their order."""
    return F.call("_np_moveaxis", a, source=source, destination=destination)


def rollaxis(F: Dialect, a: Any, axis: int, start: int = 0) -> Any:
    """The array with `axis` moved in front of the axis `start`."""
    count = a.ndim
    axis, start = axis % count, start + count if start < 0 else start
    return moveaxis(F, a, axis, start - 1 if axis < start else start)


def expand_dims(F: Dialect, a: Any, axis: int) -> Any:
    """The array with a further axis of extent 1."""
    return F.call("_npi_expand_dims", a, axis=axis)


def squeeze(F: Dialect, a: Any, axis: Any = None, out: Any = None) -> Any:
    """The array without axes of extent 1, or without those named."""
    return F.call("_np_squeeze", a, out=out, **given(axis=axis))


def broadcast_to(F: Dialect, array: Any, shape: Any) -> Any:
    """The array repeated to `shape`."""
    if not F.is_tensor(array):
        array = F.constant(array)
    return F.call("_npi_broadcast_to", array, shape=shape)


def broadcast_arrays(F: Dialect, *args: Any) -> list[Any]:
    """All arrays repeated to their common shape."""
    import numpy

    shape = numpy.broadcast_shapes(*[a.shape for a in args])
    return [a if a.shape == shape else broadcast_to(F, a, shape) for a in args]


def tile(F: Dialect, A: Any, reps: Any) -> Any:
    """The array repeated `reps` times along each axis."""
    return F.call("_npi_tile", A if F.is_tensor(A) else F.constant(A), reps=reps)


def repeat(F: Dialect, a: Any, repeats: Any, axis: Any = None) -> Any:
    """Every element repeated; of the flattened array by default."""
    if isinstance(repeats, (tuple, list)) and len(repeats) == 1:
        repeats = repeats[0]
    if not isinstance(repeats, int):
        parts = split(F, a if axis is not None else ravel(F, a), len(repeats), axis or 0)
        return concatenate(F, [repeat(F, p, n, axis or 0) for p, n in zip(parts, repeats)], axis or 0)
    return F.call("_np_repeat", a, repeats=repeats, **given(axis=axis))


def roll(F: Dialect, a: Any, shift: Any, axis: Any = None) -> Any:
    """The elements moved along, those that leave coming back in front."""
    return F.call("_np_roll", a, shift=shift, **given(axis=axis))


def rot90(F: Dialect, m: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    """The array turned by quarters in a plane."""
    return F.call("_npi_rot90", m, k=k, axes=axes)


def flip(F: Dialect, m: Any, axis: Any = None, out: Any = None) -> Any:
    """The elements in reverse order along `axis`, along all axes by default."""
    if axis is None:
        axis = tuple(range(m.ndim))
    return F.call("_npi_flip", m, out=out, axis=axis)


def flipud(F: Dialect, m: Any) -> Any:
    """The rows in reverse order."""
    return flip(F, m, 0)


def fliplr(F: Dialect, m: Any) -> Any:
    """The columns in reverse order."""
    return flip(F, m, 1)


def concatenate(F: Dialect, seq: Sequence[Any], axis: Any = 0, out: Any = None) -> Any:
    """The arrays behind one another along `axis`; with None each flattened first."""
    return F.call("_npi_concatenate", *seq, out=out, axis=axis)


def append(F: Dialect, arr: Any, values: Any, axis: Any = None) -> Any:
    """`values` behind `arr`."""
    return F.call("_npi_concatenate", arr, values, axis=axis)


def stack(F: Dialect, arrays: Sequence[Any], axis: int = 0, out: Any = None) -> Any:
    """The arrays along a new axis."""
    return F.call("_npi_stack", *arrays, out=out, axis=axis)


def _stacking(operator: str, doc: str) -> Callable[..., Any]:
    def function(F: Dialect, arrays: Sequence[Any], out: Any = None) -> Any:
        return F.call(operator, *[a if F.is_tensor(a) else F.constant(a) for a in arrays], out=out)

    function.__doc__ = doc
    return function


def _cuts(parts: Any) -> dict[str, Any]:
    """The attributes of a cut into a number of parts, or at positions."""
    if isinstance(parts, int):
        return {"indices": [], "sections": parts}
    return {"indices": [0, *[int(p) for p in parts]], "sections": 0}


def _listed(parts: Any) -> list[Any]:
    return list(parts) if isinstance(parts, (list, tuple)) else [parts]


def split(F: Dialect, ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    """The array cut into equal parts, or at positions, along `axis`. Raises ValueError if it does not divide."""
    cuts = _cuts(indices_or_sections)
    if not F.symbolic and cuts["sections"] and ary.shape[axis] % cuts["sections"]:
        raise ValueError("array split does not result in an equal division")
    return _as_list(F, F.call("_npi_split", ary, axis=axis, squeeze_axis=False, **cuts))


def _as_list(F: Dialect, parts: Any) -> Any:
    return parts if F.symbolic else _listed(parts)


def array_split(F: Dialect, ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    """`split`, where the first parts may be larger by one."""
    if isinstance(indices_or_sections, int) and not F.symbolic:
        extent, count = ary.shape[axis], indices_or_sections
        small, larger = divmod(extent, count)
        sizes = [small + 1] * larger + [small] * (count - larger)
        bounds = [0]
        for size in sizes[:-1]:
            bounds.append(bounds[-1] + size)
        return split(F, ary, bounds[1:], axis)
    return split(F, ary, indices_or_sections, axis)


def vsplit(F: Dialect, ary: Any, indices_or_sections: Any) -> Any:
    """The array cut along its first axis. Raises ValueError for less than two axes."""
    if not F.symbolic and ary.ndim < 2:
        raise ValueError("vsplit only works on arrays of 2 or more dimensions")
    return split(F, ary, indices_or_sections, 0)


def hsplit(F: Dialect, ary: Any, indices_or_sections: Any) -> Any:
    """The array cut along its second axis, a vector along its only one."""
    if not F.symbolic and ary.ndim < 1:
        raise ValueError("hsplit only works on arrays of 1 or more dimensions")
    axis = 0 if not F.symbolic and ary.ndim == 1 else 1
    return _as_list(F, F.call("_npi_hsplit", ary, axis=axis, squeeze_axis=False, **_cuts(indices_or_sections)))


def dsplit(F: Dialect, ary: Any, indices_or_sections: Any) -> Any:
    """The array cut along its third axis. Raises ValueError for less than three axes."""
    if not F.symbolic and ary.ndim < 3:
        raise ValueError("dsplit only works on arrays of 3 or more dimensions")
    return _as_list(F, F.call("_npi_dsplit", ary, axis=2, squeeze_axis=False, **_cuts(indices_or_sections)))


def pad(F: Dialect, x: Any, pad_width: Any = None, mode: str = "constant", **kwargs: Any) -> Any:
    """The array with a border. `constant_values` and `reflect_type` are the keywords of their modes."""
    allowed = {"constant": ("constant_values",), "reflect": ("reflect_type",), "symmetric": ("reflect_type",)}
    for name in kwargs:
        if name not in allowed.get(mode, ()):
            raise ValueError(f"pad(): mode {mode!r} does not take {name!r}")
    if pad_width is None:
        raise ValueError("pad() needs `pad_width`")
    widths = ((pad_width, pad_width),) if isinstance(pad_width, int) else pad_width
    if widths and isinstance(widths[0], int):
        widths = (tuple(widths),)
    if len(widths) == 1 and not F.symbolic:
        widths = tuple(widths) * x.ndim
    attrs: dict[str, Any] = {}
    if mode == "constant":
        attrs["constant_value"] = kwargs.get("constant_values", 0)
    elif mode in ("reflect", "symmetric"):
        attrs["reflect_type"] = kwargs.get("reflect_type", "even")
        if attrs["reflect_type"] != "even":
            raise NotImplementedError(f"pad(): reflect_type {attrs['reflect_type']!r} is not supported")
    return F.call("_npi_pad", x, pad_width=tuple(tuple(w) for w in widths), mode=mode, **attrs)


def _atleast(rank: int) -> Callable[..., Any]:
    def function(F: Dialect, *arys: Any) -> Any:
        arrays = [a if F.is_tensor(a) else F.constant(a) for a in arys]
        return F.call(f"_np_atleast_{rank}d", *arrays)

    function.__doc__ = f"Every array with at least {rank} axes."
    return function


def tril(F: Dialect, m: Any, k: int = 0) -> Any:
    """The elements on and below a diagonal."""
    return F.call("_npi_tril", m, k=k)


def diag(F: Dialect, array: Any, k: int = 0) -> Any:
    """The matrix with this diagonal, or a diagonal of a matrix."""
    return F.call("_np_diag", array, **({"k": k} if k else {}))


def diagflat(F: Dialect, array: Any, k: int = 0) -> Any:
    """The matrix with the flattened array as its diagonal."""
    return F.call("_np_diagflat", array, **({"k": k} if k else {}))


def diagonal(F: Dialect, a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """A diagonal of a plane, as the last axis."""
    attrs = {"offset": offset} if offset else {}
    return F.call("_np_diagonal", a, **attrs, **({} if (axis1, axis2) == (0, 1) else {"axis1": axis1, "axis2": axis2}))


def copy(F: Dialect, a: Any, out: Any = None) -> Any:
    """A copy."""
    return F.call("_np_copy", a, out=out)


def meshgrid(F: Dialect, *xi: Any, **kwargs: Any) -> list[Any]:
    """Coordinates of every place of a grid, from those along each axis."""
    indexing = kwargs.pop("indexing", "xy")
    sparse, copied = kwargs.pop("sparse", False), kwargs.pop("copy", True)
    if kwargs:
        raise TypeError(f"meshgrid() does not take the keyword {next(iter(kwargs))!r}")
    if sparse or not copied or indexing not in ("xy", "ij"):
        raise NotImplementedError("meshgrid() takes indexing='xy' or 'ij', and gives full copies only")
    count = len(xi)
    places = list(range(count))
    if indexing == "xy" and count > 1:
        places[:2] = [1, 0]
    grids = [reshape(F, x, tuple(-1 if i == places[k] else 1 for i in range(count))) for k, x in enumerate(xi)]
    return broadcast_arrays(F, *grids)


def shape(F: Dialect, a: Any) -> tuple[int, ...]:
    """The extents of an array."""
    return tuple(a.shape) if F.is_tensor(a) else tuple(F.constant(a).shape)


def ndim(F: Dialect, a: Any) -> int:
    """The number of axes of an array."""
    return len(shape(F, a))


def size(F: Dialect, a: Any, axis: int | None = None) -> int:
    """The number of elements, or the extent of an axis."""
    extents = shape(F, a)
    if axis is not None:
        return extents[axis]
    count = 1
    for extent in extents:
        count *= extent
    return count


_VSTACK = _stacking("_npi_vstack", "The arrays below one another.")

FUNCTIONS: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        reshape, ravel, transpose, swapaxes, moveaxis, rollaxis, expand_dims, squeeze, broadcast_to, broadcast_arrays,
        tile, repeat, roll, rot90, flip, flipud, fliplr, concatenate, append, stack, split, array_split, vsplit, hsplit,
        dsplit, pad, tril, diag, diagflat, diagonal, copy, meshgrid, shape, ndim, size,
    )
}  # fmt: skip
FUNCTIONS |= {
    "vstack": _VSTACK,
    "row_stack": _VSTACK,
    "hstack": _stacking("_npi_hstack", "The arrays side by side."),
    "dstack": _stacking("_npi_dstack", "The arrays one behind the other."),
    "column_stack": _stacking("_npi_column_stack", "Vectors as columns, and matrices, side by side."),
    "atleast_1d": _atleast(1),
    "atleast_2d": _atleast(2),
    "atleast_3d": _atleast(3),
}
