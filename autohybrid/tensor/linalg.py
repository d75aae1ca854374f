"""Shape and dtype rules that the linear algebra operators share."""

from __future__ import annotations

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attrs
from autohybrid.tensor.opdef import Dtypes
from autohybrid.tensor.shapes import unify, unify_dim, unify_dtypes


def matrix_shape(name: str, shape: tuple[int, ...], square: bool = False) -> None:
    """Raise MXNetError unless `shape` is that of a stack of (square) matrices."""
    if len(shape) < 2:
        raise MXNetError(f"`{name}` must be a matrix or a stack of matrices, got shape {shape}")
    if square:
        unify_dim(shape[-2], shape[-1], shape, shape)


def require_same_batch(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """The leading axes that two stacks of matrices share. Raises MXNetError when they differ."""
    batch = unify(a[:-2], b[:-2])
    assert batch is not None
    return batch


def same_real(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    """One dtype for all, float32 or float64. Raises MXNetError for any other."""
    dtype = unify_dtypes([*ins, *outs])
    if dtype not in (None, "float32", "float64"):
        raise MXNetError(f"linear algebra is computed in float32 and float64, got {dtype}")
    return [dtype] * len(ins), [dtype] * len(outs)
