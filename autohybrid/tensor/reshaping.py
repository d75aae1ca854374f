"""Methods of arrays that change the shape and have a Python signature of their own: `reshape` (a view), `squeeze`...

What the codes of `reshape` mean is in `reshape_codes.py`; the operators of the same names always copy.
"""

from __future__ import annotations

from math import prod
from typing import Any

from autohybrid.tensor.array import NDArray, wrap
from autohybrid.tensor.gradient_namespace import gradient_namespace
from autohybrid.tensor.indexing import contiguous
from autohybrid.tensor.reshape_codes import resolve_reshape
from autohybrid.tensor.tape import state


def reshape(self: NDArray, *shape: Any, **kwargs: Any) -> NDArray:
    """The array in another shape, sharing memory: `reshape(2, 3)`, `reshape((2, 3))`, `reshape(shape=(0, -1))`.

    0 keeps an extent, -1 is inferred, -2 keeps all remaining ones, -3 merges two, -4 splits one in two; `reverse=True`
    reads from the right. Raises MXNetError when the number of elements differs, TypeError for another keyword.
    """
    unknown = [name for name in kwargs if name not in ("shape", "reverse")]
    if unknown:
        raise TypeError(f"reshape: unknown keyword {unknown[0]!r}; it takes 'shape' and 'reverse'")
    wanted: Any = shape[0] if len(shape) == 1 and isinstance(shape[0], (list, tuple)) else shape
    if not shape:
        wanted = kwargs.get("shape")
        if not wanted:
            raise AssertionError("reshape: the shape was not given")
    codes = tuple(_integer(code) for code in ((wanted,) if isinstance(wanted, int) else wanted))
    reverse = bool(kwargs.get("reverse", False))
    plain = all(code > 0 for code in codes)
    if plain and prod(codes) < prod(self.shape):
        raise ValueError(f"cannot reshape array of size {self.size} into shape {codes}")
    return _reshaped(self, codes, reverse)


def _integer(code: Any) -> int:
    try:
        return int(code.__index__())
    except AttributeError:
        raise TypeError(f"reshape: {code!r} is not an integer") from None


def _reshaped(self: NDArray, codes: tuple[int, ...], reverse: bool = False) -> NDArray:
    F = gradient_namespace()
    if state.builder is not None:
        base = state.builder.lift(self)
        return state.builder.view(  # type: ignore[no-any-return]
            base,
            lambda whole: F.Reshape(whole, shape=codes, reverse=reverse),
            lambda whole, part: F.reshape_like(part, whole),
        )
    if state.recording and self._entry is not None:
        return F.Reshape(self, shape=codes, reverse=reverse)  # type: ignore[no-any-return]
    return wrap(contiguous(self).reshape(resolve_reshape(self.shape, codes, reverse)), self._ctx)


def expand_dims(self: NDArray, axis: int, inplace: bool = False) -> NDArray:
    """The array with a further axis of extent 1 at `axis`: a copy, or a view with `inplace=True`."""
    if not inplace:
        return gradient_namespace().expand_dims(self, axis=axis)  # type: ignore[no-any-return]
    ndim = self.ndim
    if not -ndim - 1 <= axis <= ndim:
        raise AssertionError(f"axis {axis} is out of range for an array of {ndim} dimensions")
    place = axis % (ndim + 1)
    return _reshaped(self, (*self.shape[:place], 1, *self.shape[place:]))


def squeeze(self: NDArray, axis: Any = None, inplace: bool = False) -> NDArray:
    """The array without axes of extent 1 (all, or those in `axis`): a copy, or a view with `inplace=True`."""
    if not inplace:
        return gradient_namespace().squeeze(self, axis=axis)  # type: ignore[no-any-return]
    shape = self.shape
    if axis is None:
        gone = {i for i, extent in enumerate(shape) if extent == 1}
    else:
        gone = {_squeezed_axis(a, shape) for a in ((axis,) if isinstance(axis, int) else axis)}
    return _reshaped(self, tuple(extent for i, extent in enumerate(shape) if i not in gone) or (1,))


def _squeezed_axis(axis: int, shape: tuple[int, ...]) -> int:
    if not -len(shape) <= axis < len(shape):
        raise AssertionError(f"axis {axis} is out of range for an array of {len(shape)} dimensions")
    if shape[axis] != 1:
        raise AssertionError(f"axis {axis} cannot be squeezed: its extent is {shape[axis]}, not 1")
    return axis % len(shape)


def flatten(self: NDArray, inplace: bool = False) -> NDArray:
    """The array as a matrix: the first axis, and all others joined; a copy, or a view with `inplace=True`."""
    if not inplace:
        return gradient_namespace().Flatten(self)  # type: ignore[no-any-return]
    return _reshaped(self, (0, -1))


def diag(self: NDArray, k: int = 0, **kwargs: Any) -> NDArray:
    """A diagonal of a matrix, or the matrix with this diagonal; `k` places above the main one."""
    return gradient_namespace().diag(self, k=k, **kwargs)  # type: ignore[no-any-return]


def broadcast_to(self: NDArray, shape: Any) -> NDArray:
    """The array repeated along axes of extent 1, and along new leading ones, up to `shape`.

    Raises ValueError when that is not possible.
    """
    wanted, have = tuple(shape), self.shape
    padded = (*[1] * (len(wanted) - len(have)), *have)
    if len(padded) != len(wanted) or any(h not in (1, w) for h, w in zip(padded, wanted)):
        raise ValueError(f"an array of shape {have} cannot be broadcast to shape {wanted}")
    whole = self if padded == have else _reshaped(self, padded)
    return gradient_namespace().broadcast_to(whole, shape=wanted)  # type: ignore[no-any-return]


def broadcast_like(self: NDArray, other: NDArray) -> NDArray:
    """`broadcast_to` the shape of `other`."""
    return broadcast_to(self, other.shape)


def install(cls: type[NDArray]) -> None:
    """Attach the methods to `cls`."""
    for method in (reshape, expand_dims, squeeze, flatten, diag, broadcast_to, broadcast_like):
        setattr(cls, method.__name__, method)
