"""The updates of `mx.nd.contrib` with a Python signature: AdamW with a number or an array as `rescale_grad`, and the
updates of many weights given as lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autohybrid.tensor.array import NDArray
from autohybrid.tensor.creation import full
from autohybrid.tensor.gradient_namespace import gradient_namespace

__all__ = [
    "adamw_update",
    "mp_adamw_update",
    "multi_adamw_update",
    "multi_lamb_update",
    "multi_mp_adamw_update",
    "multi_mp_lamb_update",
]


def adamw_update(
    weight: NDArray,
    grad: NDArray,
    mean: NDArray,
    var: NDArray,
    rescale_grad: Any,
    lr: float,
    eta: float,
    **options: Any,
) -> Any:
    """`_adamw_update`; `rescale_grad` is a number or an array of one. `options`: `beta1`, `wd`, `out`..."""
    scale = _scale(rescale_grad, weight)
    return gradient_namespace()._adamw_update(weight, grad, mean, var, scale, lr=lr, eta=eta, **options)


def mp_adamw_update(
    weight: NDArray,
    grad: NDArray,
    mean: NDArray,
    var: NDArray,
    weight32: NDArray,
    rescale_grad: Any,
    lr: float,
    eta: float,
    **options: Any,
) -> Any:
    """`_mp_adamw_update`; `rescale_grad` is a number or an array of one."""
    scale = _scale(rescale_grad, weight)
    return gradient_namespace()._mp_adamw_update(weight, grad, mean, var, weight32, scale, lr=lr, eta=eta, **options)


def multi_adamw_update(
    weights: Sequence[NDArray],
    grads: Sequence[NDArray],
    mean: Sequence[NDArray],
    var: Sequence[NDArray],
    rescale_grad: Any,
    lrs: Sequence[float],
    wds: Sequence[float],
    etas: Sequence[float],
    size: int = 0,
    **options: Any,
) -> Any:
    """AdamW of the first `size` (default: all) weights, one rate each."""
    scale = _scale(rescale_grad, weights[0])
    rates = {"lrs": lrs, "wds": wds, "etas": etas, "num_weights": size or len(weights)}
    return gradient_namespace()._multi_adamw_update(*_rows(weights, grads, mean, var), scale, **rates, **options)


def multi_mp_adamw_update(
    weights: Sequence[NDArray],
    grads: Sequence[NDArray],
    mean: Sequence[NDArray],
    var: Sequence[NDArray],
    weights32: Sequence[NDArray],
    rescale_grad: Any,
    lrs: Sequence[float],
    wds: Sequence[float],
    etas: Sequence[float],
    size: int = 0,
    **options: Any,
) -> Any:
    """AdamW of half-precision weights, computed on their float32 copies."""
    scale = _scale(rescale_grad, weights[0])
    rates = {"lrs": lrs, "wds": wds, "etas": etas, "num_weights": size or len(weights)}
    rows = _rows(weights, grads, mean, var, weights32)
    return gradient_namespace()._multi_mp_adamw_update(*rows, scale, **rates, **options)


def multi_lamb_update(
    weights: Sequence[NDArray],
    grads: Sequence[NDArray],
    mean: Sequence[NDArray],
    var: Sequence[NDArray],
    step_count: Sequence[int],
    lrs: Sequence[float],
    wds: Sequence[float],
    num_tensors: int = 0,
    **options: Any,
) -> Any:
    """LAMB of the first `num_tensors` (default: all) weights, one rate and step number each."""
    rates = {"step_count": step_count, "learning_rates": lrs, "wds": wds, "num_tensors": num_tensors or len(weights)}
    return gradient_namespace()._multi_lamb_update(*_rows(weights, grads, mean, var), **rates, **options)


def multi_mp_lamb_update(
    weights: Sequence[NDArray],
    grads: Sequence[NDArray],
    mean: Sequence[NDArray],
    var: Sequence[NDArray],
    weights32: Sequence[NDArray],
    step_count: Sequence[int],
    lrs: Sequence[float],
    wds: Sequence[float],
    num_tensors: int = 0,
    **options: Any,
) -> Any:
    """LAMB of half-precision weights, computed on their float32 copies."""
    rates = {"step_count": step_count, "learning_rates": lrs, "wds": wds, "num_tensors": num_tensors or len(weights)}
    rows = _rows(weights, grads, mean, var, weights32)
    return gradient_namespace()._multi_mp_lamb_update(*rows, **rates, **options)


def _scale(rescale_grad: Any, weight: NDArray) -> NDArray:
    if isinstance(rescale_grad, NDArray):
        return rescale_grad.as_in_context(weight.context)
    return full((1,), rescale_grad, ctx=weight.context)


def _rows(*columns: Sequence[NDArray]) -> list[NDArray]:
    return [array for row in zip(*columns) for array in row]
