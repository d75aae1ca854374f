"""Updates by gradient descent, with momentum, Nesterov's momentum and signs, for one weight and for many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import OpDef
from autohybrid.tensor.precision import widen
from autohybrid.tensor.update_records import SAMPLE_RATES, master_record, multi_record, update_record
from autohybrid.tensor.update_rules import (
    CLIP,
    LAZY,
    LR,
    RESCALE,
    WD,
    Rule,
    nesterov,
    nesterov_of_master,
    sgd,
    sgd_momentum,
    sign_sgd,
    signum,
)

_MOMENTUM = Attr("momentum", "float", 0.0, doc="how much of the velocity is kept")
_PLAIN = (LR, WD, RESCALE, CLIP)
_WITH_MOMENTUM = (LR, _MOMENTUM, WD, RESCALE, CLIP)
_LRS = (Attr("lrs", "floats"), Attr("wds", "floats"))
_COUNT = Attr("num_weights", "int", 1, doc="how many weights are updated")


def _with_lists(rule: Rule, half: bool) -> Callable[..., Sequence[Any]]:
    """The step of `multi_*`: rates from the attributes."""

    def step(xp: Any, attrs: Attrs, i: int, arrays: Sequence[Any], shared: Sequence[Any]) -> Sequence[Any]:
        return _apply(rule, half, xp, attrs, arrays, attrs.lrs[i], attrs.wds[i])

    return step


def _with_arrays(rule: Rule, half: bool) -> Callable[..., Sequence[Any]]:
    """The step of `preloaded_multi_*`: rates from arrays, which may live on a GPU."""

    def step(xp: Any, attrs: Attrs, i: int, arrays: Sequence[Any], shared: Sequence[Any]) -> Sequence[Any]:
        lrs, wds = shared
        return _apply(rule, half, xp, attrs, arrays, lrs[i : i + 1], wds[i : i + 1])

    return step


def _apply(rule: Rule, half: bool, xp: Any, attrs: Attrs, arrays: Sequence[Any], lr: Any, wd: Any) -> Sequence[Any]:
    if not half:
        return rule(xp, attrs, *widen(xp, *arrays), lr=lr, wd=wd)
    _, grad, *states, weight32 = arrays
    fresh, *states = rule(xp, attrs, weight32, grad.astype(weight32.dtype), *states, lr=lr, wd=wd)
    return (fresh, *states, fresh)


def _multi(name: str, rule: Rule, momentum: bool, half: bool, preloaded: bool) -> OpDef:
    group = ("weight", "grad", *(("mom",) if momentum else ()), *(("weight32",) if half else ()))
    constants = (*((_MOMENTUM,) if momentum else ()), RESCALE, CLIP, _COUNT)
    return multi_record(
        name,
        (_with_arrays if preloaded else _with_lists)(rule, half),
        group,
        constants if preloaded else (*_LRS, *constants),
        "num_weights",
        f"Gradient descent{' with momentum' if momentum else ''} for `num_weights` weights, given one behind another"
        f"{' and then the arrays `lrs` and `wds` of their rates' if preloaded else ''}.",
        tail=("lrs", "wds") if preloaded else (),
        given={} if preloaded else SAMPLE_RATES,
    )


OPERATORS: tuple[OpDef, ...] = (
    update_record("sgd_update", sgd, (), (*_PLAIN, LAZY), "Gradient descent.", ("_sparse_sgd_update",)),
    update_record(
        "sgd_mom_update",
        sgd_momentum,
        ("mom",),
        (*_WITH_MOMENTUM, LAZY),
        "Gradient descent with momentum.",
        ("_sparse_sgd_mom_update",),
        momentum=0.9,
    ),
    update_record("nag_mom_update", nesterov, ("mom",), _WITH_MOMENTUM, "Nesterov's momentum.", momentum=0.9),
    update_record("signsgd_update", sign_sgd, (), _PLAIN, "Descent by the sign of the gradient."),
    update_record(
        "signum_update",
        signum,
        ("mom",),
        (*_WITH_MOMENTUM, Attr("wd_lh", "float", 0.0)),
        "Descent by the sign of the velocity.",
        momentum=0.9,
        wd_lh=0.05,
    ),
    master_record("mp_sgd_update", sgd, (), (*_PLAIN, LAZY), "Gradient descent."),
    master_record(
        "mp_sgd_mom_update", sgd_momentum, ("mom",), (*_WITH_MOMENTUM, LAZY), "Gradient descent with momentum."
    ),
    master_record("mp_nag_mom_update", nesterov_of_master, ("mom",), _WITH_MOMENTUM, "Nesterov's momentum."),
    *(
        _multi(
            f"{'preloaded_' if preloaded else ''}multi_{'mp_' if half else ''}sgd_{'mom_' if momentum else ''}update",
            sgd_momentum if momentum else sgd,
            momentum,
            half,
            preloaded,
        )
        for preloaded in (False, True)
        for half in (False, True)
        for momentum in (False, True)
    ),
)
