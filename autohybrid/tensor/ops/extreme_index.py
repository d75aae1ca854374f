"""argmax, argmin and argmax_channel: where along an axis the extreme is, as a number of the array's own dtype."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import OpDef, Sample, Shape, Shapes, zero_gradient
from autohybrid.tensor.reduction import reduced_shape
from autohybrid.tensor.shapes import normalize_axis


def _kernel(function: str) -> Callable[..., Any]:
    def kernel(xp: Any, attrs: Attrs, x: Any) -> Any:
        shape = _left(attrs, x.shape)
        found = getattr(xp, function)(x, axis=attrs.axis)
        return found.astype(x.dtype).reshape(shape)

    return kernel


def _left(attrs: Attrs, shape: Shape) -> Shape:
    axis = None if attrs.axis is None else (attrs.axis,)
    left = reduced_shape(shape, axis, attrs.keepdims)
    if shape is not None and 0 in (shape if axis is None else (shape[normalize_axis(axis[0], len(shape))],)):
        raise MXNetError(f"an axis without elements, in shape {shape}, has no extreme")
    return left


def _infer(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    return ins, [_left(attrs, ins[0])]


def _channel(xp: Any, attrs: Attrs, x: Any) -> Any:
    return xp.argmax(x, axis=1).astype(x.dtype)


def _infer_channel(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    shape = ins[0]
    if shape is None:
        return ins, [None]
    if len(shape) < 2:
        raise MXNetError(f"an array of at least 2 dimensions is needed (axis 1 is searched), got shape {shape}")
    return ins, [shape[:1] + shape[2:]]


def _record(name: str, word: str) -> OpDef:
    return OpDef(
        name,
        _kernel(name),
        attrs=(Attr("axis", "int?", None), Attr("keepdims", "bool", False)),
        infer_shape=_infer,
        grad=zero_gradient,
        methods=(name,),
        doc=f"The index of the first {word} element along `axis`, in the dtype of the array (NumPy: int64). Without "
        "`axis` the index into the flattened array, of shape (1,).",
        samples=(
            Sample(((2, 3, 4),)),
            Sample(((1,),)),
            Sample(((2, 3, 5),), {"axis": -1, "keepdims": True}),
            Sample(((2, 0, 3),), {"axis": 2}),
            Sample(((3, 4),), {"axis": 0}, low=0, high=50, dtypes=("int32",)),
            Sample(((2, 3),), {"axis": 2}, error="MXNetError"),
            Sample(((2, 0),), {"axis": 1}, error="MXNetError"),
        ),
    )


OPERATORS: tuple[OpDef, ...] = (
    _record("argmax", "largest"),
    _record("argmin", "smallest"),
    OpDef(
        "argmax_channel",
        _channel,
        infer_shape=_infer_channel,
        methods=("argmax_channel",),
        doc="The index of the first largest element along axis 1, in the dtype of the array.",
        samples=(
            Sample(((2, 3),)),
            Sample(((1, 1),)),
            Sample(((2, 3, 5),)),
            Sample(((0, 3),)),
            Sample(((3,),), error="MXNetError"),
        ),
    ),
)
