"""Operators of `mx.np` on diagonals, differences and borders: diag, diagflat, diagonal, trace, tril, diff, ediff1d,
pad, diag_indices_from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import Dtypes, GradNode, OpDef, Sample, Shape, Shapes, zero_gradient
from autohybrid.tensor.shapes import normalize_axis, unify

_K = Attr("k", "int", 0, doc="which diagonal; above the main one if positive")
_PLANE = (
    Attr("offset", "int", 0, doc="which diagonal; above the main one if positive"),
    Attr("axis1", "int", 0, doc="the axis of rows"),
    Attr("axis2", "int", 1, doc="the axis of columns"),
)


def _length(rows: int, columns: int, offset: int) -> int:
    """How many elements a diagonal has."""
    if -1 in (rows, columns):
        return -1
    return max(0, min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns))


def _plane(attrs: Attrs, ndim: int) -> tuple[int, int]:
    if ndim < 2:
        raise MXNetError(f"a diagonal needs at least two axes, the array has {ndim}")
    rows, columns = normalize_axis(attrs.axis1, ndim, "axis1"), normalize_axis(attrs.axis2, ndim, "axis2")
    if rows == columns:
        raise MXNetError(f"`axis1` and `axis2` must differ, both are {rows}")
    return rows, columns


# -- diagonal, trace -------------------------------------------------------------------------------------------------
def _infer_diagonal(trace: bool) -> Callable[..., Any]:
    def infer(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
        shape = ins[0]
        if shape is None:
            return ins, outs
        rows, columns = _plane(attrs, len(shape))
        rest = tuple(n for i, n in enumerate(shape) if i not in (rows, columns))
        count = () if trace else (_length(shape[rows], shape[columns], attrs.offset),)
        return ins, [unify((*rest, *count), outs[0])]

    return infer


def _diagonal(xp: Any, attrs: Attrs, data: Any) -> Any:
    rows, columns = _plane(attrs, data.ndim)
    return xp.diagonal(data, attrs.offset, rows, columns)


def _trace(xp: Any, attrs: Attrs, data: Any) -> Any:
    return xp.asarray(_diagonal(xp, attrs, data).sum(axis=-1, dtype=data.dtype))


def _back_on_diagonal(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    attrs = node.attrs
    return F._on_diagonal(heads[0], node.inputs[0], offset=attrs.offset, axis1=attrs.axis1, axis2=attrs.axis2)


def _on_diagonal(xp: Any, attrs: Attrs, values: Any, like: Any) -> Any:
    rows, columns = _plane(attrs, like.ndim)
    result = xp.zeros(like.shape, dtype=values.dtype)
    # The diagonal as a view that can be written: rows and columns moved behind, and picked by their positions.
    turned = xp.moveaxis(result, (rows, columns), (-2, -1))
    count = _length(like.shape[rows], like.shape[columns], attrs.offset)
    first = xp.arange(count) + max(0, -attrs.offset)
    second = xp.arange(count) + max(0, attrs.offset)
    turned[..., first, second] = values[..., None] if values.ndim == like.ndim - 2 else values
    return result


def _like_second(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    like = unify(ins[1], outs[0])
    return [ins[0], like], [like]


def _on_diagonal_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    attrs, (values, like) = node.attrs, node.inputs
    plane = {"offset": attrs.offset, "axis1": attrs.axis1, "axis2": attrs.axis2}
    function = F._np_trace if values.ndim == like.ndim - 2 else F._np_diagonal
    return [function(heads[0], **plane), None]


# -- diag, diagflat, tril --------------------------------------------------------------------------------------------
def _infer_diag(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    shape = ins[0]
    if shape is None:
        return ins, outs
    if len(shape) not in (1, 2):
        raise MXNetError(f"`diag` takes a vector or a matrix, got shape {shape}")
    if len(shape) == 2:
        return ins, [unify((_length(*shape, attrs.k),), outs[0])]
    side = -1 if shape[0] == -1 else shape[0] + abs(attrs.k)
    return ins, [unify((side, side), outs[0])]


def _diag_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    x = node.inputs[0]
    if x.ndim == 1:
        return F._np_diag(heads[0], k=node.attrs.k)
    return F._on_diagonal(heads[0], x, offset=node.attrs.k)


def _infer_diagflat(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    shape = ins[0]
    if shape is None or -1 in shape:
        return ins, outs
    side = abs(attrs.k)
    size = 1
    for extent in shape:
        size *= extent
    return ins, [unify((size + side, size + side), outs[0])]


def _diagflat_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return F.reshape_like(F._np_diag(heads[0], k=node.attrs.k), node.inputs[0])


def _infer_tril(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    shape: Shape = unify(ins[0], None if ins[0] is not None and len(ins[0]) == 1 else outs[0])
    if shape is None:
        return ins, outs
    if not shape:
        raise MXNetError("`tril` takes an array with at least one axis")
    return [shape], [(shape[0], shape[0]) if len(shape) == 1 else shape]


def _tril_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    kept = F._npi_tril(heads[0], k=node.attrs.k)
    return F._np_sum(kept, axis=0) if node.inputs[0].ndim == 1 else kept


# -- diff, ediff1d ---------------------------------------------------------------------------------------------------
def _infer_diff(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    if attrs.n < 0:
        raise MXNetError(f"`n` must not be negative, got {attrs.n}")
    shape = ins[0]
    if shape is None:
        return ins, outs
    axis = normalize_axis(attrs.axis, len(shape))
    extent = -1 if shape[axis] == -1 else max(0, shape[axis] - attrs.n)
    return ins, [unify((*shape[:axis], extent, *shape[axis + 1 :]), outs[0])]


def _diff_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return F._undiff(heads[0], node.inputs[0], n=node.attrs.n, axis=node.attrs.axis)


def _undiff(xp: Any, attrs: Attrs, head: Any, like: Any) -> Any:
    axis = attrs.axis % like.ndim
    if like.shape[axis] <= attrs.n and attrs.n:
        return xp.zeros(like.shape, dtype=head.dtype)
    for _ in range(attrs.n):
        none = xp.zeros((*head.shape[:axis], 1, *head.shape[axis + 1 :]), dtype=head.dtype)
        head = xp.concatenate([none, head], axis=axis) - xp.concatenate([head, none], axis=axis)
    return head


def _undiff_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    return [F._npi_diff(heads[0], n=node.attrs.n, axis=node.attrs.axis), None]


def _ediff_inputs(attrs: Attrs) -> tuple[str, ...]:
    return ("input1", *(["input2"] if attrs.to_end_arr_given or attrs.to_begin_arr_given else []),
            *(["input3"] if attrs.to_end_arr_given and attrs.to_begin_arr_given else []))  # fmt: skip


def _ediff_parts(attrs: Attrs, inputs: Sequence[Any]) -> tuple[Any, Any]:
    """What stands in front of and behind the differences: an array, a number or None."""
    rest = list(inputs[1:])
    end = rest.pop(0) if attrs.to_end_arr_given else attrs.to_end_scalar
    begin = rest.pop(0) if attrs.to_begin_arr_given else attrs.to_begin_scalar
    return begin, end


def _sizes(shape: Shape) -> int:
    if shape is None or -1 in shape:
        return -1
    size = 1
    for extent in shape:
        size *= extent
    return size


def _infer_ediff(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    size = _sizes(ins[0])
    begin, end = _ediff_parts(attrs, ins)
    extra = [0 if p is None and not given else 1 if isinstance(p, float) else _sizes(p)
             for p, given in ((begin, attrs.to_begin_arr_given), (end, attrs.to_end_arr_given))]  # fmt: skip
    if size == -1 or -1 in extra:
        return ins, outs
    return ins, [unify((max(0, size - 1) + sum(extra),), outs[0])]


def _ediff(xp: Any, attrs: Attrs, *inputs: Any) -> Any:
    flat = inputs[0].reshape(-1)
    begin, end = _ediff_parts(attrs, inputs)
    parts = [flat[1:] - flat[:-1]]
    for value, place in ((begin, 0), (end, len(parts) + 1)):
        if value is not None:
            parts.insert(place, xp.asarray(value).astype(flat.dtype).reshape(-1))
    return xp.concatenate(parts)


def _ediff_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    attrs, inputs = node.attrs, node.inputs
    begin, end = _ediff_parts(attrs, inputs)
    sizes = [0 if p is None else 1 if isinstance(p, float) else p.size for p in (begin, end)]
    count = heads[0].size
    middle = F.slice(heads[0], begin=(sizes[0],), end=(count - sizes[1],))
    gradients = [F.reshape_like(F._undiff(middle, F._np_reshape(inputs[0], newshape=(-1,))), inputs[0])]
    if attrs.to_end_arr_given:
        gradients.append(F.reshape_like(F.slice(heads[0], begin=(count - sizes[1],), end=(count,)), end))
    if attrs.to_begin_arr_given:
        gradients.append(F.reshape_like(F.slice(heads[0], begin=(0,), end=(sizes[0],)), begin))
    return gradients


# -- pad -------------------------------------------------------------------------------------------------------------
_PAD_MODES = ("constant", "edge", "reflect", "symmetric", "maximum", "minimum")


def _widths(attrs: Attrs, ndim: int) -> tuple[tuple[int, int], ...]:
    widths = attrs.pad_width
    if len(widths) == 1 and ndim != 1:
        widths = widths * ndim
    pairs = tuple((w[0], w[0]) if len(w) == 1 else w for w in widths)
    if len(pairs) != ndim or any(len(p) != 2 or min(p) < 0 for p in pairs):
        raise MXNetError(f"`pad_width` {attrs.pad_width} must give two widths, not negative, for each of {ndim} axes")
    return pairs


def _infer_pad(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    shape = ins[0]
    if shape is None:
        return ins, outs
    padded = tuple(-1 if n == -1 else n + sum(w) for n, w in zip(shape, _widths(attrs, len(shape))))
    return ins, [unify(padded, outs[0])]


def _pad(xp: Any, attrs: Attrs, data: Any) -> Any:
    widths = _widths(attrs, data.ndim)
    if attrs.mode == "constant":
        return xp.pad(data, widths, mode="constant", constant_values=attrs.constant_value)
    if attrs.mode in ("reflect", "symmetric"):
        return xp.pad(data, widths, mode=attrs.mode, reflect_type=attrs.reflect_type)
    return xp.pad(data, widths, mode=attrs.mode)


def _pad_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    attrs = node.attrs
    if attrs.mode != "constant":
        raise MXNetError(f"`pad` has a gradient for mode='constant' only, not for {attrs.mode!r}")
    widths = _widths(attrs, node.inputs[0].ndim)
    return F.slice(heads[0], begin=tuple(b for b, _ in widths), end=tuple(-e if e else None for _, e in widths))


def _index_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    return ins, ["int64"]


def _infer_diag_indices(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    shape = ins[0]
    if shape is None:
        return ins, outs
    if len(shape) < 2 or len(set(shape)) > 1:
        raise MXNetError(f"all extents must be equal, of at least two axes; got shape {shape}")
    return ins, [(len(shape), shape[0])]


def _diag_indices(xp: Any, attrs: Attrs, data: Any) -> Any:
    return xp.broadcast_to(xp.arange(data.shape[0], dtype="int64"), (data.ndim, data.shape[0])).copy()


OPERATORS: tuple[OpDef, ...] = (
    OpDef("_np_diagonal", _diagonal, attrs=_PLANE, infer_shape=_infer_diagonal(False), grad=_back_on_diagonal,
          view=True,          doc="The elements of a diagonal of a plane, as the last axis.",
          samples=(Sample(((3, 4),)), Sample(((2, 3, 4),), {"offset": 1, "axis1": 1, "axis2": 2}),
                   Sample(((3,),), error="MXNetError"))),
    OpDef("_np_trace", _trace, attrs=_PLANE, infer_shape=_infer_diagonal(True), grad=_back_on_diagonal,
          doc="The sum of a diagonal of a plane.",
          samples=(Sample(((3, 4),)), Sample(((2, 3, 4),), {"offset": 1, "axis1": 1, "axis2": 2}),
                   Sample(((3, 3),), {"axis1": 0, "axis2": 0}, error="MXNetError"))),
    OpDef("_on_diagonal", _on_diagonal, inputs=("data", "like"), attrs=_PLANE, infer_shape=_like_second,
          grad=_on_diagonal_gradient, doc="`data` on a diagonal of zeros shaped as `like`: the gradient of `diagonal`.",
          samples=(Sample(((3,), (3, 4)), nograd=(1,)), Sample(((), (3, 4)), {"offset": -1}, nograd=(1,)))),
    OpDef("_np_diag", lambda xp, attrs, x: xp.diag(x, attrs.k), attrs=(_K,), infer_shape=_infer_diag,
          grad=_diag_gradient, view=True, doc="The matrix with a vector as its diagonal, or a diagonal of a matrix.",
          samples=(Sample(((3,),)), Sample(((3,),), {"k": -1}), Sample(((3, 4),), {"k": 1}),
                   Sample(((2, 3, 4),), error="MXNetError"))),
    OpDef("_np_diagflat", lambda xp, attrs, x: xp.diagflat(x, attrs.k), attrs=(_K,), infer_shape=_infer_diagflat,
          grad=_diagflat_gradient, doc="The matrix with the flattened array as its diagonal.",
          samples=(Sample(((2, 2),)), Sample(((3,),), {"k": 1}), Sample(((),)))),
    OpDef("_npi_tril", lambda xp, attrs, x: xp.tril(x, attrs.k), attrs=(_K,), infer_shape=_infer_tril,
          grad=_tril_gradient, doc="The elements on and below a diagonal; 0 above it.",
          samples=(Sample(((3, 4),)), Sample(((2, 3, 3),), {"k": 1}), Sample(((3,),)),
                   Sample(((),), error="MXNetError"))),
    OpDef("_npi_diff", lambda xp, attrs, a: xp.diff(a, attrs.n, attrs.axis), inputs=("a",), view=True,
          attrs=(Attr("n", "int", 1, doc="how often"), Attr("axis", "int", -1)), infer_shape=_infer_diff,
          grad=_diff_gradient, doc="The differences of neighbours along an axis, taken `n` times.",
          samples=(Sample(((3, 4),)), Sample(((3, 4),), {"n": 2, "axis": 0}), Sample(((3,),), {"n": 0}),
                   Sample(((3,),), {"n": -1}, error="MXNetError"))),
    OpDef("_undiff", _undiff, inputs=("head", "like"), attrs=(Attr("n", "int", 1), Attr("axis", "int", -1)),
          infer_shape=_like_second, grad=_undiff_gradient, doc="The gradient of `diff`, for an input shaped as `like`.",
          samples=(Sample(((3, 3), (3, 4)), nograd=(1,)), Sample(((1, 4), (3, 4)), {"n": 2, "axis": 0}, nograd=(1,)))),
    OpDef("_npi_ediff1d", _ediff, inputs=("input1", "input2", "input3"), active_inputs=_ediff_inputs,
          attrs=(Attr("to_begin_arr_given", "bool", False), Attr("to_end_arr_given", "bool", False),
                 Attr("to_begin_scalar", "float?", None), Attr("to_end_scalar", "float?", None)),
          infer_shape=_infer_ediff, grad=_ediff_gradient,
          doc="The differences of neighbours of the flattened array, with values in front and behind.",
          samples=(Sample(((5,),)), Sample(((2, 2),), {"to_begin_scalar": 1.0, "to_end_scalar": 2.0}),
                   Sample(((4,), (2,), (1,)), {"to_begin_arr_given": True, "to_end_arr_given": True}))),
    OpDef("_npi_pad", _pad,
          attrs=(Attr("pad_width", "shapes", doc="how many elements before and behind, for each axis"),
                 Attr("mode", "enum", "constant", _PAD_MODES),
                 Attr("constant_value", "float", 0.0, doc="what is put there in mode 'constant'"),
                 Attr("reflect_type", "enum", "even", ("even", "odd"))),
          infer_shape=_infer_pad, grad=_pad_gradient, doc="The array with a border.",
          samples=(Sample(((2, 3),), {"pad_width": ((1, 0), (2, 1)), "constant_value": 3.5}),
                   Sample(((3, 4),), {"pad_width": ((1, 1), (1, 2)), "mode": "reflect"}, nograd=(0,)),
                   Sample(((2, 3),), {"pad_width": ((1, 1), (1, 1)), "mode": "edge"}, nograd=(0,)),
                   Sample(((2, 3),), {"pad_width": ((1, 1), (1, 1), (1, 1))}, error="MXNetError"))),
    OpDef("_npi_diag_indices_from", _diag_indices, infer_shape=_infer_diag_indices, infer_dtype=_index_dtype,
          grad=zero_gradient, doc="The positions of the main diagonal, one row for each axis.",
          samples=(Sample(((3, 3),)), Sample(((2, 2, 2),)), Sample(((2, 3),), error="MXNetError"))),
)  # fmt: skip
