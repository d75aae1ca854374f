"""What operators do with sparse arrays: a table of rules for those with a sparse form, dense copies for the rest.

A rule is `rule(op, attrs, inputs) -> NDArray | None`, None where these storage types have no sparse form. Which calls
give which storage type follows MXNet 1.9.1; like it, all others compute on dense copies and give a dense array.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor import imperative
from autohybrid.tensor.array import NDArray, wrap
from autohybrid.tensor.attrs import Attrs
from autohybrid.tensor.backend import array_namespace
from autohybrid.tensor.opdef import OpDef
from autohybrid.tensor.scatter import add_rows
from autohybrid.tensor.sparse_array import BaseSparseNDArray, CSRNDArray, RowSparseNDArray, compress
from autohybrid.tensor.tape import TapeNode, state

Rule = Callable[[OpDef, Attrs, Sequence[NDArray]], "NDArray | None"]


def invoke_sparse(op: OpDef, attrs: Attrs, inputs: Sequence[NDArray], out: Any) -> Any:
    """Run `op` where an input (or, for `cast_storage`, the output) is sparse; see `imperative.invoke`."""
    if _is_lazy_update(op, attrs, inputs):
        return _update_rows(op, attrs, inputs, out)
    rule = RULES.get(op.name)
    made = None if rule is None else rule(op, attrs, inputs)
    if made is None:
        return _on_dense_copies(op, attrs, inputs, out)
    if state.recording and any(x._entry is not None for x in inputs):
        made._entry = (TapeNode(op.name, op.grad, attrs, inputs, (made._data,), state.training), 0)
    if out is None:
        return made
    if isinstance(out, type(made)):
        made.copyto(out)
    else:
        out._store(made._data)
    return out


def _densified(array: NDArray) -> NDArray:
    if not isinstance(array, BaseSparseNDArray):
        return array
    dense = wrap(array._dense(), array._ctx)
    dense._entry = array._entry
    return dense


def _on_dense_copies(op: OpDef, attrs: Attrs, inputs: Sequence[NDArray], out: Any) -> Any:
    dense = [_densified(x) for x in inputs]
    result = imperative.invoke(op, attrs, dense, out)
    names = op.input_names(attrs)
    for name in op.mutated_names(attrs):
        position = names.index(name)
        if inputs[position] is not dense[position]:
            inputs[position]._store(dense[position]._data)
    return result


# -- element by element ----------------------------------------------------------------------------------------------
def _keeps_zero(op: OpDef, attrs: Attrs, array: NDArray) -> bool:
    """Whether the operator maps 0 to 0."""
    xp = array_namespace(array._values)
    zero = xp.zeros(1, dtype=array.dtype)
    return bool(imperative.run_kernel(op, attrs, xp, [zero], False, array._ctx)[0][0] == 0)


def _on_values(op: OpDef, attrs: Attrs, inputs: Sequence[NDArray]) -> NDArray | None:
    """Unary operators that keep 0 work on the stored values alone."""
    array = inputs[0]
    if not isinstance(array, BaseSparseNDArray) or not _keeps_zero(op, attrs, array):
        return None
    xp = array_namespace(array._values)
    return array._like(imperative.run_kernel(op, attrs, xp, [array._values], False, array._ctx)[0])


def _zeros_like(op: OpDef, attrs: Attrs, inputs: Sequence[NDArray]) -> NDArray:
    from autohybrid.tensor.sparse import zeros

    return zeros(inputs[0].stype, inputs[0].shape, inputs[0]._ctx, inputs[0].dtype)


def _same_storage(op: OpDef, attrs: Attrs, inputs: Sequence[NDArray]) -> NDArray | None:
    """Sums, differences and products of arrays of one sparse storage type have that type."""
    stype = inputs[0].stype
    if stype == "default" or any(x.stype != stype for x in inputs):
        return None
    if stype == "csr" and op.name == "add_n":
        return None
    return _compressed(op, attrs, inputs, stype)


def _compressed(op: OpDef, attrs: Attrs, inputs: Sequence[NDArray], stype: str) -> NDArray:
    recording, state.recording = state.recording, False  # the sparse call itself is recorded, not this one
    try:
        return compress(_on_dense_copies(op, attrs, inputs, None), stype)
    finally:
        state.recording = recording


def _product(op: OpDef, attrs: Attrs, inputs: Sequence[NDArray]) -> NDArray | None:
    """sparse * dense has the storage type of the sparse factor."""
    stypes = {x.stype for x in inputs} - {"default"}
    return _compressed(op, attrs, inputs, stypes.pop()) if len(stypes) == 1 else None


def _csr_by_dense(op: OpDef, attrs: Attrs, inputs: Sequence[NDArray]) -> NDArray | None:
    """csr * vector and csr / vector, broadcast, keep the pattern of the csr matrix."""
    lhs, rhs = inputs
    if not isinstance(lhs, CSRNDArray) or rhs.stype != "default" or lhs.shape == rhs.shape:
        return None
    xp = array_namespace(lhs._values)
    imperative.check_inputs(op, attrs, [lhs._data, rhs._data])
    if len(rhs.shape) > 2 or any(e not in (1, s) for e, s in zip(rhs.shape[::-1], lhs.shape[::-1])):
        return None
    factors = xp.broadcast_to(rhs._data, lhs.shape)[lhs.row_numbers(), lhs._aux[1]]
    return lhs._like(imperative.run_kernel(op, attrs, xp, [lhs._values, factors], False, lhs._ctx)[0])


# -- matrices and rows -----------------------------------------------------------------------------------------------
def _dot(op: OpDef, attrs: Attrs, inputs: Sequence[NDArray]) -> NDArray | None:
    lhs, rhs = inputs
    if isinstance(lhs, CSRNDArray) and rhs.stype in ("default", "row_sparse") and not attrs.transpose_b:
        return _csr_dot(attrs, lhs, rhs)
    if lhs.stype == "default" and isinstance(rhs, CSRNDArray) and attrs.forward_stype != "default":
        return _compressed(op, attrs, inputs, "csr")
    return None


def _csr_dot(attrs: Attrs, lhs: CSRNDArray, rhs: NDArray) -> NDArray:
    if rhs.ndim != 2:
        raise MXNetError(f"operator dot: a csr matrix is multiplied by matrices only, `rhs` has shape {rhs.shape}")
    inner, outer = (lhs.shape[0], lhs.shape[1]) if attrs.transpose_a else (lhs.shape[1], lhs.shape[0])
    if rhs.shape[0] != inner:
        raise MXNetError(
            f"operator dot: `lhs` {lhs.shape}{' transposed' if attrs.transpose_a else ''} and `rhs` {rhs.shape} do not "
            f"fit: {inner} against {rhs.shape[0]}"
        )
    xp = array_namespace(lhs._values)
    rows, columns = lhs.row_numbers(), lhs._aux[1]
    target, source = (columns, rows) if attrs.transpose_a else (rows, columns)
    parts = lhs._values[:, None] * rhs._data[source]
    if not attrs.transpose_a or attrs.forward_stype == "default":
        return wrap(add_rows(xp, outer, target, parts), lhs._ctx)
    present, place = xp.unique(target, return_inverse=True)
    values = add_rows(xp, int(present.size), place.reshape(-1), parts)
    return RowSparseNDArray._make((outer, rhs.shape[1]), values, (present,), lhs._ctx)


def _concat(op: OpDef, attrs: Attrs, inputs: Sequence[NDArray]) -> NDArray | None:
    if attrs.dim not in (0, -2) or not all(isinstance(x, CSRNDArray) for x in inputs):
        return None
    return _compressed(op, attrs, inputs, "csr")


def _slice(op: OpDef, attrs: Attrs, inputs: Sequence[NDArray]) -> NDArray | None:
    if not isinstance(inputs[0], CSRNDArray) or any(step not in (None, 1) for step in attrs.step):
        return None
    return _compressed(op, attrs, inputs, "csr")


def _take(op: OpDef, attrs: Attrs, inputs: Sequence[NDArray]) -> NDArray | None:
    array, index = inputs
    if not isinstance(array, CSRNDArray) or attrs.axis not in (0, -2) or index.ndim != 1:
        return None
    return _compressed(op, attrs, inputs, "csr")


def _on_stored(op: OpDef, attrs: Attrs, inputs: Sequence[NDArray]) -> NDArray | None:
    """`_scatter_*` operators work on the stored part of a sparse array alone."""
    array = inputs[0]
    if not isinstance(array, BaseSparseNDArray):
        return None
    xp = array_namespace(array._values)
    place = (array.row_numbers(), array._aux[1]) if isinstance(array, CSRNDArray) else array._aux[0]
    others = [x._data[place] for x in inputs[1:]]
    return array._like(imperative.run_kernel(op, attrs, xp, [array._values, *others], False, array._ctx)[0])


def _square_sum(op: OpDef, attrs: Attrs, inputs: Sequence[NDArray]) -> NDArray | None:
    """Of a row_sparse matrix; sums of rows that are kept as a column are row_sparse again."""
    array = inputs[0]
    if not isinstance(array, RowSparseNDArray) or array.ndim != 2 or attrs.axis not in ((0,), (1,), (-1,)):
        return None
    squares = array._values * array._values
    if attrs.axis == (0,):
        return wrap(squares.sum(axis=0, keepdims=attrs.keepdims), array._ctx)
    sums = RowSparseNDArray._make(
        (array.shape[0], 1), squares.sum(axis=1, keepdims=True), array._aux, array._ctx, array._trusted
    )
    return sums if attrs.keepdims else wrap(sums._dense()[:, 0], array._ctx)


def _quadratic(op: OpDef, attrs: Attrs, inputs: Sequence[NDArray]) -> NDArray | None:
    return _on_values(op, attrs, inputs) if isinstance(inputs[0], CSRNDArray) else None


def _cast_storage(op: OpDef, attrs: Attrs, inputs: Sequence[NDArray]) -> NDArray | None:
    (array,) = inputs
    if array.stype == attrs.stype or attrs.stype == "default":
        return array.copy() if isinstance(array, BaseSparseNDArray) and attrs.stype != "default" else _plain(array)
    if array.stype != "default":
        raise MXNetError(f"operator cast_storage: from {array.stype} to {attrs.stype} goes through 'default' only")
    if attrs.stype == "csr" and array.ndim != 2:
        raise MXNetError(f"operator cast_storage: only a matrix can be csr, `data` has shape {array.shape}")
    return compress(array, attrs.stype)


def _plain(array: NDArray) -> NDArray:
    return wrap(array._dense() if isinstance(array, BaseSparseNDArray) else array._data.copy(), array._ctx)


def _retain(op: OpDef, attrs: Attrs, inputs: Sequence[NDArray]) -> NDArray | None:
    array, wanted = inputs
    if not isinstance(array, RowSparseNDArray):
        raise MXNetError(f"operator _sparse_retain: `data` must be row_sparse, it is {array.stype}")
    xp = array_namespace(array._values)
    rows = xp.unique(wanted._data.reshape(-1).astype("int64"))
    if rows.size and not 0 <= int(rows[0]) <= int(rows[-1]) < array.shape[0]:
        raise MXNetError(f"operator _sparse_retain: `indices` must lie between 0 and {array.shape[0] - 1}")
    return RowSparseNDArray._make(array.shape, array._dense()[rows], (rows,), array._ctx)


def _count_stored(op: OpDef, attrs: Attrs, inputs: Sequence[NDArray]) -> NDArray | None:
    (array,) = inputs
    if not isinstance(array, CSRNDArray) or attrs.axis not in (None, 1):
        return None
    xp = array_namespace(array._values)
    if attrs.axis is None:
        return wrap(xp.asarray([array._values.size], dtype="int64"), array._ctx)
    return wrap(array._aux[0][1:] - array._aux[0][:-1], array._ctx)


def _edge_id(op: OpDef, attrs: Attrs, inputs: Sequence[NDArray]) -> NDArray | None:
    """What is stored counts as an edge, zeros too."""
    array = inputs[0]
    if not isinstance(array, CSRNDArray):
        return None
    xp, width = array_namespace(array._values), array.shape[1]
    imperative.check_inputs(op, attrs, [array._dense(), *(x._data for x in inputs[1:])])
    starts, ends = (_densified(x)._data.astype("int64") for x in inputs[1:])
    places = array.row_numbers() * width + array._aux[1]
    order = xp.argsort(places, kind="stable")
    # A place behind the last one, so that every search ends at one.
    places = xp.concatenate([places[order], xp.full(1, -1, dtype="int64")])
    values = xp.concatenate([array._values[order], xp.full(1, -1, dtype=array._values.dtype)])
    inside = (ends >= 0) & (ends < width)
    wanted = xp.where(inside, starts * width + ends, -2)
    positions = xp.searchsorted(places[:-1], wanted)
    return wrap(xp.where(places[positions] == wanted, values[positions], values[-1:]), array._ctx)


def _adjacency(op: OpDef, attrs: Attrs, inputs: Sequence[NDArray]) -> NDArray | None:
    (array,) = inputs
    if not isinstance(array, CSRNDArray):
        return None
    return array._like(array_namespace(array._values).ones(array._values.shape, dtype="float32"))


# -- optimizers ------------------------------------------------------------------------------------------------------
_LAZY = frozenset(
    ("sgd_update", "sgd_mom_update", "adam_update", "ftrl_update", "_sparse_adagrad_update",
     "_contrib_group_adagrad_update")
)  # fmt: skip


def _is_lazy_update(op: OpDef, attrs: Attrs, inputs: Sequence[NDArray]) -> bool:
    """Updates by a row_sparse gradient touch the rows that it has, and no others."""
    return op.name in _LAZY and inputs[1].stype == "row_sparse" and getattr(attrs, "lazy_update", True)


def _update_rows(op: OpDef, attrs: Attrs, inputs: Sequence[NDArray], out: Any) -> Any:
    gradient = inputs[1]
    assert isinstance(gradient, RowSparseNDArray)
    rows = gradient._aux[0]
    full = [x._data.copy() for x in inputs]
    parts = [gradient._values if x is gradient else whole[rows] for x, whole in zip(inputs, full)]
    xp = array_namespace(gradient._values)
    results = imperative.run_kernel(op, attrs, xp, parts, state.training, inputs[0]._ctx)
    outputs, changes = imperative.split_mutations(op, attrs, results)
    for position, value in changes:
        full[position][rows] = value
        inputs[position]._store(full[position])
    weight = full[0]
    weight[rows] = outputs[0]
    if out is None:
        return wrap(weight, inputs[0]._ctx)
    out._store(weight)
    return out


def _refuse_dense_gradient(op: OpDef, attrs: Attrs, inputs: Sequence[NDArray]) -> NDArray | None:
    raise MXNetError(f"operator {op.name}: `grad` must be row_sparse, it is {inputs[1].stype}; convert with `tostype`")


_UNARY = (
    "abs", "sign", "ceil", "floor", "trunc", "fix", "rint", "round", "square", "sqrt", "cbrt", "relu", "negative",
    "sin", "tan", "sinh", "tanh", "arcsin", "arctan", "arcsinh", "arctanh", "degrees", "radians", "expm1", "log1p",
    "clip", "_copy", "BlockGrad", "make_loss", "_contrib_round_ste", "_contrib_sign_ste", "_mul_scalar", "_div_scalar",
    "_equal_scalar", "_not_equal_scalar", "_greater_scalar", "_greater_equal_scalar", "_lesser_scalar",
    "_lesser_equal_scalar",
)  # fmt: skip
RULES: dict[str, Rule] = {
    **dict.fromkeys(_UNARY, _on_values),
    "zeros_like": _zeros_like,
    "elemwise_add": _same_storage,
    "elemwise_sub": _same_storage,
    "add_n": _same_storage,
    "_maximum": _same_storage,
    "_minimum": _same_storage,
    "_hypot": _same_storage,
    "elemwise_mul": _product,
    "broadcast_mul": _csr_by_dense,
    "broadcast_div": _csr_by_dense,
    "dot": _dot,
    "Concat": _concat,
    "slice": _slice,
    "take": _take,
    "_scatter_elemwise_div": _on_stored,
    "_scatter_plus_scalar": _on_stored,
    "_scatter_minus_scalar": _on_stored,
    "_contrib_quadratic": _quadratic,
    "_square_sum": _square_sum,
    "_sparse_adagrad_update": _refuse_dense_gradient,
    "cast_storage": _cast_storage,
    "_sparse_retain": _retain,
    "_contrib_getnnz": _count_stored,
    "_contrib_edge_id": _edge_id,
    "_contrib_dgl_adjacency": _adjacency,
}
