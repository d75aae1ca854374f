"""Optimizers for large batches, with a rate for each layer or a warm-up: LARS, LAMB, LBSGD."""

from __future__ import annotations

import logging
import math
import os
from typing import Any

from autohybrid import ndarray as nd
from autohybrid.ndarray import NDArray
from autohybrid.optim.optimizer.base import Index, Optimizer, State, check_arrays, register, zeros_like
from autohybrid.optim.optimizer.sgd import AggregatingOptimizer, flatten

_UNSCALED = ("gamma", "beta", "bias")


@register
class LARS(AggregatingOptimizer):
    """SGD with the rate of each layer scaled by `eta * |weight| / (|grad| + wd * |weight| + eps)`.

    Parameters whose names end in gamma, beta or bias keep the plain rate. With `momentum_correction` the momentum
    is scaled when the rate changes.
    """

    _decayed_names = ("_weight",)

    def __init__(
        self,
        momentum: float = 0.0,
        lazy_update: bool = True,
        eta: float = 0.001,
        eps: float = 0,
        momentum_correction: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(momentum, lazy_update, **kwargs)
        self.momentum_correction = momentum_correction
        self.eta = eta
        self.eps = eps
        self.skip = 0
        self.last_lr: float | None = None
        self.cur_lr: float | None = None

    def _get_lrs(self, indices: Any) -> list[float]:
        lr = self.learning_rate
        self.last_lr = lr if self.cur_lr is None else self.cur_lr
        self.cur_lr = lr
        return super()._get_lrs(indices)

    def _with_momentum(self) -> dict[str, float]:
        settings = super()._with_momentum()
        if "momentum" in settings and self.momentum_correction and self.last_lr and self.cur_lr is not None:
            settings["momentum"] *= self.cur_lr / self.last_lr
        return settings

    def _is_scaled(self, index: Index) -> bool:
        return not self.idx2name.get(index, str(index)).endswith(_UNSCALED)

    def _update_together(
        self, indices: list[Index], weights: list[NDArray], grads: list[NDArray], states: list[Any], master: bool
    ) -> None:
        order = sorted(range(len(indices)), key=lambda i: not self._is_scaled(indices[i]))
        count = sum(self._is_scaled(i) for i in indices)
        lrs, wds = self._get_lrs(indices), self._get_wds(indices)
        ctx = weights[0].context
        rates = nd.array([lrs[i] for i in order], ctx=ctx, dtype="float32")
        decays = nd.array([wds[i] for i in order], ctx=ctx, dtype="float32")
        columns = [[column[i] for i in order] for column in (weights, grads, states)]
        if count:
            rates[:count] = self._scaled_rates(rates[:count], decays[:count], columns[0][:count], columns[1][:count])
        settings = self._with_momentum()
        for start in range(0, len(order), max(1, self.aggregate_num)):
            part = slice(start, start + max(1, self.aggregate_num))
            self._update_part([c[part] for c in columns], rates[part], decays[part], master, settings)

    def _scaled_rates(self, rates: NDArray, decays: NDArray, weights: list[NDArray], grads: list[NDArray]) -> NDArray:
        squares = [nd.multi_sum_sq(*arrays, num_arrays=len(arrays)) for arrays in (weights, grads)]
        return nd.multi_lars(  # type: ignore[no-any-return]
            rates, *squares, decays, eta=self.eta, eps=self.eps, rescale_grad=self.rescale_grad
        )

    def _update_part(
        self, columns: list[list[Any]], rates: NDArray, decays: NDArray, master: bool, settings: dict[str, float]
    ) -> None:
        weights, grads, states = columns
        rows: list[Any] = [weights, grads]
        momenta, copies = zip(*states) if master else (states, None)
        if self.momentum > 0:
            rows.append(momenta)
        if copies is not None:
            rows.append(copies)
        name = f"preloaded_multi_{'mp_' if master else ''}sgd_{'mom_' if self.momentum > 0 else ''}update"
        getattr(nd, name)(*flatten(zip(*rows)), rates, decays, out=weights, num_weights=len(weights), **settings)

    def _individual_rates(self, indices: list[Index], weights: list[NDArray], grads: list[NDArray]) -> list[float]:
        rates = self._get_lrs(indices)
        decays = self._get_wds(indices)
        return [self._layer_rate(*row) for row in zip(indices, weights, grads, rates, decays)]

    def _layer_rate(self, index: Index, weight: NDArray, grad: NDArray, lr: float, wd: float) -> float:
        if not self._is_scaled(index):
            return lr
        size = float(weight.astype("float32").norm().asscalar())
        slope = float((grad.astype("float32") * self.rescale_grad).norm().asscalar())
        return lr * (self.eta * size / (slope + wd * size + self.eps) if size > 0 and slope > 0 else 1.0)


@register
class LAMB(Optimizer):
    """Adam with the step of each layer scaled by `|weight| / |step|`, the former kept within the two bounds."""

    def __init__(
        self,
        learning_rate: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-6,
        lower_bound: float | None = None,
        upper_bound: float | None = None,
        bias_correction: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound
        self.bias_correction = bias_correction
        self.aggregate_num = max(1, min(45, int(os.getenv("MXNET_OPTIMIZER_AGGREGATION_SIZE", "45"))))

    def create_state(self, index: Index, weight: NDArray) -> State:
        return zeros_like(weight, stype=weight.stype), zeros_like(weight, stype=weight.stype)

    def update(self, index: Index, weight: Any, grad: Any, state: Any) -> None:
        self._dispatch(index, weight, grad, state, False)

    def update_multi_precision(self, index: Index, weight: Any, grad: Any, state: Any) -> None:
        first = weight[0] if isinstance(index, (tuple, list)) else weight
        self._dispatch(index, weight, grad, state, self._uses_master_copy(first, warn=False))

    def _dispatch(self, index: Index, weight: Any, grad: Any, state: Any, master: bool) -> None:
        if not isinstance(index, (tuple, list)):
            self._step(index, weight, grad, state, master)
        elif self.aggregate_num <= 1:
            for row in zip(index, weight, grad, state):
                self._step(*row, master)
        else:
            for start in range(0, len(index), self.aggregate_num):
                part = slice(start, start + self.aggregate_num)
                self._steps(index[part], weight[part], grad[part], state[part], master)

    def _settings(self) -> dict[str, Any]:
        return {
            "beta1": self.beta1,
            "beta2": self.beta2,
            "epsilon": self.epsilon,
            "bias_correction": self.bias_correction,
            **self._scaling(),
        }

    def _bounds(self) -> dict[str, float]:
        bounds = {"lower_bound": self.lower_bound, "upper_bound": self.upper_bound}
        return {name: value for name, value in bounds.items() if value}

    def _step(self, index: Index, weight: NDArray, grad: NDArray, state: Any, master: bool) -> None:
        lr, wd, t = self._start(index, weight, grad)
        copies: tuple[NDArray, ...] = (state[0],) if master else ()
        moments = state[1] if master else state
        phase1 = nd.mp_lamb_update_phase1 if master else nd.lamb_update_phase1
        step = phase1(weight, grad, *moments, *copies, t=t, wd=wd, **self._settings())
        # mp_lamb_update_phase2 leaves the float32 copy where it was, so the copy is moved and the weight follows.
        target = copies[0] if master else weight
        nd.lamb_update_phase2(target, step, target.norm(), step.norm(), lr=lr, out=target, **self._bounds())
        if master:
            target.copyto(weight)

    def _steps(self, indices: Any, weights: Any, grads: Any, states: Any, master: bool) -> None:
        started = [self._start(*row) for row in zip(indices, weights, grads)]
        columns = [weights, grads, *zip(*(s[1] if master else s for s in states))]
        if master:
            columns.append([s[0] for s in states])
        update = nd._internal._multi_mp_lamb_update if master else nd._internal._multi_lamb_update
        update(
            *flatten(zip(*columns)),
            out=list(weights),
            num_tensors=len(weights),
            learning_rates=tuple([lr for lr, _, _ in started]),
            wds=tuple([wd for _, wd, _ in started]),
            step_count=tuple([t for _, _, t in started]),
            **self._settings(),
            **self._bounds(),
        )


@register
class LBSGD(Optimizer):
    """SGD over several batches at a time: sums gradients of `batch_scale` batches, with a warm-up of the rate.

    `warmup_strategy`: 'linear', 'power2', 'sqrt' or 'lars'.
    """

    def __init__(
        self,
        momentum: float = 0.0,
        multi_precision: bool = False,
        warmup_strategy: str = "linear",
        warmup_epochs: int = 5,
        batch_scale: int = 1,
        updates_per_epoch: int = 32,
        begin_epoch: int = 0,
        num_epochs: int = 60,
        **kwargs: Any,
    ) -> None:
        super().__init__(multi_precision=multi_precision, **kwargs)
        self.momentum = momentum
        self.warmup_strategy = warmup_strategy
        self.warmup_epochs = warmup_epochs
        self.batch_scale = batch_scale
        self.updates_per_epoch = updates_per_epoch
        self.init_updates = begin_epoch * updates_per_epoch
        self.num_epochs = num_epochs
        self.lbmult = 1
        self.cumgrads: dict[Index, tuple[NDArray | float, int]] = {}
        self.adaptive = False
        self.admult = 1
        logging.info(
            "large-batch SGD: batch_scale=%s, warm-up %s over %s epochs", batch_scale, warmup_strategy, warmup_epochs
        )

    def _warmup_factor(self, updates: int) -> float:
        end = self.warmup_epochs * self.updates_per_epoch
        if updates >= end:
            return float(self.batch_scale)
        if end <= 1:
            return 1.0
        done = updates / end
        risen = {"linear": done, "power2": done * done, "sqrt": math.sqrt(done)}.get(self.warmup_strategy, 0.0)
        return 1.0 + (self.batch_scale - 1) * risen

    def _lars_factor(self, weight: NDArray, grad: NDArray, wd: float) -> float:
        size, slope = (float((a * a).asnumpy().sum()) for a in (weight, grad))
        return min(100.0, max(0.01, math.sqrt(size / (slope + wd * size + 1e-18))))

    def create_state(self, index: Index, weight: NDArray) -> State:
        return None if self.momentum == 0.0 else zeros_like(weight, stype=weight.stype)

    def update(self, index: Index, weight: NDArray, grad: NDArray, state: State) -> None:
        check_arrays(weight, grad)
        lr, wd = self._get_lr(index), self._get_wd(index)  # MXNet asks the schedule before it counts this update
        self._update_count(index)
        total, count = self.cumgrads.get(index, (0, self.init_updates))
        total, count = (total + grad if isinstance(total, NDArray) else grad.copy()), count + 1
        if count % self.batch_scale:
            self.cumgrads[index] = total, count
            return
        self.cumgrads[index] = 0, count
        grad = total / self.batch_scale
        is_lars = self.warmup_strategy == "lars"
        lr *= self._lars_factor(weight, grad, wd) if is_lars else self._warmup_factor(count)
        if state is None:
            nd.sgd_update(weight, grad, out=weight, lr=lr, wd=wd, **self._scaling())
        else:
            settings = {"momentum": self.momentum, **self._scaling()}
            nd.sgd_mom_update(weight, grad, state, out=weight, lr=lr, wd=wd, **settings)
