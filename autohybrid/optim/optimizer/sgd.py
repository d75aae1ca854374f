"""Stochastic gradient descent and its relatives: SGD, NAG, Signum, SGLD, DCASGD."""

from __future__ import annotations

import math
import os
from typing import Any

from autohybrid import ndarray as nd
from autohybrid.ndarray import NDArray
from autohybrid.optim.optimizer.base import Index, Optimizer, State, check_arrays, register, zeros_like
from autohybrid.tensor import update_in_place as in_place
from autohybrid.tensor.update_in_place import can_update


def flatten(rows: Any) -> list[NDArray]:
    """The arrays of several tuples in a row: the inputs of a `multi_*` operator."""
    return [array for row in rows for array in row]


class MomentumOptimizer(Optimizer):
    """An optimizer whose state is one momentum array (none for momentum 0), behind it the float32 copy if there is one.

    `(momentum, float32 copy)`: the other way round than `Optimizer` does, as the mp_* operators want it.
    """

    def __init__(self, momentum: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.momentum = momentum

    def create_state_multi_precision(self, index: Index, weight: NDArray) -> State:
        if self._uses_master_copy(weight):
            master = weight.astype("float32")
            return self.create_state(index, master), master
        return self.create_state(index, weight)

    def create_state(self, index: Index, weight: NDArray) -> State:
        return None if self.momentum == 0.0 else zeros_like(weight, stype=self._state_stype(weight))

    def _state_stype(self, weight: NDArray) -> str:
        return weight.stype

    def _with_momentum(self) -> dict[str, float]:
        scaling = self._scaling()
        if self.momentum > 0:
            scaling["momentum"] = self.momentum
        return scaling


class AggregatingOptimizer(MomentumOptimizer):
    """Updates up to `aggregate_num` weights of one dtype with one operator call."""

    def __init__(self, momentum: float, lazy_update: bool, **kwargs: Any) -> None:
        super().__init__(momentum, **kwargs)
        self.lazy_update = lazy_update
        self.aggregate_num = int(os.getenv("MXNET_OPTIMIZER_AGGREGATION_SIZE", "4"))

    def _state_stype(self, weight: NDArray) -> str:
        return weight.stype if self.lazy_update else "default"

    def update(self, index: Index, weight: Any, grad: Any, state: Any) -> None:
        self._update_listed(index, weight, grad, state, False)

    def update_multi_precision(self, index: Index, weight: Any, grad: Any, state: Any) -> None:
        first = weight[0] if isinstance(index, (tuple, list)) else weight
        self._update_listed(index, weight, grad, state, self._uses_master_copy(first, warn=False))

    def _update_listed(self, index: Index, weight: Any, grad: Any, state: Any, master: bool) -> None:
        if isinstance(index, (tuple, list)):
            indices, weights, grads, states = list(index), list(weight), list(grad), list(state)
        else:
            indices, weights, grads, states = [index], [weight], [grad], [state]
        for w, g in zip(weights, grads):
            check_arrays(w, g)
        self._update_count(indices)
        dense = all(w.stype == g.stype == "default" for w, g in zip(weights, grads))
        update = self._update_together if dense else self._update_each
        update(indices, weights, grads, states, master)

    def _update_together(
        self, indices: list[Index], weights: list[NDArray], grads: list[NDArray], states: list[Any], master: bool
    ) -> None:
        raise NotImplementedError

    def _update_each(
        self, indices: list[Index], weights: list[NDArray], grads: list[NDArray], states: list[Any], master: bool
    ) -> None:
        rates = self._individual_rates(indices, weights, grads)
        for weight, grad, state, lr, wd in zip(weights, grads, states, rates, self._get_wds(indices)):
            momentum, copy = state if master else (state, None)
            inputs = [a for a in (weight, grad, momentum, copy) if a is not None]
            kind = "mom_update" if momentum is not None else "update"
            update = getattr(nd, f"mp_sgd_{kind}" if master else f"sgd_{kind}")
            update(*inputs, out=weight, lr=lr, wd=wd, lazy_update=self.lazy_update, **self._with_momentum())

    def _individual_rates(self, indices: list[Index], weights: list[NDArray], grads: list[NDArray]) -> list[float]:
        return self._get_lrs(indices)


@register
class SGD(AggregatingOptimizer):
    """Stochastic gradient descent: `mom = momentum * mom - lr * (grad + wd * weight)`, `weight += mom`.

    For row_sparse gradients with `lazy_update` only the rows present are touched.
    """

    def __init__(self, momentum: float = 0.0, lazy_update: bool = True, **kwargs: Any) -> None:
        super().__init__(momentum, lazy_update, **kwargs)

    def _update_together(
        self, indices: list[Index], weights: list[NDArray], grads: list[NDArray], states: list[Any], master: bool
    ) -> None:
        rows = list(zip(weights, grads, states if self.momentum > 0 else [None] * len(states)))
        if not master and all(can_update(*[a for a in row if a is not None]) for row in rows):
            constants: dict[str, Any] = self._with_momentum()
            for row, lr, wd in zip(rows, self._get_lrs(indices), self._get_wds(indices)):
                in_place.sgd(*row, lr=lr, wd=wd, **constants)
            return
        columns = [weights, grads]
        momenta, copies = zip(*states) if master else (states, None)
        if self.momentum > 0:
            columns.append(list(momenta))
        if copies is not None:
            columns.append(list(copies))
        # Tuples, so that the parsed attributes are remembered from step to step.
        name = f"multi_{'mp_' if master else ''}sgd_{'mom_' if self.momentum > 0 else ''}update"
        getattr(nd, name)(
            *flatten(zip(*columns)),
            out=weights,
            num_weights=len(weights),
            lrs=tuple(self._get_lrs(indices)),
            wds=tuple(self._get_wds(indices)),
            **self._with_momentum(),
        )


@register
class ccSGD(SGD):
    """The old name of SGD."""


@register
class NAG(MomentumOptimizer):
    """Nesterov's accelerated gradient: SGD that looks ahead by the momentum."""

    def __init__(self, momentum: float = 0.0, **kwargs: Any) -> None:
        super().__init__(momentum, **kwargs)

    def _state_stype(self, weight: NDArray) -> str:
        return "default"

    def update(self, index: Index, weight: NDArray, grad: NDArray, state: State) -> None:
        self._step(index, weight, grad, state, None)

    def update_multi_precision(self, index: Index, weight: NDArray, grad: NDArray, state: State) -> None:
        if self._uses_master_copy(weight, warn=False) and isinstance(state, (tuple, list)):
            self._step(index, weight, grad, *state)
        else:
            self._step(index, weight, grad, state, None)

    def _step(self, index: Index, weight: NDArray, grad: NDArray, momentum: State, copy: NDArray | None) -> None:
        lr, wd, _ = self._start(index, weight, grad)
        inputs = [a for a in (weight, grad, momentum, copy) if a is not None]
        before = weight.copy() if momentum is not None and copy is None and wd else None
        name = ("mp_" if copy is not None else "") + ("sgd_update" if momentum is None else "nag_mom_update")
        getattr(nd, name)(
            *inputs, out=weight, lr=lr, wd=wd, **(self._scaling() if momentum is None else self._with_momentum())
        )
        if before is not None:
            # MXNet writes the weight before it reads it again for the momentum, whose decay is that of the new weight.
            momentum[:] -= lr * wd * (weight - before)


@register
class Signum(Optimizer):
    """SGD by the sign of the gradient, or of its running mean with momentum; `wd_lh` decays beside the sign."""

    def __init__(self, learning_rate: float = 0.01, momentum: float = 0.9, wd_lh: float = 0.0, **kwargs: Any) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.momentum = momentum
        self.wd_lh = wd_lh

    def create_state(self, index: Index, weight: NDArray) -> State:
        return None if self.momentum == 0.0 else zeros_like(weight, stype=weight.stype)

    def update(self, index: Index, weight: NDArray, grad: NDArray, state: State) -> None:
        lr, wd, _ = self._start(index, weight, grad)
        settings = self._scaling()
        if self.momentum > 0:
            settings["momentum"] = self.momentum
        if self.wd_lh:
            settings["wd_lh"] = self.wd_lh
        if state is None:
            nd.signsgd_update(weight, grad, out=weight, lr=lr, wd=wd, **settings)
        else:
            nd.signum_update(weight, grad, state, out=weight, lr=lr, wd=wd, **settings)


@register
class SGLD(Optimizer):
    """Stochastic gradient Langevin dynamics: half a step of SGD, plus normal noise of variance `lr`."""

    def update(self, index: Index, weight: NDArray, grad: NDArray, state: State) -> None:
        lr, wd, _ = self._start(index, weight, grad)
        weight[:] -= lr / 2 * (self._scaled(grad) + wd * weight)
        noise = nd.random.normal(0, math.sqrt(lr), shape=weight.shape, dtype=weight.dtype, ctx=weight.context)
        weight[:] += noise


@register
class DCASGD(Optimizer):
    """SGD for asynchronous training: compensates for the weight having moved since the gradient was computed."""

    def __init__(self, momentum: float = 0.0, lamda: float = 0.04, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.momentum = momentum
        self.lamda = lamda
        self.weight_previous: dict[Index, NDArray] = {}

    def create_state(self, index: Index, weight: NDArray) -> State:
        return (None if self.momentum == 0.0 else zeros_like(weight)), weight.copy()

    def update(self, index: Index, weight: NDArray, grad: NDArray, state: State) -> None:
        lr, wd, _ = self._start(index, weight, grad)
        grad = self._scaled(grad)
        momentum, previous = state
        change = -lr * (grad + wd * weight + self.lamda * grad * grad * (weight - previous))
        if momentum is not None:
            momentum[:] *= self.momentum
            momentum[:] += change
            change = momentum
        previous[:] = weight
        weight[:] += change
