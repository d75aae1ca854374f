"""LAMB in its two phases and for many weights, LARS' rates, and the helpers of updates over many arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import Dtypes, OpDef, Sample, Shape, Shapes
from autohybrid.tensor.precision import narrow, widen
from autohybrid.tensor.shapes import unify, unify_all, unify_dtypes
from autohybrid.tensor.update_records import multi_record
from autohybrid.tensor.update_rules import CLIP, LR, RESCALE, lamb_direction, lamb_step

_BOUNDS = (
    Attr("lower_bound", "float", -1.0, doc="least norm of the weight; negative: none"),
    Attr("upper_bound", "float", -1.0, doc="greatest norm of the weight; negative: none"),
)
_PHASE1 = (
    Attr("beta1", "float", 0.9),
    Attr("beta2", "float", 0.999),
    Attr("epsilon", "float", 1e-6),
    Attr("t", "int", doc="number of the step, from 1"),
    Attr("bias_correction", "bool", True),
    Attr("wd", "float"),
    RESCALE,
    CLIP,
)


def _phase1(xp: Any, attrs: Attrs, *arrays: Any) -> tuple[Any, ...]:
    weight, grad, mean, var = widen(xp, *arrays)
    results = lamb_direction(xp, attrs, weight, grad, mean, var, attrs.t, attrs.wd)
    return tuple([narrow(r, a) for r, a in zip(results, (arrays[0], *arrays[2:]))])


def _mp_phase1(xp: Any, attrs: Attrs, *arrays: Any) -> tuple[Any, ...]:
    _, grad, mean, var, weight32 = arrays
    results = lamb_direction(xp, attrs, weight32, grad.astype(weight32.dtype), mean, var, attrs.t, attrs.wd)
    return tuple([narrow(r, a) for r, a in zip(results, (weight32, mean, var))])


def _mp_phase1_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    half = unify_dtypes(ins[:2])
    return [half, half, *[d or "float32" for d in ins[2:]]], [ins[4] or "float32"]


def _phase2(xp: Any, attrs: Attrs, *arrays: Any) -> Any:
    weight, direction, r1, r2 = widen(xp, *arrays)
    return narrow(lamb_step(xp, attrs, weight, direction, r1, r2, attrs.lr), arrays[0])


def _mp_phase2(xp: Any, attrs: Attrs, *arrays: Any) -> Any:
    weight, direction, r1, r2, weight32 = arrays
    return lamb_step(xp, attrs, weight32, direction, r1, r2, attrs.lr).astype(weight.dtype)


def _phase2_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    shape = unify_all([*ins[:2], *ins[4:], *outs])
    one: Shape = (1,)
    return [shape, shape, unify(ins[2], one), unify(ins[3], one), *[shape] * len(ins[4:])], [shape]


def _mp_phase2_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    return [ins[0] or outs[0], *[d or "float32" for d in ins[1:]]], [ins[0] or outs[0]]


def _multi_lamb(xp: Any, attrs: Attrs, i: int, arrays: Sequence[Any], shared: Sequence[Any]) -> Sequence[Any]:
    mp = len(arrays) == 5
    if mp:
        half, grad, mean, var, weight = arrays
        grad, measured = grad.astype(weight.dtype), half.astype(weight.dtype)
    else:
        weight, grad, mean, var = widen(xp, *arrays)
        measured = weight
    direction, mean, var = lamb_direction(xp, attrs, weight, grad, mean, var, attrs.step_count[i], attrs.wds[i])
    r1, r2 = (xp.sqrt(xp.square(a).sum()) for a in (measured, direction))
    fresh = lamb_step(xp, attrs, weight, direction, r1, r2, attrs.learning_rates[i]).astype(weight.dtype, copy=False)
    return (fresh, mean, var, fresh) if mp else (fresh, mean, var)


def _multi_lamb_record(name: str, group: tuple[str, ...]) -> OpDef:
    attrs = (
        Attr("learning_rates", "floats"),
        *_PHASE1[:3],
        Attr("wds", "floats"),
        RESCALE,
        *_BOUNDS,
        CLIP,
        Attr("bias_correction", "bool", True),
        Attr("step_count", "shape"),
        Attr("num_tensors", "int", 1),
    )
    return multi_record(
        name,
        _multi_lamb,
        group,
        attrs,
        "num_tensors",
        "LAMB, both phases, for `num_tensors` weights given one behind another.",
        given={"learning_rates": (0.1, 0.2), "wds": (0.0, 0.1), "step_count": (1, 2)},
    )


# -- LARS and helpers --------------------------------------------------------------------------------------------------
def _multi_lars(xp: Any, attrs: Attrs, lrs: Any, weights: Any, grads: Any, wds: Any) -> Any:
    norm = xp.sqrt(weights)
    rate = attrs.eta * norm / (xp.sqrt(grads) * attrs.rescale_grad + wds * norm + attrs.eps)
    return lrs * xp.where((weights > 0) & (grads > 0), rate, xp.ones_like(rate))


def _sum_of_squares(xp: Any, attrs: Attrs, *arrays: Any) -> Any:
    return xp.stack([xp.square(a.astype("float32", copy=False)).sum() for a in arrays]).astype("float32", copy=False)


def _sums_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    known = next((d for d in ins if d is not None), None)
    return [d or known for d in ins], ["float32"]


def _one_each(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    if attrs.num_arrays < 1:
        raise MXNetError(f"`num_arrays` must be positive, got {attrs.num_arrays}")
    return ins, [(attrs.num_arrays,)]


def _zeros(xp: Any, attrs: Attrs, *arrays: Any) -> tuple[Any, ...]:
    return tuple([xp.zeros_like(a) for a in arrays])


def _array_names(attrs: Attrs) -> tuple[str, ...]:
    return tuple(f"array_{i}" for i in range(attrs.num_arrays))


_HALF = ("float16", "float16", "float32", "float32", "float32")

OPERATORS: tuple[OpDef, ...] = (
    OpDef(
        "lamb_update_phase1",
        _phase1,
        inputs=("weight", "grad", "mean", "var"),
        attrs=_PHASE1,
        aux=("mean", "var"),
        mutates=("mean", "var"),
        doc="The direction in which LAMB moves the weight; `mean` and `var` change in place.",
        samples=(
            Sample(((2, 3),) * 4, {"t": 1, "wd": 0.1}, low=0.1),
            Sample(((1,),) * 4, {"t": 3, "wd": 0, "bias_correction": False, "clip_gradient": 0.4}, low=0.1),
            Sample(((0, 2),) * 4, {"t": 1, "wd": 0.1}),
            Sample(((2, 3),) * 4, {"wd": 0.1}, error="MXNetError"),
        ),
    ),
    OpDef(
        "mp_lamb_update_phase1",
        _mp_phase1,
        inputs=("weight", "grad", "mean", "var", "weight32"),
        attrs=_PHASE1,
        infer_dtype=_mp_phase1_dtype,
        aux=("mean", "var", "weight32"),
        mutates=("mean", "var"),
        doc="`lamb_update_phase1` for the float32 copy of a half-precision weight; the direction is float32.",
        samples=(Sample(((2, 3),) * 5, {"t": 1, "wd": 0.1}, low=0.1, dtypes=_HALF),),
    ),
    OpDef(
        "lamb_update_phase2",
        _phase2,
        inputs=("weight", "g", "r1", "r2"),
        attrs=(LR, *_BOUNDS),
        infer_shape=_phase2_shape,
        doc="The weight moved by LAMB along the direction `g`, with `r1` and `r2` the norms (shape (1,)) of the weight "
        "and of `g`; their ratio counts as 1 when one is 0.",
        samples=(
            Sample(((2, 3), (2, 3), (1,), (1,)), {"lr": 0.1}, low=0.5),
            Sample(((3,), (3,), (1,), (1,)), {"lr": 0.1}, values={3: [0.0]}, low=0.5),
            Sample(((2, 3), (2, 3), (1,), (1,)), {"lr": 0.1, "lower_bound": 0.7, "upper_bound": 0.8}, low=0.5),
            Sample(((0, 2), (0, 2), (1,), (1,)), {"lr": 0.1}, low=0.5),
            Sample(((2, 3), (2, 3), (2,), (1,)), {"lr": 0.1}, error="MXNetError"),
        ),
    ),
    OpDef(
        "mp_lamb_update_phase2",
        _mp_phase2,
        inputs=("weight", "g", "r1", "r2", "weight32"),
        attrs=(LR, *_BOUNDS),
        infer_shape=_phase2_shape,
        infer_dtype=_mp_phase2_dtype,
        aux=("weight32",),
        doc="`lamb_update_phase2` computed from the float32 copy `weight32`, which does not change (as in MXNet): to "
        "train on, apply `lamb_update_phase2` to the copy.",
        samples=(
            Sample(
                ((2, 3), (2, 3), (1,), (1,), (2, 3)),
                {"lr": 0.1},
                low=0.5,
                dtypes=("float16", "float32", "float32", "float32", "float32"),
            ),
        ),
    ),
    _multi_lamb_record("_multi_lamb_update", ("weight", "grad", "mean", "var")),
    _multi_lamb_record("_multi_mp_lamb_update", ("weight", "grad", "mean", "var", "weight32")),
    OpDef(
        "multi_lars",
        _multi_lars,
        inputs=("lrs", "weights_sum_sq", "grads_sum_sq", "wds"),
        attrs=(Attr("eta", "float"), Attr("eps", "float"), RESCALE),
        doc="LARS' learning rates: `lrs` times eta |w| / (|g| rescale_grad + wd |w| + eps), from the sums of squares; "
        "unscaled where one is 0.",
        samples=(
            Sample(((3,),) * 4, {"eta": 0.01, "eps": 1e-6}, low=0.1),
            Sample(((1,),) * 4, {"eta": 0.01, "eps": 1e-6}, low=0.1, values={1: [0.0]}),
            Sample(((3,), (3,), (3,), (2,)), {"eta": 0.01, "eps": 1e-6}, error="MXNetError"),
        ),
    ),
    OpDef(
        "multi_sum_sq",
        _sum_of_squares,
        attrs=(Attr("num_arrays", "int"),),
        variadic="num_arrays",
        active_inputs=_array_names,
        infer_shape=_one_each,
        infer_dtype=_sums_dtype,
        doc="The sum of the squares of each of `num_arrays` arrays: shape (num_arrays,), float32.",
        samples=(
            Sample(((2, 3), (4,)), {"num_arrays": 2}),
            Sample(((1,),), {"num_arrays": 1}),
            Sample(((0, 2), (1,)), {"num_arrays": 2}),
        ),
    ),
    OpDef(
        "reset_arrays",
        _zeros,
        inputs=("array",),
        attrs=(Attr("num_arrays", "int"),),
        outputs=(),
        variadic="num_arrays",
        active_inputs=_array_names,
        mutates=("array",),
        infer_shape=lambda attrs, ins, outs: (ins, []),
        infer_dtype=lambda attrs, ins, outs: (ins, []),
        doc="Fills `num_arrays` arrays with zeros, in place; no output.",
        samples=(Sample(((2, 3), (4,)), {"num_arrays": 2}), Sample(((0, 2),), {"num_arrays": 1})),
    ),
)
