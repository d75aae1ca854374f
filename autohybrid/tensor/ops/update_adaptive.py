"""Updates with a rate for each element: Adam, AdamW, RMSProp, FTRL, FTML and Adagrad."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import Dtypes, OpDef, Sample, Shape, Shapes
from autohybrid.tensor.precision import narrow, widen
from autohybrid.tensor.shapes import unify, unify_all, unify_dtypes
from autohybrid.tensor.update_records import multi_record, update_record
from autohybrid.tensor.update_rules import (
    CLIP,
    LAZY,
    LR,
    RESCALE,
    WD,
    adam,
    adamw,
    adamw_gradient,
    ftml,
    ftrl,
    group_adagrad,
    rescaled,
    rmsprop,
    rmsprop_alex,
)

_BETA1 = Attr("beta1", "float", 0.9, doc="how much of the running mean is kept")
_BETA2 = Attr("beta2", "float", 0.999, doc="how much of the running variance is kept")
_EPSILON = Attr("epsilon", "float", 1e-8)
_GAMMA1 = Attr("gamma1", "float", 0.95)
_CLIP_WEIGHTS = Attr(
    "clip_weights", "float", -1.0, doc="the new weight is limited to this size; not positive: no limit"
)
_ETA = Attr("eta", "float", doc="factor of the whole step")
_ADAMW = (LR, _BETA1, _BETA2, _EPSILON, WD, _ETA, CLIP)


# -- AdamW, whose rescale_grad is an array ---------------------------------------------------------------------------
def _adamw(xp: Any, attrs: Attrs, *arrays: Any) -> tuple[Any, ...]:
    wide = widen(xp, *arrays)
    weight, mean, var = adamw(xp, attrs, *wide, lr=attrs.lr, wd=attrs.wd, eta=attrs.eta)
    grad = adamw_gradient(xp, attrs, wide[1], wide[4])
    return tuple([narrow(r, a) for r, a in zip((weight, grad, mean, var), arrays)])


def _mp_adamw(xp: Any, attrs: Attrs, *arrays: Any) -> tuple[Any, ...]:
    weight, grad, mean, var, weight32, scale = arrays
    fresh, mean, var = adamw(
        xp, attrs, weight32, grad.astype(weight32.dtype), mean, var, scale, lr=attrs.lr, wd=attrs.wd, eta=attrs.eta
    )
    return fresh.astype(weight.dtype), mean, var, fresh


def _adamw_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    shape = unify_all([*ins[:-1], *outs])
    scale: Shape = (1,)
    return [*[shape] * (len(ins) - 1), unify(ins[-1], scale)], [shape]


def _adamw_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    dtype = unify_dtypes([*ins[:4], *outs])
    return [*[dtype] * 4, ins[4]], [dtype]


def _mp_adamw_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    dtype = unify_dtypes([*ins[:2], *outs])
    return [dtype, dtype, *[d or "float32" for d in ins[2:]]], [dtype]


def _multi_adamw(xp: Any, attrs: Attrs, i: int, arrays: Sequence[Any], shared: Sequence[Any]) -> Sequence[Any]:
    rates = {"lr": attrs.lrs[i], "wd": attrs.wds[i], "eta": attrs.etas[i]}
    if len(arrays) == 4:
        weight, grad, mean, var = widen(xp, *arrays)
        return adamw(xp, attrs, weight, grad, mean, var, shared[0], **rates)
    _, grad, mean, var, weight32 = arrays
    fresh, mean, var = adamw(xp, attrs, weight32, grad.astype(weight32.dtype), mean, var, shared[0], **rates)
    return fresh, mean, var, fresh


def _multi_adamw_record(name: str, group: tuple[str, ...]) -> OpDef:
    lists = (Attr("lrs", "floats"), _BETA1, _BETA2, _EPSILON, Attr("wds", "floats"), Attr("etas", "floats"), CLIP)
    return multi_record(
        name,
        _multi_adamw,
        group,
        (*lists, Attr("num_weights", "int", 1)),
        "num_weights",
        "AdamW for `num_weights` weights, given one behind another and then the array `rescale_grad` of one number.",
        tail=("rescale_grad",),
        given={"lrs": (0.1, 0.2), "wds": (0.0, 0.1), "etas": (1.0, 0.5)},
    )


# -- Adagrad ---------------------------------------------------------------------------------------------------------
def _group_adagrad(xp: Any, attrs: Attrs, *arrays: Any) -> tuple[Any, ...]:
    weight, history = group_adagrad(xp, attrs, *widen(xp, *arrays), lr=attrs.lr)
    return narrow(weight, arrays[0]), narrow(history, arrays[2])


def _group_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    shape = unify_all([*ins[:2], *outs])
    history = ins[2]
    if shape is not None:
        if len(shape) < 2:
            raise MXNetError(f"`weight` must have at least 2 dimensions (one accumulator a row), got shape {shape}")
        rows: Shape = (shape[0], 1)
        if history is not None and history not in (rows, (shape[0],)):
            raise MXNetError(f"`history` must have shape {rows} for a weight of shape {shape}, got {history}")
        history = history or rows
    return [shape, shape, history], [shape]


def _sparse_adagrad(xp: Any, attrs: Attrs, *arrays: Any) -> tuple[Any, ...]:
    if attrs.wd:
        raise MXNetError(f"`wd` is not supported by the sparse update, got {attrs.wd}")
    weight, grad, history = widen(xp, *arrays)
    fresh = rescaled(xp, attrs, grad)
    history = history + xp.square(fresh)
    weight = weight - attrs.lr * fresh / xp.sqrt(history + attrs.epsilon)
    return narrow(weight, arrays[0]), narrow(history, arrays[2])


_W = (2, 3)
_SCALED = ((2, 3),) * 4 + ((1,),)

OPERATORS: tuple[OpDef, ...] = (
    update_record(
        "adam_update",
        adam,
        ("mean", "var"),
        (LR, _BETA1, _BETA2, _EPSILON, WD, RESCALE, CLIP, LAZY),
        "Adam, without correction of its bias.",
        ("_sparse_adam_update",),
    ),
    update_record(
        "rmsprop_update",
        rmsprop,
        ("n",),
        (LR, _GAMMA1, _EPSILON, WD, RESCALE, CLIP, _CLIP_WEIGHTS),
        "RMSProp.",
    ),
    update_record(
        "rmspropalex_update",
        rmsprop_alex,
        ("n", "g", "delta"),
        (LR, _GAMMA1, Attr("gamma2", "float", 0.9), _EPSILON, WD, RESCALE, CLIP, _CLIP_WEIGHTS),
        "RMSProp as Graves has it, centred and with momentum `gamma2`.",
        epsilon=1.0,
    ),
    update_record(
        "ftrl_update",
        ftrl,
        ("z", "n"),
        (LR, Attr("lamda1", "float", 0.01), Attr("beta", "float", 1.0), WD, RESCALE, CLIP),
        "Follow the regularised leader.",
        ("_sparse_ftrl_update",),
    ),
    update_record(
        "ftml_update",
        ftml,
        ("d", "v", "z"),
        (
            LR,
            Attr("beta1", "float", 0.6, low=0, high=1),
            replace(_BETA2, low=0, high=1),
            _EPSILON,
            Attr("t", "int", doc="number of the step, from 1"),
            WD,
            RESCALE,
            Attr("clip_grad", "float", -1.0),
        ),
        "Follow the moving leader.",
        t=1,
    ),
    OpDef(
        "_adamw_update",
        _adamw,
        inputs=("weight", "grad", "mean", "var", "rescale_grad"),
        attrs=_ADAMW,
        infer_shape=_adamw_shape,
        infer_dtype=_adamw_dtype,
        aux=("mean", "var"),
        mutates=("grad", "mean", "var"),
        doc="Adam with decoupled weight decay. `rescale_grad` is an array of one number; nothing changes when it is "
        "0 or not finite. The output is the new weight; `mean` and `var` change in place, and so does `grad`, which is "
        "left rescaled and clipped (as MXNet leaves it).",
        samples=(
            Sample(_SCALED, {"lr": 0.1, "eta": 1.0, "wd": 0.1}, low=0.1),
            Sample(_SCALED, {"lr": 0.1, "eta": 0.5, "clip_gradient": 0.4}, low=0.1),
            Sample(_SCALED, {"lr": 0.1, "eta": 1.0}, low=0.1, values={4: [float("nan")]}),
            Sample(((0, 2),) * 4 + ((1,),), {"lr": 0.1, "eta": 1.0}),
            Sample(_SCALED, {"lr": 0.1}, error="MXNetError"),
        ),
    ),
    OpDef(
        "_mp_adamw_update",
        _mp_adamw,
        inputs=("weight", "grad", "mean", "var", "weight32", "rescale_grad"),
        attrs=_ADAMW,
        infer_shape=_adamw_shape,
        infer_dtype=_mp_adamw_dtype,
        aux=("mean", "var", "weight32"),
        mutates=("mean", "var", "weight32"),
        doc="`_adamw_update` computed on the float32 copy `weight32` of a half-precision weight.",
        samples=(
            Sample(
                (_W,) * 5 + ((1,),),
                {"lr": 0.1, "eta": 1.0, "wd": 0.1},
                low=0.1,
                dtypes=("float16", "float16", "float32", "float32", "float32", "float32"),
            ),
        ),
    ),
    _multi_adamw_record("_multi_adamw_update", ("weight", "grad", "mean", "var")),
    _multi_adamw_record("_multi_mp_adamw_update", ("weight", "grad", "mean", "var", "weight32")),
    OpDef(
        "_contrib_group_adagrad_update",
        _group_adagrad,
        inputs=("weight", "grad", "history"),
        attrs=(LR, RESCALE, CLIP, Attr("epsilon", "float", 1e-5)),
        infer_shape=_group_shape,
        aux=("history",),
        mutates=("history",),
        doc="Adagrad with one accumulator for each row of the weight: `history` has shape (rows, 1) and changes in "
        "place. The output is the new weight.",
        samples=(
            Sample(((2, 3), (2, 3), (2, 1)), {"lr": 0.1}, low=0.1),
            Sample(((3, 4, 2), (3, 4, 2), (3, 1)), {"lr": 0.1, "rescale_grad": 0.5, "clip_gradient": 0.3}, low=0.1),
            Sample(((1, 1), (1, 1), (1, 1)), {"lr": 0.1}, low=0.1),
            Sample(((2,), (2,), (2,)), {"lr": 0.1}, error="MXNetError"),
        ),
    ),
    OpDef(
        "_sparse_adagrad_update",
        _sparse_adagrad,
        inputs=("weight", "grad", "history"),
        attrs=(LR, Attr("epsilon", "float", 1e-7), WD, RESCALE, CLIP),
        aux=("history",),
        mutates=("history",),
        stores_sparse=True,
        doc="Adagrad for the rows that a row_sparse gradient holds; a dense gradient is refused.",
        samples=(Sample(((2, 3),) * 3, {"lr": 0.1}, error="MXNetError"),),
    ),
)
