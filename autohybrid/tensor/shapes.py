"""Shape and dtype inference shared by operator records: joining partial shapes, broadcasting, axes.

A shape is a tuple of extents with -1 for unknown, or None for unknown rank. Every function raises MXNetError, through
`incompatible`, when two facts contradict each other; the caller (the front end or the graph) adds the operator's name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attrs
from autohybrid.tensor.opdef import Dtypes, InferDtype, Shape, Shapes


def is_known(shape: Shape) -> bool:
    """Whether rank and every extent are known."""
    return shape is not None and -1 not in shape


def unify(a: Shape, b: Shape) -> Shape:
    """The facts of both shapes together. Raises MXNetError when they contradict each other."""
    if a is None or a == b:
        return b
    if b is None:
        return a
    if len(a) != len(b):
        raise MXNetError(f"incompatible shapes: {a} has {len(a)} dimensions, {b} has {len(b)}")
    return tuple(unify_dim(x, y, a, b) for x, y in zip(a, b))


def unify_dim(x: int, y: int, a: Shape = None, b: Shape = None) -> int:
    """The known one of two extents; `a`, `b` are the whole shapes for the message."""
    if x == y or y == -1:
        return x
    if x == -1:
        return y
    where = f" ({a} against {b})" if a is not None else ""
    raise MXNetError(f"incompatible shapes: extent {x} against {y}{where}")


def unify_all(shapes: Iterable[Shape]) -> Shape:
    """`unify` over any number of shapes."""
    result: Shape = None
    for shape in shapes:
        result = unify(result, shape)
    return result


def require_known(names: Iterable[str], shapes: Iterable[Shape]) -> None:
    """Raise MXNetError naming the first input whose rank is unknown, for operators that cannot infer it."""
    for name, shape in zip(names, shapes):
        if shape is None:
            raise MXNetError(f"the shape of input `{name}` must be known, it does not follow from the others")


def same_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    """All inputs and outputs have one shape (element-wise operators), known from any of them."""
    shape = unify_all([*ins, *outs])
    return [shape] * len(ins), [shape] * len(outs)


def broadcast_shape(a: Shape, b: Shape) -> Shape:
    """The NumPy broadcast of two partial shapes."""
    if a is None or b is None:
        return None
    rank = max(len(a), len(b))
    x, y = (1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b
    return tuple(_broadcast_dim(i, j, a, b) for i, j in zip(x, y))


def _broadcast_dim(x: int, y: int, a: Shape, b: Shape) -> int:
    if x == y or y == 1:
        return x
    if x == 1:
        return y
    if x == -1 or y == -1:
        return max(x, y)
    raise MXNetError(f"shapes {a} and {b} cannot be broadcast together: {x} against {y}")


def broadcast(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    """Inference of the `broadcast_*` operators: inputs are not inferred backwards."""
    shape: Shape = ins[0]
    for other in ins[1:]:
        shape = broadcast_shape(shape, other)
    return ins, [unify(shape, out) for out in outs]


def normalize_axis(axis: int, ndim: int, what: str = "axis") -> int:
    """`axis` counted from the front. Raises MXNetError when it is out of range."""
    if not -ndim <= axis < ndim:
        raise MXNetError(f"`{what}` {axis} is out of range for an array of {ndim} dimensions ({-ndim} to {ndim - 1})")
    return axis % ndim


def normalize_axes(axes: int | Sequence[int] | None, ndim: int, exclude: bool = False) -> tuple[int, ...]:
    """Reduction axes counted from the front, sorted. None or () mean all; `exclude` takes the others."""
    if axes is None or axes == ():
        return () if exclude and axes == () else tuple(range(ndim))
    listed = sorted({normalize_axis(a, ndim) for a in ((axes,) if isinstance(axes, int) else axes)})
    return tuple(a for a in range(ndim) if a not in listed) if exclude else tuple(listed)


def same_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    """All inputs and outputs have one dtype, known from any of them."""
    dtype = unify_dtypes([*ins, *outs])
    return [dtype] * len(ins), [dtype] * len(outs)


def same_floating(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    """`same_dtype` for operators that compute with real numbers. Raises MXNetError for integers."""
    dtype = require_floating(unify_dtypes([*ins, *outs]))
    return [dtype] * len(ins), [dtype] * len(outs)


def require_floating(dtype: str | None) -> str | None:
    """`dtype` itself. Raises MXNetError unless it is a floating dtype or unknown."""
    if dtype is not None and not dtype.startswith(("float", "bfloat")):
        raise MXNetError(f"only floating dtypes are supported, got {dtype}; convert with `astype('float32')`")
    return dtype


def unify_dtypes(dtypes: Iterable[str | None]) -> str | None:
    """The one dtype that all known ones are. Raises MXNetError when they differ (MXNet does not promote)."""
    result: str | None = None
    for dtype in dtypes:
        if result is None:
            result = dtype
        elif dtype is not None and dtype != result:
            raise MXNetError(f"the dtypes {result} and {dtype} differ, and are not promoted; convert one with `astype`")
    return result


def first_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    """The outputs have the dtype of the first input; the others (indices, `*_like` shapes) may have any."""
    dtype = unify_dtypes([ins[0], *outs])
    return [dtype, *ins[1:]], [dtype] * len(outs)


def fixed_dtype(dtype: str) -> InferDtype:
    """Outputs have this dtype whatever the inputs are."""

    def infer(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
        return ins, [dtype] * len(outs)

    return infer


def attr_dtype(name: str = "dtype", default: str = "float32") -> InferDtype:
    """Outputs have the dtype that attribute `name` gives, else `default`; inputs stay as they are."""

    def infer(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
        return ins, [getattr(attrs, name) or default] * len(outs)

    return infer
