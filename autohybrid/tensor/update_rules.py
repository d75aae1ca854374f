"""The arithmetic of optimizer updates, on arrays of any library: one function a rule.

A rule is `rule(xp, attrs, weight, grad, *states, lr, wd)` in floating point of one width and returns the new weight
and the new states, all fresh. `attrs` gives the other constants. The operator records in `tensor/ops/update_*.py`
wrap the rules for half precision, for master copies of weights (`mp_*`) and for many weights at once (`multi_*`).
The formulas are MXNet 1.9.1's, including the order of rescaling, clipping and weight decay, which differs by rule.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autohybrid.tensor.attrs import Attr

Rule = Callable[..., tuple[Any, ...]]

LR = Attr("lr", "float", doc="learning rate")
WD = Attr("wd", "float", 0.0, doc="weight decay")
RESCALE = Attr("rescale_grad", "float", 1.0, doc="factor of the gradient")
CLIP = Attr("clip_gradient", "float", -1.0, doc="the rescaled gradient is limited to this size; negative: no limit")
LAZY = Attr("lazy_update", "bool", True, doc="row_sparse gradients update only the rows they hold")


def clipped(xp: Any, grad: Any, limit: float) -> Any:
    """The gradient limited to [-limit, limit]; as it is for a negative limit."""
    return grad if limit < 0 else xp.clip(grad, -limit, limit)


def scaled(grad: Any, factor: float) -> Any:
    """`grad * factor`, without a pass over the array for 1."""
    return grad if factor == 1.0 else grad * factor


def plus_decay(grad: Any, weight: Any, wd: Any) -> Any:
    """`grad + wd * weight`, without a pass over the arrays for a rate of 0."""
    return grad if isinstance(wd, float) and wd == 0.0 else grad + wd * weight


def rescaled(xp: Any, attrs: Any, grad: Any) -> Any:
    """The gradient times `rescale_grad`, then clipped. It may be the gradient itself: not to be written to."""
    return clipped(xp, scaled(grad, attrs.rescale_grad), attrs.clip_gradient)


def decayed(xp: Any, attrs: Any, weight: Any, grad: Any, wd: Any) -> Any:
    """The gradient times `rescale_grad` plus the decay, then clipped: the order of Adam and RMSProp."""
    return clipped(xp, plus_decay(scaled(grad, attrs.rescale_grad), weight, wd), attrs.clip_gradient)


def sgd(xp: Any, attrs: Any, weight: Any, grad: Any, *, lr: Any, wd: Any) -> tuple[Any, ...]:
    """weight - lr * (grad + wd * weight)."""
    return (weight - lr * plus_decay(rescaled(xp, attrs, grad), weight, wd),)


def sgd_momentum(xp: Any, attrs: Any, weight: Any, grad: Any, mom: Any, *, lr: Any, wd: Any) -> tuple[Any, ...]:
    """The velocity keeps `momentum` of itself and gains the step."""
    mom = attrs.momentum * mom
    mom -= lr * plus_decay(rescaled(xp, attrs, grad), weight, wd)
    return weight + mom, mom


def nesterov(xp: Any, attrs: Any, weight: Any, grad: Any, mom: Any, *, lr: Any, wd: Any) -> tuple[Any, ...]:
    """Momentum that looks ahead: the step is taken again with the new velocity."""
    step = lr * plus_decay(rescaled(xp, attrs, grad), weight, wd)
    mom = attrs.momentum * mom - step
    return weight + attrs.momentum * mom - step, mom


def nesterov_of_master(xp: Any, attrs: Any, weight: Any, grad: Any, mom: Any, *, lr: Any, wd: Any) -> tuple[Any, ...]:
    """`nesterov`, but the velocity gains the decay of the new weight: so MXNet does for master copies of weights."""
    fresh = nesterov(xp, attrs, weight, grad, mom, lr=lr, wd=wd)[0]
    return fresh, attrs.momentum * mom - lr * (rescaled(xp, attrs, grad) + wd * fresh)


def sign_sgd(xp: Any, attrs: Any, weight: Any, grad: Any, *, lr: Any, wd: Any) -> tuple[Any, ...]:
    """Only the sign of the gradient counts; the decay is apart."""
    return ((1 - lr * wd) * weight - lr * xp.sign(grad * attrs.rescale_grad),)


def signum(xp: Any, attrs: Any, weight: Any, grad: Any, mom: Any, *, lr: Any, wd: Any) -> tuple[Any, ...]:
    """Only the sign of the velocity counts; `wd_lh` decays the weight apart from `wd` in the velocity."""
    fresh = rescaled(xp, attrs, grad) + wd * weight
    mom = attrs.momentum * mom - (1 - attrs.momentum) * fresh
    return (1 - lr * attrs.wd_lh) * weight + lr * xp.sign(mom), mom


def _moments(xp: Any, attrs: Any, grad: Any, mean: Any, var: Any) -> tuple[Any, Any]:
    # In single precision 1 - 0.999 is not 0.001, and MXNet's attributes are single.
    beta1, beta2 = xp.float32(attrs.beta1), xp.float32(attrs.beta2)
    mean, var = beta1 * mean, beta2 * var
    mean += (1 - beta1) * grad
    squares = xp.square(grad)
    squares *= 1 - beta2
    var += squares
    return mean, var


def adam(xp: Any, attrs: Any, weight: Any, grad: Any, mean: Any, var: Any, *, lr: Any, wd: Any) -> tuple[Any, ...]:
    """Adam without bias correction (the optimizer folds it into lr)."""
    mean, var = _moments(xp, attrs, decayed(xp, attrs, weight, grad, wd), mean, var)
    scale = xp.sqrt(var)
    scale += attrs.epsilon
    step = lr * mean
    step /= scale
    return weight - step, mean, var


def adamw(
    xp: Any, attrs: Any, weight: Any, grad: Any, mean: Any, var: Any, scale: Any, *, lr: Any, wd: Any, eta: Any
) -> tuple[Any, ...]:
    """Adam with decoupled decay. `scale` is an array of one number; nothing changes when it is 0 or not finite."""
    usable = xp.isfinite(scale) & (scale != 0)
    new_mean, new_var = _moments(xp, attrs, adamw_gradient(xp, attrs, grad, scale), mean, var)
    step = eta * (lr * new_mean / (xp.sqrt(new_var) + attrs.epsilon) + wd * weight)
    return (
        xp.where(usable, weight - step, weight),
        xp.where(usable, new_mean, mean),
        xp.where(usable, new_var, var),
    )


def adamw_gradient(xp: Any, attrs: Any, grad: Any, scale: Any) -> Any:
    """The gradient as AdamW uses it: scaled and clipped; as it is when the scale is not usable."""
    usable = xp.isfinite(scale) & (scale != 0)
    return xp.where(usable, clipped(xp, grad * scale, attrs.clip_gradient), grad)


def rmsprop(xp: Any, attrs: Any, weight: Any, grad: Any, n: Any, *, lr: Any, wd: Any) -> tuple[Any, ...]:
    """Tieleman and Hinton's: the step is divided by the running root mean square of gradients."""
    fresh = decayed(xp, attrs, weight, grad, wd)
    squares = xp.square(fresh)
    squares *= 1 - attrs.gamma1
    n = attrs.gamma1 * n
    n += squares
    step = lr * fresh
    step /= xp.sqrt(n + attrs.epsilon)
    return clipped(xp, weight - step, _limit(attrs)), n


