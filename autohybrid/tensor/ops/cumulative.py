"""cumsum: running sums along an axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import Dtypes, GradNode, OpDef, Sample, Shapes
from autohybrid.tensor.shapes import is_known

_DTYPES = ("float16", "float32", "float64", "int32", "int64", "int8")


def _running(xp: Any, x: Any, axis: int | None, dtype: Any) -> Any:
    half = dtype.kind == "f" and dtype.itemsize == 2
    return xp.cumsum(x, axis=axis, dtype="float32" if half else dtype).astype(dtype, copy=False)


def _cumsum(xp: Any, attrs: Attrs, x: Any) -> Any:
    dtype = xp.dtype(attrs.dtype or ("int64" if x.dtype.kind == "b" else x.dtype))
    return _running(xp, x, attrs.axis, dtype)


def _suffix_sum(xp: Any, attrs: Attrs, x: Any) -> Any:
    if attrs.axis is None:
        return _running(xp, x.reshape(-1)[::-1], 0, x.dtype)[::-1].copy()
    turn = (slice(None),) * attrs.axis + (slice(None, None, -1),)
    return _running(xp, x[turn], attrs.axis, x.dtype)[turn].copy()


def _infer(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    shape = ins[0]
    if attrs.axis is None:
        size = -1
        if shape is not None and is_known(shape):
            size = 1
            for extent in shape:
                size *= extent
        return ins, [(size,)]
    if shape is not None and not 0 <= attrs.axis < len(shape):
        raise MXNetError(f"`axis` {attrs.axis} is out of range for {len(shape)} dimensions (0 to {len(shape) - 1})")
    return ins, [shape]


def _infer_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    dtype = attrs.dtype or ("int64" if ins[0] == "bool" else ins[0])
    return ins, [dtype]


def _backward(forward: str) -> Callable[..., Any]:
    def gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
        x, head = node.inputs[0], heads[0]
        sums = getattr(F, forward)(F._cast_as(head, x), axis=node.attrs.axis)
        return F.reshape_like(sums, x) if node.attrs.axis is None else sums

    return gradient


OPERATORS: tuple[OpDef, ...] = (
    OpDef(
        "_np_cumsum",
        _cumsum,
        inputs=("a",),
        attrs=(Attr("axis", "int?", None), Attr("dtype", "dtype?", None, _DTYPES)),
        infer_shape=_infer,
        infer_dtype=_infer_dtype,
        grad=_backward("_suffix_sum"),
        aliases=("cumsum",),
        doc="The running sum along `axis` (not negative), or over the flattened array; booleans are summed as int64.",
        samples=(
            Sample(((2, 3),)),
            Sample(((1,),), {"axis": 0}),
            Sample(((2, 3, 5),), {"axis": 1}),
            Sample(((0, 3),), {"axis": 0}),
            Sample(((4,),), low=0, high=5, dtypes=("int32",)),
            Sample(((3, 4),), {"axis": 0, "dtype": "float64"}),
            Sample(((2, 3),), {"axis": -1}, error="MXNetError"),
        ),
    ),
    OpDef(
        "_suffix_sum",
        _suffix_sum,
        inputs=("a",),
        attrs=(Attr("axis", "int?", None),),
        infer_shape=_infer,
        grad=_backward("_np_cumsum"),
        doc="The running sum from the end along `axis`, or over the flattened array: the gradient of `cumsum`.",
        samples=(Sample(((2, 3),)), Sample(((1,),), {"axis": 0}), Sample(((2, 3, 5),), {"axis": 1}), Sample(((0, 3),))),
    ),
)
