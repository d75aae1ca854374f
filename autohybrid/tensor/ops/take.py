"""Operators that gather along one axis by index: take, batch_take, pick, fill_element_0index, one_hot."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.gathering import bounded, positions_along, to_integers
from autohybrid.tensor.opdef import Dtypes, GradNode, OpDef, Sample, Shapes, zero_gradient
from autohybrid.tensor.scatter import add_at
from autohybrid.tensor.shapes import attr_dtype, first_dtype, normalize_axis, require_known, unify, unify_dtypes


def scatter_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    """Of `(head, index, data)`: head, data and output have one dtype."""
    dtype = unify_dtypes([ins[0], ins[2], outs[0]])
    return [dtype, ins[1], dtype], [dtype]


def _infer_like_third(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    shape = unify(ins[2], outs[0])
    return [ins[0], ins[1], shape], [shape]


def _around(shape: tuple[int, ...], axis: int) -> tuple[int, int, int]:
    """Number of elements in front of an axis, its extent, and the number behind it."""
    return prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])


# -- take ------------------------------------------------------------------------------------------------------------
def _infer_take(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    source, index = ins
    if source is None or index is None:
        return ins, outs
    axis = normalize_axis(attrs.axis, len(source))
    return ins, [unify((*source[:axis], *index, *source[axis + 1 :]), outs[0])]


def _take_index(xp: Any, attrs: Attrs, index: Any, extent: int) -> Any:
    if attrs.mode != "raise":
        return bounded(xp, index, extent, attrs.mode)
    whole = to_integers(xp, index)
    if bool(((whole < 0) | (whole >= extent)).any()):
        raise MXNetError(f"`indices` has values outside of 0 to {extent - 1}, which mode 'raise' refuses")
    return whole


def _take(xp: Any, attrs: Attrs, data: Any, index: Any) -> Any:
    axis = attrs.axis % data.ndim
    return data.take(_take_index(xp, attrs, index, data.shape[axis]), axis=axis)


def _grad_take(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    data, index = node.inputs
    return [F._backward_take(heads[0], index, data, axis=node.attrs.axis, mode=node.attrs.mode), None]


def _backward_take(xp: Any, attrs: Attrs, head: Any, index: Any, data: Any) -> Any:
    outer, extent, inner = _around(data.shape, attrs.axis % data.ndim)
    if not head.size:
        return xp.zeros(data.shape, dtype=head.dtype)
    whole = bounded(xp, index, extent, attrs.mode).reshape(1, -1, 1)
    return add_at(xp, data.size, positions_along(xp, whole, outer, extent, inner), head).reshape(data.shape)


def _grad_backward_take(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    return [F.take(heads[0], node.inputs[1], axis=node.attrs.axis, mode=node.attrs.mode), None, None]


# -- pick ------------------------------------------------------------------------------------------------------------
def _infer_pick(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    source, index = ins
    if attrs.axis is None:
        raise MXNetError("pick needs an `axis`; to pick from the flattened array, reshape it to (-1,) first")
    if source is None:
        return ins, outs
    axis = normalize_axis(attrs.axis, len(source))
    dropped, kept = source[:axis] + source[axis + 1 :] or (1,), (*source[:axis], 1, *source[axis + 1 :])
    if index is None:
        index = dropped
    elif len(index) == len(source):
        index = unify(index, kept)
    else:
        index = unify(index, dropped)
    return [source, index], [unify(kept if attrs.keepdims else dropped, outs[0])]


def _pick(xp: Any, attrs: Attrs, data: Any, index: Any) -> Any:
    axis = attrs.axis % data.ndim
    outer, extent, inner = _around(data.shape, axis)
    whole = bounded(xp, index, extent, attrs.mode)
    kept = (1,) if attrs.keepdims else ()
    shape = (*data.shape[:axis], *kept, *data.shape[axis + 1 :]) or (1,)
    if inner == 1:  # the usual case: classes in the last axis
        return data.reshape(outer, extent)[xp.arange(outer), whole.reshape(-1)].reshape(shape)
    positions = positions_along(xp, whole.reshape(outer, 1, inner), outer, extent, inner)
    return data.reshape(-1)[positions].reshape(shape)


def _pick_attrs(attrs: Attrs) -> dict[str, Any]:
    return {"axis": attrs.axis, "keepdims": attrs.keepdims, "mode": attrs.mode}


def _grad_pick(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    data, index = node.inputs
    return [F._backward_pick(heads[0], index, data, **_pick_attrs(node.attrs)), None]


def _backward_pick(xp: Any, attrs: Attrs, head: Any, index: Any, data: Any) -> Any:
    outer, extent, inner = _around(data.shape, attrs.axis % data.ndim)
    whole = bounded(xp, index, extent, attrs.mode).reshape(outer, 1, inner)
    result = xp.zeros(data.size, dtype=head.dtype)
    if inner == 1:
        result.reshape(outer, extent)[xp.arange(outer), whole.reshape(-1)] = head.reshape(-1)
        return result.reshape(data.shape)
    result[positions_along(xp, whole, outer, extent, inner)] = head.reshape(whole.shape)
    return result.reshape(data.shape)


def _grad_backward_pick(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    return [F.pick(heads[0], node.inputs[1], **_pick_attrs(node.attrs)), None, None]


# -- batch_take, fill_element_0index ---------------------------------------------------------------------------------
def _infer_batch_take(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    source = unify(ins[0], (-1, -1))
    assert source is not None
    if ins[0] is not None:
        require_known(("indices",), ins[1:])
    rows = unify(unify(ins[1], (source[0],)), outs[0])
    return [source, rows], [rows]


def _batch_take_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    dtype = unify_dtypes([ins[0], outs[0]])
    return [dtype, unify_dtypes([ins[1], "int32"])], [dtype]


def _batch_take(xp: Any, attrs: Attrs, data: Any, index: Any) -> Any:
    return data[xp.arange(data.shape[0]), bounded(xp, index, data.shape[1], "clip")]


def _grad_batch_take(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    data, index = node.inputs
    return [F._backward_pick(heads[0], index, data, axis=1), None]


def _infer_fill(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    shape = unify(unify(ins[0], outs[0]), (-1, -1))
    assert shape is not None
    rows = unify(unify(ins[1], ins[2]), (shape[0],))
    return [shape, rows, rows], [shape]


def _fill_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    dtype = unify_dtypes([ins[0], ins[1], outs[0]])
    return [dtype, dtype, ins[2]], [dtype]


def _fill(xp: Any, attrs: Attrs, data: Any, values: Any, index: Any) -> Any:
    here = xp.arange(data.shape[1]) == to_integers(xp, index)[:, None]
    return xp.where(here, values[:, None], data)


# -- one_hot ---------------------------------------------------------------------------------------------------------
def _infer_one_hot(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    if attrs.depth < 0:
        raise MXNetError(f"`depth` must not be negative, got {attrs.depth}")
    return ins, [unify(outs[0], None if ins[0] is None else (*ins[0], attrs.depth))]


def _one_hot(xp: Any, attrs: Attrs, index: Any) -> Any:
    hot = to_integers(xp, index)[..., None] == xp.arange(attrs.depth)
    if attrs.on_value == 1 and attrs.off_value == 0:
        return hot.astype(attrs.dtype)
    # through int64, so that numbers beyond the dtype wrap around
    wide = "float64" if attrs.dtype.startswith("float") else "int64"
    on, off = xp.asarray([attrs.on_value, attrs.off_value]).astype(wide).astype(attrs.dtype)
    return xp.where(hot, on, off)


def _infer_onehot_encode(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    shape = unify(unify(ins[1], outs[0]), (-1, -1))
    assert shape is not None
    return [unify(ins[0], shape[:1]), shape], [shape]


def _onehot_encode_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    dtype = unify_dtypes([ins[1], outs[0]])
    return [ins[0], dtype], [dtype]


def _onehot_encode(xp: Any, attrs: Attrs, index: Any, like: Any) -> Any:
    return (to_integers(xp, index)[:, None] == xp.arange(like.shape[1])).astype(like.dtype)


_TAKE = (
    Attr("axis", "int", 0),
    Attr("mode", "enum", "clip", ("clip", "raise", "wrap"), doc="for indices out of range"),
)
_PICK = (
    Attr("axis", "int?", -1),
    Attr("keepdims", "bool", False),
    Attr("mode", "enum", "clip", ("clip", "wrap"), doc="for indices out of range"),
)
_NUMBERS = ("float32", "float64", "float16", "uint8", "int32", "int8", "int64")

OPERATORS: tuple[OpDef, ...] = (
    OpDef(
        "take",
        _take,
        inputs=("a", "indices"),
        attrs=_TAKE,
        infer_shape=_infer_take,
        infer_dtype=first_dtype,
        grad=_grad_take,
        aliases=("_npi_take",),
        methods=("take",),
        doc="Slices of `a` along `axis` at `indices`: its axes replace that axis. Indices out of range "
        "take the nearer end by default; fractions are cut off.",
        samples=(
            Sample(((3, 4, 5), (4,)), values={1: [0, 2, 2, 1]}, nograd=(1,)),
            Sample(((3, 4), (2, 3)), {"axis": -1}, values={1: [[0, 3, 1], [1, 1, 2]]}, nograd=(1,)),
            Sample(((3, 2), (4,)), {"mode": "wrap"}, values={1: [-1, 3, 10, -5]}, nograd=(1,)),
            Sample(((3, 2), (3,)), values={1: [-1, 3, 10]}, nograd=(1,)),
            Sample(((1,), (1,)), values={1: [0]}, nograd=(1,)),
            Sample(((3, 0), (2,)), values={1: [0, 1]}, nograd=(1,)),
            Sample(((3, 2), (2,)), {"mode": "raise"}, values={1: [0, 3]}, error="MXNetError"),
            Sample(((3, 2), (2,)), {"axis": 2}, error="MXNetError"),
        ),
    ),
    OpDef(
        "_backward_take",
        _backward_take,
        inputs=("head", "indices", "data"),
        attrs=_TAKE,
        infer_shape=_infer_like_third,
        infer_dtype=scatter_dtype,
        grad=_grad_backward_take,
        doc="The gradient of `take`: the slices of `head` added up at `indices`, in the shape of `data`.",
        samples=(Sample(((2, 3), (3,), (2, 4)), {"axis": 1}, values={1: [0, 3, 3]}, nograd=(1, 2)),),
    ),
    OpDef(
        "pick",
        _pick,
        inputs=("data", "index"),
        attrs=_PICK,
        infer_shape=_infer_pick,
        infer_dtype=first_dtype,
        grad=_grad_pick,
        aliases=("choose_element_0index", "_npx_pick"),
        methods=("pick",),
        doc="One element along `axis` for each place of the other axes: `out[i] = data[i, index[i]]` for a matrix.",
        samples=(
            Sample(((3, 4), (3,)), values={1: [0, 3, 1]}, nograd=(1,)),
            Sample(((3, 4), (3, 1)), {"keepdims": True, "axis": 1}, values={1: [[0], [3], [1]]}, nograd=(1,)),
            Sample(((2, 3, 2), (2, 2)), {"axis": -2, "mode": "wrap"}, values={1: [[-1, 3], [0, 7]]}, nograd=(1,)),
            Sample(((4,), (1,)), {"axis": 0}, values={1: [9]}, nograd=(1,)),
            Sample(((3, 4), (4,)), error="MXNetError"),
            Sample(((0, 4), (0,)), nograd=(1,)),
        ),
    ),
    OpDef(
        "_backward_pick",
        _backward_pick,
        inputs=("head", "index", "data"),
        attrs=_PICK,
        infer_shape=_infer_like_third,
        infer_dtype=scatter_dtype,
        grad=_grad_backward_pick,
        doc="The gradient of `pick`: `head` at the picked places, zeros elsewhere, in the shape of `data`.",
        samples=(Sample(((3,), (3,), (3, 4)), values={1: [0, 3, 1]}, nograd=(1, 2)),),
    ),
    OpDef(
        "batch_take",
        _batch_take,
        inputs=("a", "indices"),
        infer_shape=_infer_batch_take,
        infer_dtype=_batch_take_dtype,
        grad=_grad_batch_take,
        methods=("batch_take",),
        doc="`out[i] = a[i, indices[i]]` of a matrix and int32 indices; `pick` is the general form.",
        samples=(
            Sample(((3, 4), (3,)), dtypes=("float32", "int32"), values={1: [0, 3, 1]}, nograd=(1,)),
            Sample(((1, 1), (1,)), dtypes=("float32", "int32"), nograd=(1,)),
            Sample(((3, 4), (2,)), dtypes=("float32", "int32"), error="MXNetError"),
        ),
    ),
    OpDef(
        "fill_element_0index",
        _fill,
        inputs=("lhs", "mhs", "rhs"),
        infer_shape=_infer_fill,
        infer_dtype=_fill_dtype,
        doc="`lhs` with `lhs[i, rhs[i]]` replaced by `mhs[i]`; indices out of range change nothing.",
        samples=(
            Sample(((3, 4), (3,), (3,)), values={2: [0, 9, 1]}),
            Sample(((1, 1), (1,), (1,)), values={2: [0]}),
            Sample(((3, 4), (2,), (2,)), error="MXNetError"),
        ),
    ),
    OpDef(
        "one_hot",
        _one_hot,
        inputs=("indices",),
        attrs=(
            Attr("depth", "int", doc="number of classes"),
            Attr("on_value", "float", 1.0),
            Attr("off_value", "float", 0.0),
            Attr("dtype", "dtype", "float32", _NUMBERS),
        ),
        infer_shape=_infer_one_hot,
        infer_dtype=attr_dtype(),
        grad=zero_gradient,
        aliases=("_npx_one_hot",),
        methods=("one_hot",),
        doc="`on_value` at the index along a new last axis of extent `depth`, `off_value` elsewhere; an index out of "
        "range gives a row of `off_value`.",
        samples=(
            Sample(((4,),), {"depth": 4}, values={0: [-1, 0, 5, 2]}),
            Sample(((2, 3),), {"depth": 3, "on_value": 2.0, "off_value": -1.0}, low=0, high=3),
            Sample(((1,),), {"depth": 1, "dtype": "int32"}, values={0: [0]}),
            Sample(((0,),), {"depth": 3}),
            Sample(((2,),), {"depth": 2, "dtype": "uint8", "on_value": 300, "off_value": -1}, values={0: [1, 0]}),
            Sample(((2,),), {"depth": -1}, error="MXNetError"),
        ),
    ),
    OpDef(
        "_onehot_encode",
        _onehot_encode,
        inputs=("lhs", "rhs"),
        infer_shape=_infer_onehot_encode,
        infer_dtype=_onehot_encode_dtype,
        grad=zero_gradient,
        doc="A 1 in each row at the index `lhs[i]`, 0 elsewhere, in the shape (n, classes) and dtype of `rhs`.",
        samples=(
            Sample(((3,), (3, 4)), values={0: [0, 3, 9]}),
            Sample(((1,), (1, 1)), values={0: [0]}),
            Sample(((0,), (0, 4))),
            Sample(((2,), (3, 4)), error="MXNetError"),
        ),
    ),
)