def rmsprop_alex(
    xp: Any, attrs: Any, weight: Any, grad: Any, n: Any, g: Any, delta: Any, *, lr: Any, wd: Any
) -> tuple[Any, ...]:
    """Graves': the running variance, and momentum `gamma2`."""
    fresh = decayed(xp, attrs, weight, grad, wd)
    n = attrs.gamma1 * n + (1 - attrs.gamma1) * xp.square(fresh)
    g = attrs.gamma1 * g + (1 - attrs.gamma1) * fresh
    delta = attrs.gamma2 * delta - lr * fresh / xp.sqrt(n - xp.square(g) + attrs.epsilon)
    return clipped(xp, weight + delta, _limit(attrs)), n, g, delta


def _limit(attrs: Any) -> float:
    """`clip_weights`, which unlike `clip_gradient` is also off at 0."""
    return attrs.clip_weights if attrs.clip_weights > 0 else -1.0


def ftrl(xp: Any, attrs: Any, weight: Any, grad: Any, z: Any, n: Any, *, lr: Any, wd: Any) -> tuple[Any, ...]:
    """Follow the regularised leader: weights whose |z| stays below lamda1 are exactly 0."""
    fresh = rescaled(xp, attrs, grad)
    grown = n + xp.square(fresh)
    z = z + fresh - (xp.sqrt(grown) - xp.sqrt(n)) * weight / lr
    active = xp.absolute(z) > attrs.lamda1
    value = (xp.sign(z) * attrs.lamda1 - z) / ((attrs.beta + xp.sqrt(grown)) / lr + wd)
    return xp.where(active, value, xp.zeros_like(value)), z, grown


