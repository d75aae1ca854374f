"""Operators that address elements by index tuples or masks: gather_nd, scatter_nd, boolean_mask, index_copy, ravel."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.gathering import positions_of_tuples, to_integers
from autohybrid.tensor.opdef import Dtypes, GradNode, OpDef, Sample, Shape, Shapes, zero_gradient
from autohybrid.tensor.ops.take import scatter_dtype
from autohybrid.tensor.scatter import add_rows
from autohybrid.tensor.shapes import first_dtype, require_known, unify, unify_dtypes

_SHAPE = Attr("shape", "shape", doc="the shape of the whole array")


def _infer_like_third(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    shape = unify(ins[2], outs[0])
    return [ins[0], ins[1], shape], [shape]


def _gathered_shape(whole: tuple[int, ...], index: tuple[int, ...], operator: str) -> tuple[int, ...] | None:
    """The shape of the elements of `whole` at `index`; None while the length of the index tuples is unknown."""
    if len(index) < 2:
        raise MXNetError(f"{operator}: `indices` needs at least 2 dimensions, got shape {index}")
    if index[0] == -1:
        return None
    if index[0] > len(whole):
        raise MXNetError(f"{operator}: index tuples of length {index[0]} are longer than the shape {whole}")
    return index[1:] + whole[index[0] :]


# -- gather_nd -------------------------------------------------------------------------------------------------------
def _infer_gather(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    data, index = ins
    if data is None or index is None:
        return ins, outs
    return ins, [unify(_gathered_shape(data, index, "gather_nd"), outs[0])]


def _gather(xp: Any, attrs: Attrs, data: Any, index: Any) -> Any:
    return data[tuple(to_integers(xp, index))]


def _grad_gather(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    data, index = node.inputs
    return [F._backward_gather_nd(heads[0], index, data), None]


def _backward_gather(xp: Any, attrs: Attrs, head: Any, index: Any, data: Any) -> Any:
    depth = index.shape[0]
    front, behind = data.shape[:depth], data.shape[depth:]
    if not head.size:
        return xp.zeros(data.shape, dtype=head.dtype)
    flat = positions_of_tuples(xp, index, front).reshape(-1)
    return add_rows(xp, prod(front), flat, head.reshape(flat.size, prod(behind))).reshape(data.shape)


def _grad_backward_gather(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    return [F.gather_nd(heads[0], node.inputs[1]), None, None]


# -- scatter_nd, _scatter_set_nd -------------------------------------------------------------------------------------
def _scattered(attrs: Attrs, data: Shape, index: Shape, operator: str) -> Shape:
    """The shape that the values to scatter must have."""
    if index is None:
        return data
    return unify(_gathered_shape(attrs.shape, index, operator), data)


def _infer_scatter(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    # The values' shape is checked but not filled in, as in MXNet.
    _scattered(attrs, ins[0], ins[1], "scatter_nd")
    return ins, [unify(attrs.shape, outs[0])]


def _scatter(xp: Any, attrs: Attrs, data: Any, index: Any) -> Any:
    result = xp.zeros(attrs.shape, dtype=data.dtype)
    result[tuple(to_integers(xp, index))] = data
    return result


def _grad_scatter(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    return [F.gather_nd(heads[0], node.inputs[1]), None]


def _infer_scatter_set(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    whole = unify(unify(ins[0], outs[0]), attrs.shape)
    return [whole, _scattered(attrs, ins[1], ins[2], "_scatter_set_nd"), ins[2]], [whole]


def _scatter_set_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    dtype = unify_dtypes([ins[0], ins[1], outs[0]])
    return [dtype, dtype, ins[2]], [dtype]


def _scatter_set(xp: Any, attrs: Attrs, data: Any, values: Any, index: Any) -> Any:
    result = data.copy()
    result[tuple(to_integers(xp, index))] = values
    return result


def _grad_scatter_set(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    _, values, index = node.inputs
    erased = F._scatter_set_nd(heads[0], F.zeros_like(values), index, shape=node.attrs.shape)
    return [erased, F.gather_nd(heads[0], index), None]


# -- boolean_mask ----------------------------------------------------------------------------------------------------
def _infer_mask(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    data, mask = ins
    if attrs.axis != 0:
        raise MXNetError(f"boolean_mask selects along axis 0 only, got `axis` {attrs.axis}; move the axis first")
    if data is None:
        return ins, outs
    mask = unify(mask, data[:1])
    return [data, mask], [unify((-1, *data[1:]), outs[0])]


def _mask(xp: Any, attrs: Attrs, data: Any, mask: Any) -> Any:
    return data[mask != 0]


def _grad_mask(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    data, mask = node.inputs
    return [F._backward_boolean_mask(heads[0], mask, data), None]


def _backward_mask(xp: Any, attrs: Attrs, head: Any, mask: Any, data: Any) -> Any:
    result = xp.zeros(data.shape, dtype=head.dtype)
    result[mask != 0] = head
    return result


def _grad_backward_mask(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    return [F._contrib_boolean_mask(heads[0], node.inputs[1]), None, None]


# -- index_copy ------------------------------------------------------------------------------------------------------
def _infer_index_copy(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    old, index, new = ins
    if old is not None:
        require_known(("index_vector", "new_tensor"), (index, new))
    old = unify(old, outs[0])
    if index is not None:
        index = unify(index, (-1,))
    if old is not None:
        rows = -1 if index is None else index[0]
        new = unify(new, (rows, *old[1:]))
    return [old, index, new], [old]


def _index_copy_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    dtype = unify_dtypes([ins[0], ins[2], outs[0]])
    return [dtype, ins[1], dtype], [dtype]


def _index_copy(xp: Any, attrs: Attrs, old: Any, index: Any, new: Any) -> Any:
    result = old.copy()
    result[to_integers(xp, index)] = new
    return result


def _grad_index_copy(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    _, index, new = node.inputs
    return [
        F._contrib_index_copy(heads[0], index, F.zeros_like(new)),
        None,
        F.take(heads[0], index, axis=0),
    ]


# -- ravel_multi_index, unravel_index --------------------------------------------------------------------------------
def _index_space(attrs: Attrs) -> tuple[int, ...]:
    if not attrs.shape:
        raise MXNetError("`shape` must have at least one extent")
    return attrs.shape  # type: ignore[no-any-return]


def _infer_ravel(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    index = unify(ins[0], (len(_index_space(attrs)), -1))
    assert index is not None
    flat = unify(outs[0], (index[1],))
    return [(index[0], *(flat or ()))], [flat]


def _ravel(xp: Any, attrs: Attrs, index: Any) -> Any:
    whole = to_integers(xp, index)
    flat = whole[0]
    for row, extent in zip(whole[1:], attrs.shape[1:]):
        flat = flat * extent + row
    return flat.astype(index.dtype)


def _infer_unravel(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    depth = len(_index_space(attrs))
    return ins, [unify(outs[0], None if ins[0] is None else (depth, *ins[0]))]


def _unravel(xp: Any, attrs: Attrs, flat: Any) -> Any:
    rest, rows = to_integers(xp, flat), []
    for extent in attrs.shape[:0:-1]:
        whole = xp.where(rest < 0, -(-rest // extent), rest // extent)  # cut towards 0, as C does
        rows.append(rest - whole * extent)
        rest = whole
    return xp.stack([rest, *rows[::-1]]).astype(flat.dtype)


_TUPLES = [[0, 2, 2], [1, 0, 0]]

OPERATORS: tuple[OpDef, ...] = (
    OpDef(
        "gather_nd",
        _gather,
        inputs=("data", "indices"),
        infer_shape=_infer_gather,
        infer_dtype=first_dtype,
        grad=_grad_gather,
        aliases=("_npi_gather_nd", "_npx_gather_nd"),
        doc="The elements (or slices) of `data` at the index tuples `indices[:, k]`: shape indices.shape[1:] + "
        "data.shape[indices.shape[0]:]. Negative indices count from the end.",
        samples=(
            Sample(((3, 4), (2, 3)), values={1: _TUPLES}, nograd=(1,)),
            Sample(((3, 2, 2), (1, 2, 2)), values={1: [[[0, 2], [1, -1]]]}, nograd=(1,)),
            Sample(((1,), (1, 1)), values={1: [[0]]}, nograd=(1,)),
            Sample(((3, 0), (1, 2)), values={1: [[0, 1]]}, nograd=(1,)),
            Sample(((3, 4), (2, 1)), values={1: [[0], [4]]}, error="MXNetError"),
            Sample(((3, 4), (3, 2)), error="MXNetError"),
        ),
    ),
    OpDef(
        "_backward_gather_nd",
        _backward_gather,
        inputs=("head", "indices", "data"),
        infer_shape=_infer_like_third,
        infer_dtype=scatter_dtype,
        grad=_grad_backward_gather,
        doc="The gradient of `gather_nd`: `head` added up at the index tuples, in the shape of `data`.",
        samples=(Sample(((3,), (2, 3), (3, 4)), values={1: _TUPLES}, nograd=(1, 2)),),
    ),
    OpDef(
        "scatter_nd",
        _scatter,
        inputs=("data", "indices"),
        attrs=(_SHAPE,),
        infer_shape=_infer_scatter,
        infer_dtype=first_dtype,
        grad=_grad_scatter,
        doc="An array of `shape`, zero but for the values `data` at the index tuples `indices[:, k]`. Of values "
        "for one place the last stays.",
        samples=(
            Sample(((3,), (2, 3)), {"shape": (3, 4)}, values={1: [[0, 1, 2], [2, 0, 1]]}, nograd=(1,)),
            Sample(((2, 4), (1, 2)), {"shape": (3, 4)}, values={1: [[1, 0]]}, nograd=(1,)),
            Sample(((1,), (1, 1)), {"shape": (1,)}, values={1: [[0]]}, nograd=(1,)),
            Sample(((3,), (2, 2)), {"shape": (3, 4)}, error="MXNetError"),
        ),
    ),
    OpDef(
        "_scatter_set_nd",
        _scatter_set,
        inputs=("lhs", "rhs", "indices"),
        attrs=(_SHAPE,),
        infer_shape=_infer_scatter_set,
        infer_dtype=_scatter_set_dtype,
        grad=_grad_scatter_set,
        aliases=("_npi_scatter_set_nd",),
        doc="`lhs` with the values `rhs` put at the index tuples `indices[:, k]`.",
        samples=(
            Sample(((3, 4), (3,), (2, 3)), {"shape": (3, 4)}, values={2: [[0, 1, 2], [2, 0, 1]]}, nograd=(2,)),
            Sample(((3, 4), (2, 4), (1, 2)), {"shape": (3, 4)}, values={2: [[1, 0]]}, nograd=(2,)),
        ),
    ),
    OpDef(
        "_contrib_boolean_mask",
        _mask,
        inputs=("data", "index"),
        attrs=(Attr("axis", "int", 0, doc="only 0"),),
        infer_shape=_infer_mask,
        infer_dtype=first_dtype,
        grad=_grad_mask,
        aliases=("_npi_boolean_mask",),
        doc="The slices of `data` along its first axis where `index` is not 0. Their number is known only when run.",
        samples=(
            Sample(((4, 3), (4,)), values={1: [1, 0, 1, 0]}, nograd=(1,)),
            Sample(((2,), (2,)), values={1: [0, 0]}, nograd=(1,)),
            Sample(((4, 3), (3,)), error="MXNetError"),
            Sample(((4, 3), (3,)), {"axis": 1}, error="MXNetError"),
        ),
    ),
    OpDef(
        "_backward_boolean_mask",
        _backward_mask,
        inputs=("head", "index", "data"),
        infer_shape=_infer_like_third,
        infer_dtype=scatter_dtype,
        grad=_grad_backward_mask,
        doc="The gradient of `boolean_mask`: the slices of `head` where `index` is not 0, zeros elsewhere.",
        samples=(Sample(((2, 3), (4,), (4, 3)), values={1: [1, 0, 1, 0]}, nograd=(1, 2)),),
    ),
    OpDef(
        "_contrib_index_copy",
        _index_copy,
        inputs=("old_tensor", "index_vector", "new_tensor"),
        infer_shape=_infer_index_copy,
        infer_dtype=_index_copy_dtype,
        grad=_grad_index_copy,
        doc="`old_tensor` with its slices at `index_vector` along the first axis replaced by those of `new_tensor`.",
        samples=(
            Sample(((3, 2), (2,), (2, 2)), values={1: [1, 0]}, nograd=(1,)),
            Sample(((1,), (1,), (1,)), values={1: [0]}, nograd=(1,)),
            Sample(((3, 2), (2,), (1, 2)), values={1: [1, 1]}, error="MXNetError"),
        ),
    ),
    OpDef(
        "_ravel_multi_index",
        _ravel,
        attrs=(_SHAPE,),
        infer_shape=_infer_ravel,
        grad=zero_gradient,
        aliases=("ravel_multi_index",),
        doc="The flat positions in an array of `shape` of the index tuples `data[:, k]`; the first extent is not read.",
        samples=(
            Sample(((2, 3),), {"shape": (3, 4)}, values={0: [[0, 1, 2], [3, 0, 1]]}),
            Sample(((2, 3),), {"shape": (-1, 4)}, values={0: [[0, 1, 2], [3, 0, 1]]}, dtypes=("int32",)),
            Sample(((2, 3),), {"shape": (3, 4, 5)}, error="MXNetError"),
        ),
    ),
    OpDef(
        "_unravel_index",
        _unravel,
        attrs=(_SHAPE,),
        infer_shape=_infer_unravel,
        grad=zero_gradient,
        aliases=("unravel_index",),
        doc="The index tuples, along a new first axis, of the flat positions `data` in an array of `shape`.",
        samples=(
            Sample(((3,),), {"shape": (3, 4)}, values={0: [3, 4, 9]}),
            Sample(((1, 2),), {"shape": (-1, 4)}, values={0: [[3, 4]]}, dtypes=("int64",)),
            Sample(((2,),), {"shape": ()}, error="MXNetError"),
        ),
    ),
)
