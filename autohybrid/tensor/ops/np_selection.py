"""Operators of `mx.np` that choose elements or find them: where, unique, nonzero, insert, delete, bincount, percentile,
average, polyval, boolean masks, share_memory, constraint_check."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import Dtypes, GradNode, OpDef, Sample, Shape, Shapes, zero_gradient
from autohybrid.tensor.ops.np_reductions import infer_reduced, reduced_axes
from autohybrid.tensor.shapes import broadcast, fixed_dtype, normalize_axis, unify


# -- where -----------------------------------------------------------------------------------------------------------
def _chosen_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    known = next((d for d in (*ins[1:], *outs) if d is not None), None)
    for dtype in ins[1:]:
        if dtype is not None and dtype != known:
            raise MXNetError(f"the dtypes {known} and {dtype} differ, and are not promoted here; convert one")
    return [ins[0], *[known] * (len(ins) - 1)], [known]


def _truth(condition: Any) -> Any:
    return condition if condition.dtype.kind == "b" else condition != 0


def _where(xp: Any, attrs: Attrs, condition: Any, x: Any, y: Any) -> Any:
    return xp.asarray(xp.where(_truth(condition), x, y))


def _number_or_array(xp: Any, attrs: Attrs, condition: Any, x: Any) -> Any:
    return xp.asarray(xp.where(_truth(condition), xp.asarray(attrs.scalar).astype(x.dtype), x))


def _array_or_number(xp: Any, attrs: Attrs, condition: Any, y: Any) -> Any:
    return xp.asarray(xp.where(_truth(condition), y, xp.asarray(attrs.scalar).astype(y.dtype)))


def _where_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    condition, x, y = node.inputs
    none = F.zeros_like(heads[0])
    return [
        None,
        F._unbroadcast(F._npi_where(condition, heads[0], none), x) if node.needs(1) else None,
        F._unbroadcast(F._npi_where(condition, none, heads[0]), y) if node.needs(2) else None,
    ]


def _where_number_gradient(chosen: bool) -> Callable[..., Any]:
    def gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
        condition, x = node.inputs
        none = F.zeros_like(heads[0])
        part = F._npi_where(condition, heads[0], none) if chosen else F._npi_where(condition, none, heads[0])
        return [None, F._unbroadcast(part, x)]

    return gradient


# -- counting and ordering -------------------------------------------------------------------------------------------
def _by_values(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    """Shapes that only the values decide."""
    return ins, outs


def _unique_names(attrs: Attrs) -> tuple[str, ...]:
    count = 1 + attrs.return_index + attrs.return_inverse + attrs.return_counts
    return tuple(f"output{i}" for i in range(count)) if count > 1 else ("output",)


def _unique(xp: Any, attrs: Attrs, data: Any) -> Any:
    if data.ndim == 0:
        data = data.reshape(1)
    found = xp.unique(
        data, return_index=attrs.return_index, return_inverse=attrs.return_inverse, return_counts=attrs.return_counts,
        axis=attrs.axis,
    )  # fmt: skip
    if not isinstance(found, tuple):
        return found
    return (found[0], *[part.reshape(-1).astype("int64") for part in found[1:]])


def _unique_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    return ins, [ins[0], *["int64"] * (len(outs) - 1)]


def _nonzero(xp: Any, attrs: Attrs, x: Any) -> Any:
    if x.ndim == 0:
        x = x.reshape(1)
    return xp.stack(xp.nonzero(x), axis=-1).astype("int64")


def _bincount(xp: Any, attrs: Attrs, data: Any, *weights: Any) -> Any:
    if data.ndim != 1 or data.dtype.kind not in "iu":
        raise MXNetError(f"`bincount` counts a vector of integers, got {data.ndim} axes of {data.dtype}")
    if weights:
        return xp.bincount(data, weights=weights[0], minlength=attrs.minlength).astype(weights[0].dtype)
    return xp.bincount(data, minlength=attrs.minlength).astype(data.dtype)


def _bincount_inputs(attrs: Attrs) -> tuple[str, ...]:
    return ("data", "weights") if attrs.has_weights else ("data",)


def _bincount_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    return ins, [ins[-1]]


# -- percentile, average, polyval --------------------------------------------------------------------------------------
_INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


def _percentile_inputs(attrs: Attrs) -> tuple[str, ...]:
    return ("a", "q") if attrs.q_scalar is None else ("a",)


def _infer_percentile(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    a = ins[0]
    q: Shape = ins[1] if len(ins) > 1 else ()
    if a is None or q is None:
        return ins, outs
    _, (rest,) = infer_reduced(attrs, [a], [None])
    assert rest is not None
    return ins, [unify((*q, *rest), outs[0])]


def _percentile(xp: Any, attrs: Attrs, a: Any, *q: Any) -> Any:
    dtype = a.dtype if a.dtype.kind == "f" else "float32"
    where = q[0].astype("float64") if q else attrs.q_scalar
    found = xp.percentile(
        a.astype("float64"), where, axis=reduced_axes(attrs.axis, a.ndim), method=attrs.interpolation,
        keepdims=attrs.keepdims,
    )  # fmt: skip
    return xp.asarray(found).astype(dtype)


def _float_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    dtype = ins[0]
    return ins, [dtype if dtype is None or dtype.startswith("float") else "float32"]


def _average_inputs(attrs: Attrs) -> tuple[str, ...]:
    return ("a", "weights") if attrs.weighted else ("a",)


def _average_names(attrs: Attrs) -> tuple[str, ...]:
    return ("output0", "output1")


def _infer_average(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    a = ins[0]
    if a is None:
        return ins, outs
    weights = ins[1] if attrs.weighted else a
    if weights is None:
        raise MXNetError("the shape of `weights` must be known, it does not follow from that of `a`")
    axes = reduced_axes(attrs.axis, len(a))
    if weights != a and (len(weights) != 1 or len(axes) != 1 or weights[0] != a[axes[0]]):
        raise MXNetError(f"`weights` of shape {weights} fit neither {a} nor its axis {attrs.axis}")
    rest = tuple(n for i, n in enumerate(a) if i not in axes)
    return ins, [unify(rest, outs[0]), unify(rest, outs[1])]


def _average(xp: Any, attrs: Attrs, a: Any, *weights: Any) -> tuple[Any, Any]:
    axes = reduced_axes(attrs.axis, a.ndim)
    dtype = a.dtype if a.dtype.kind == "f" else xp.dtype("float32")
    spread = _spread_weights(xp, a, axes, weights[0]) if weights else xp.ones((1,) * a.ndim, dtype=dtype)
    total = xp.broadcast_to(spread, a.shape).sum(axis=axes, dtype=dtype)
    result = (a * spread).sum(axis=axes, dtype=dtype) / total
    return xp.asarray(result).astype(dtype, copy=False), xp.asarray(total).astype(dtype, copy=False)


def _spread_weights(xp: Any, a: Any, axes: tuple[int, ...], weights: Any) -> Any:
    if weights.shape == a.shape:
        return weights
    return weights.reshape([a.shape[axes[0]] if i == axes[0] else 1 for i in range(a.ndim)])


def _average_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    a, axis = node.inputs[0], node.attrs.axis
    value, total = node.outputs
    if not node.attrs.weighted:
        return F._spread_axes(heads[0], a, axis=axis, average=True)
    weights = node.inputs[1]
    axes = reduced_axes(axis, a.ndim)
    spread = weights
    if weights.ndim != a.ndim:
        spread = F._np_reshape(weights, newshape=tuple(-1 if i == axes[0] else 1 for i in range(a.ndim)))
    head = F._spread_axes(F._npi_true_divide(heads[0], total), a, axis=axis)
    of_total = F._spread_axes(heads[1], a, axis=axis)
    by_weights = F._npi_multiply(head, F._npi_subtract(a, F._spread_axes(value, a, axis=axis))) + of_total
    return [F._npi_multiply(head, spread), F.reshape_like(F._unbroadcast(by_weights, spread), weights)]


def _infer_polyval(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    p, x = ins
    if p is not None and len(p) != 1:
        raise MXNetError(f"the coefficients `p` must be a vector, got shape {p}")
    return ins, [unify(x, outs[0])]


def _polyval(xp: Any, attrs: Attrs, p: Any, x: Any) -> Any:
    value = xp.zeros(x.shape, dtype=x.dtype)
    for coefficient in p:
        value = value * x + coefficient
    return xp.asarray(value)


def _powers(F: Any, x: Any, count: int) -> Any:
    """x to the powers count - 1 down to 0, as a first axis."""
    columns = [F._npi_power_scalar(x, scalar=float(k)) for k in range(count - 1, -1, -1)]
    return F._npi_stack(*columns, axis=0)


def _polyval_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    p, x = node.inputs
    count = p.shape[0]
    by_p = F._npi_multiply(_powers(F, x, count), F.expand_dims(heads[0], axis=0))
    by_p = F._np_sum(by_p, axis=tuple(range(1, x.ndim + 1))) if x.ndim else by_p
    if count < 2:
        return [by_p, F.zeros_like(x)]
    degrees = F._contrib_arange_like(p, start=count - 1, step=-1, axis=0)
    slopes = F.slice(F._npi_multiply(p, degrees), begin=(0,), end=(count - 1,))
    return [by_p, F._npi_multiply(heads[0], F._npi_polyval(slopes, x))]


# -- insert, delete ----------------------------------------------------------------------------------------------------
def _positions(xp: Any, attrs: Attrs, obj: Any, extent: int, most: int) -> Any:
    """The positions that `int_ind`, a slice or an index array name, counted from the front, as a device array.

    Raises MXNetError for one beyond `most`.
    """
    if obj is None and attrs.int_ind is None:
        return xp.arange(*slice(attrs.start, attrs.stop, attrs.step).indices(extent))
    if obj is None:
        found, lowest, highest = xp.asarray([attrs.int_ind]), attrs.int_ind, attrs.int_ind
    else:
        found = xp.nonzero(obj)[0] if obj.dtype.kind == "b" else obj.astype("int64").reshape(-1)
        lowest, highest = (found.min().item(), found.max().item()) if found.size else (0, 0)
    if found.size and (lowest < -extent or highest > most):
        raise MXNetError(f"a position lies outside the {extent} elements along `axis`")
    return xp.where(found < 0, found + extent, found)


def _flat_or_axis(attrs: Attrs, arr: Any) -> tuple[Any, int]:
    if attrs.axis is None:
        return arr.reshape(-1), 0
    return arr, normalize_axis(attrs.axis, arr.ndim)


def _insert(xp: Any, attrs: Attrs, data: Any, *rest: Any) -> Any:
    arr, axis = _flat_or_axis(attrs, data)
    values = xp.asarray(attrs.val) if attrs.val is not None else rest[0]
    obj = rest[-1] if len(rest) > (attrs.val is None) else None
    extent = arr.shape[axis]
    places = _positions(xp, attrs, obj, extent, extent)
    if places.size == 1:  # a block of any thickness goes in at one place
        values = values.reshape((1,) * (arr.ndim - values.ndim) + values.shape)
        if attrs.int_ind is not None:
            values = xp.moveaxis(values, 0, axis)
        places = xp.repeat(places, values.shape[axis])
    order = xp.argsort(places)
    shifted = xp.empty(places.shape, dtype="int64")
    shifted[order] = places[order] + xp.arange(places.size)
    result = xp.empty((*arr.shape[:axis], extent + places.size, *arr.shape[axis + 1 :]), dtype=arr.dtype)
    old = xp.ones(extent + places.size, dtype=bool)
    old[shifted] = False
    front = (slice(None),) * axis
    result[(*front, shifted)] = values.astype(arr.dtype, copy=False)
    result[(*front, old)] = arr
    return result


def _delete(xp: Any, attrs: Attrs, data: Any, *obj: Any) -> Any:
    arr, axis = _flat_or_axis(attrs, data)
    extent = arr.shape[axis]
    kept = xp.ones(extent, dtype=bool)
    kept[_positions(xp, attrs, obj[0] if obj else None, extent, extent - 1)] = False
    return arr[(*(slice(None),) * axis, kept)]


def _has_slice(attrs: Attrs) -> bool:
    return any(bound is not None for bound in (attrs.start, attrs.stop, attrs.step))


_PLACES = (
    Attr("start", "int?", None, doc="where a slice begins"), Attr("stop", "int?", None), Attr("step", "int?", None),
    Attr("int_ind", "int?", None, doc="one position"), Attr("axis", "int?", None, doc="the flattened array by default"),
)  # fmt: skip


def _first_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    return ins, [ins[0]] * len(outs)


def _inserting(name: str, with_positions: bool) -> OpDef:
    def inputs(attrs: Attrs) -> tuple[str, ...]:
        return ("arr", *(("values",) if attrs.val is None else ()), *(("obj",) if with_positions else ()))

    samples = (
        (Sample(((4,), (2,), (2,)), values={2: [1, 3]}, dtypes=("float32", "float32", "int64"), nograd=(0, 1, 2)),)
        if with_positions
        else (Sample(((4,),), {"val": 5.0, "int_ind": 1}, nograd=(0,)),
              Sample(((2, 3), (2, 1)), {"int_ind": 1, "axis": 1}, nograd=(0, 1)))
    )  # fmt: skip
    return OpDef(
        name, _insert, inputs=("arr", "values", "obj") if with_positions else ("arr", "values"), active_inputs=inputs,
        attrs=(Attr("val", "float?", None, doc="a number in the place of `values`"), *_PLACES),
        infer_shape=_by_values, infer_dtype=_first_dtype,
        doc="The array with values put in front of positions along `axis`.", samples=samples,
    )  # fmt: skip


# -- masks -------------------------------------------------------------------------------------------------------------
def _masked_shape(attrs: Attrs, data: tuple[int, ...], mask: tuple[int, ...]) -> None:
    start = attrs.start_axis
    if data[start : start + len(mask)] != mask:
        raise MXNetError(f"a mask of shape {mask} does not fit an array of shape {data} from axis {start} on")


def _infer_masked(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    if ins[0] is not None and ins[1] is not None:
        _masked_shape(attrs, ins[0], ins[1])
    return ins, [unify(ins[0], outs[0])]


def _assign_masked(xp: Any, attrs: Attrs, data: Any, mask: Any, *value: Any) -> Any:
    result = data.copy()
    front = (slice(None),) * attrs.start_axis
    chosen = value[0].astype(data.dtype, copy=False) if value else attrs.value
    result[(*front, _truth(mask))] = chosen
    return result


def _broadcast_mask(mask: Any, node: GradNode, F: Any) -> Any:
    data = node.inputs[0]
    behind = data.ndim - mask.ndim - node.attrs.start_axis
    wide = F._np_reshape(mask, newshape=(*[1] * node.attrs.start_axis, *mask.shape, *[1] * behind))
    return F._npi_broadcast_to(wide, shape=data.shape)


def _kept_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    mask = _broadcast_mask(node.inputs[1], node, F)
    return [F._npi_where(mask, F.zeros_like(heads[0]), heads[0]), None]


def _constraint(xp: Any, attrs: Attrs, condition: Any) -> Any:
    if not condition.all().item():
        raise MXNetError(attrs.msg)
    return xp.asarray(True)


def _share(xp: Any, attrs: Attrs, a: Any, b: Any) -> Any:
    return xp.asarray(bool(xp.may_share_memory(a, b)))


def _scalar(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    return ins, [()]


_TRUTHS = [[1.0, 0.0, 1.0], [0.0, 2.0, 0.0]]

OPERATORS: tuple[OpDef, ...] = (
    OpDef("_npi_where", _where, inputs=("condition", "x", "y"), grad=_where_gradient, infer_shape=broadcast,
          infer_dtype=_chosen_dtype,
          doc="x where `condition` is not 0, else y; all three broadcast together.",
          samples=(Sample(((2, 3), (2, 3), (2, 3)), values={0: _TRUTHS}, nograd=(0,)),
                   Sample(((2, 3), (3,), ()), values={0: _TRUTHS}, nograd=(0,)),
                   Sample(((2, 3), (2, 3), (2, 4)), error="MXNetError"))),
    OpDef("_npi_where_lscalar", _number_or_array, inputs=("condition", "x"), attrs=(Attr("scalar", "float", 0.0),),
          grad=_where_number_gradient(False),
          infer_shape=broadcast,
          infer_dtype=_chosen_dtype, doc="The number where `condition` is not 0, else x.",
          samples=(Sample(((2, 3), (3,)), {"scalar": 0.5}, values={0: _TRUTHS}, nograd=(0,)),)),
    OpDef("_npi_where_rscalar", _array_or_number, inputs=("condition", "y"), attrs=(Attr("scalar", "float", 0.0),),
          grad=_where_number_gradient(True),
          infer_shape=broadcast,
          infer_dtype=_chosen_dtype, doc="y where `condition` is not 0, else the number.",
          samples=(Sample(((2, 3), (3,)), {"scalar": 0.5}, values={0: _TRUTHS}, nograd=(0,)),)),
    OpDef("_npi_where_scalar2",
          lambda xp, attrs, c: xp.where(_truth(c), xp.asarray(attrs.x, "float32"), xp.asarray(attrs.y, "float32")),
          inputs=("condition",), attrs=(Attr("x", "float", 0.0), Attr("y", "float", 0.0)),
          infer_dtype=fixed_dtype("float32"), grad=zero_gradient,
          doc="The number x where `condition` is not 0, else the number y.",
          samples=(Sample(((2, 3),), {"x": 1, "y": 2.5}, values={0: _TRUTHS}),)),
    OpDef("_npi_unique", _unique,
          attrs=(Attr("return_index", "bool", False), Attr("return_inverse", "bool", False),
                 Attr("return_counts", "bool", False), Attr("axis", "int?", None)),
          outputs=_unique_names, infer_shape=_by_values, infer_dtype=_unique_dtype, grad=zero_gradient,
          doc="The distinct elements in order; on demand where each is first, which each element is, and how often.",
          samples=(Sample(((8,),), low=0, high=4, dtypes=("int32",)),
                   Sample(((5,),), {"return_inverse": True, "return_counts": True}, low=0, high=3, dtypes=("int32",)))),
    OpDef("_npx_nonzero", _nonzero, inputs=("x",), aliases=("_npi_nonzero",), infer_shape=_by_values,
          infer_dtype=fixed_dtype("int64"), grad=zero_gradient,
          doc="The positions of the elements that are not 0, one row each.",
          samples=(Sample(((3, 4),), low=0, high=2, dtypes=("int32",)), Sample(((),)))),
    OpDef("_npi_bincount", _bincount, inputs=("data", "weights"), active_inputs=_bincount_inputs,
          attrs=(Attr("minlength", "int", 0), Attr("has_weights", "bool", False)), infer_shape=_by_values,
          infer_dtype=_bincount_dtype, grad=zero_gradient, doc="How often each number from 0 on occurs in a vector.",
          samples=(Sample(((9,),), low=0, high=6, dtypes=("int32",)),
                   Sample(((3,), (3,)), {"has_weights": True, "minlength": 4}, values={0: [0, 1, 1]},
                          dtypes=("int32", "float32")), Sample(((3,),), error="MXNetError"))),
    OpDef("_npi_percentile", _percentile, inputs=("a", "q"), active_inputs=_percentile_inputs,
          attrs=(Attr("axis", "shape?", None), Attr("interpolation", "enum", "linear", _INTERPOLATIONS),
                 Attr("keepdims", "bool", False), Attr("q_scalar", "float?", None,
                                                       doc="one percentage in place of `q`")),
          infer_shape=_infer_percentile, infer_dtype=_float_dtype, grad=zero_gradient,
          doc="The value below which `q` percent of the elements along `axis` lie.",
          samples=(Sample(((3, 5),), {"q_scalar": 30}), Sample(((3, 5),), {"q_scalar": 50, "axis": 1}),
                   Sample(((3, 5), (2,)), {"axis": 0, "interpolation": "lower"}, low=0, high=90))),
    OpDef("_npi_average", _average, inputs=("a", "weights"), active_inputs=_average_inputs,
          attrs=(Attr("axis", "shape?", None), Attr("returned", "bool", False), Attr("weighted", "bool", True)),
          outputs=_average_names, visible=lambda attrs: 2 if attrs.returned else 1, infer_shape=_infer_average,
          infer_dtype=lambda attrs, ins, outs: (ins, list(_float_dtype(attrs, ins, outs)[1]) * 2),
          grad=_average_gradient, doc="The mean along `axis`, by weights, and on demand the sum of these.",
          samples=(Sample(((3, 4),), {"weighted": False}), Sample(((3, 4), (4,)), {"axis": 1}, low=0.2, high=1),
                   Sample(((3, 4), (3, 4)), {"returned": True}, low=0.2, high=1),
                   Sample(((3, 4), (3,)), {"axis": 1}, error="MXNetError"))),
    OpDef("_npi_polyval", _polyval, inputs=("p", "x"), infer_shape=_infer_polyval, grad=_polyval_gradient,
          doc="The polynomial with coefficients p, highest power first, at x.",
          samples=(Sample(((3,), (4,)), low=0.3, high=1), Sample(((1,), (2, 2)), low=0.3, high=1))),
    _inserting("_npi_insert_scalar", False),
    _inserting("_npi_insert_slice", False),
    _inserting("_npi_insert_tensor", True),
    OpDef("_npi_delete", _delete, inputs=("arr", "obj"), attrs=_PLACES,
          active_inputs=lambda attrs: ("arr",) if attrs.int_ind is not None or _has_slice(attrs) else ("arr", "obj"),
          infer_shape=_by_values, infer_dtype=_first_dtype,
          doc="The array without the elements at positions of `axis`.",
          samples=(Sample(((4, 3),), {"int_ind": 1, "axis": 0}, nograd=(0,)),
                   Sample(((4,),), {"start": 0, "stop": 4, "step": 2}, nograd=(0,)))),
    OpDef("_npi_boolean_mask_assign_scalar", _assign_masked, inputs=("data", "mask"),
          attrs=(Attr("value", "float", doc="what is written"), Attr("start_axis", "int", doc="the mask's first axis")),
          infer_shape=_infer_masked, infer_dtype=_first_dtype, grad=_kept_gradient,
          doc="The array with a number where the mask is true.",
          samples=(Sample(((2, 3), (2, 3)), {"value": 5.0, "start_axis": 0}, values={1: _TRUTHS}, nograd=(1,)),)),
    OpDef("_npi_boolean_mask_assign_tensor", _assign_masked, inputs=("data", "mask", "value"),
          attrs=(Attr("start_axis", "int", doc="the mask's first axis"),), infer_shape=_infer_masked,
          infer_dtype=_first_dtype, doc="The array with values where the mask is true.",
          samples=(Sample(((2, 3), (2, 3), (3,)), {"start_axis": 0}, values={1: _TRUTHS}, nograd=(0, 1, 2)),)),
    OpDef("_npi_share_memory", _share, inputs=("a", "b"), infer_shape=_scalar, infer_dtype=fixed_dtype("bool"),
          doc="Whether two arrays may share memory.", samples=(Sample(((2,), (2,)), nograd=(0, 1)),)),
    OpDef("_npx_constraint_check", _constraint, inputs=("input",),
          attrs=(Attr("msg", "str", "Constraint violated.", doc="what the error says"),), infer_shape=_scalar,
          infer_dtype=fixed_dtype("bool"), grad=zero_gradient,
          doc="True; raises when an element of a boolean array is false.",
          samples=(Sample(((2,),), values={0: [True, True]}, dtypes=("bool",)),
                   Sample(((2,),), values={0: [True, False]}, dtypes=("bool",), error="MXNetError"))),
)  # fmt: skip