def ftml(xp: Any, attrs: Any, weight: Any, grad: Any, d: Any, v: Any, z: Any, *, lr: Any, wd: Any) -> tuple[Any, ...]:
    """Follow the moving leader, at step `t`."""
    real = weight.dtype.type
    beta1, beta2, t = real(attrs.beta1), real(attrs.beta2), real(attrs.t)
    fresh = clipped(xp, grad * attrs.rescale_grad + wd * weight, attrs.clip_grad)
    v = beta2 * v + (1 - beta2) * xp.square(fresh)
    ahead = (1 - beta1**t) / real(lr) * (xp.sqrt(v / (1 - beta2**t)) + attrs.epsilon)
    z = beta1 * z + (1 - beta1) * fresh - (ahead - beta1 * d) * weight
    return -z / ahead, ahead, v, z


def lamb_direction(
    xp: Any, attrs: Any, weight: Any, grad: Any, mean: Any, var: Any, t: int, wd: Any
) -> tuple[Any, ...]:
    """LAMB's first phase: Adam's direction plus decay, at step `t`; and the new moments."""
    mean, var = _moments(xp, attrs, rescaled(xp, attrs, grad), mean, var)
    scale_mean = 1 - attrs.beta1**t if attrs.bias_correction else 1.0
    scale_var = 1 - attrs.beta2**t if attrs.bias_correction else 1.0
    return mean / scale_mean / (xp.sqrt(var / scale_var) + attrs.epsilon) + wd * weight, mean, var


def lamb_step(xp: Any, attrs: Any, weight: Any, direction: Any, r1: Any, r2: Any, lr: Any) -> Any:
    """LAMB's second phase: the rate is scaled by the ratio of the norms r1 of the weight and r2 of the direction."""
    if attrs.lower_bound >= 0:
        r1 = xp.maximum(r1, attrs.lower_bound)
    if attrs.upper_bound >= 0:
        r1 = xp.minimum(r1, attrs.upper_bound)
    usable = (r1 != 0) & (r2 != 0)
    ratio = xp.where(usable, r1 / xp.where(usable, r2, xp.ones_like(r2)), xp.ones_like(r1))
    return weight - lr * ratio * direction


def group_adagrad(xp: Any, attrs: Any, weight: Any, grad: Any, history: Any, *, lr: Any) -> tuple[Any, ...]:
    """Adagrad with one accumulator a row."""
    fresh = rescaled(xp, attrs, grad)
    axes = tuple(range(1, weight.ndim))
    history = history + xp.square(fresh).mean(axis=axes, keepdims=True).reshape(history.shape)
    scale = history.reshape(history.shape[:1] + (1,) * (weight.ndim - 1))
    return weight - lr * fresh / xp.sqrt(scale + attrs.epsilon), history
