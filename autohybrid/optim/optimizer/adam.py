"""Adam and what came of it: Adam, Adamax, Nadam, FTML."""

from __future__ import annotations

import math
from typing import Any

from autohybrid import ndarray as nd
from autohybrid.ndarray import NDArray
from autohybrid.optim.optimizer.base import Index, Optimizer, State, register, zeros_like
from autohybrid.tensor import update_in_place as in_place
from autohybrid.tensor.update_in_place import can_update


class _TwoMoments(Optimizer):
    """An optimizer with running means of the gradient and of its square (decays beta1 and beta2)."""

    def __init__(self, beta1: float, beta2: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.beta1 = beta1
        self.beta2 = beta2

    def create_state(self, index: Index, weight: NDArray) -> State:
        return zeros_like(weight), zeros_like(weight)


@register
class Adam(_TwoMoments):
    """Adam: `weight -= lr * mean / (sqrt(var) + epsilon)`, with both running means corrected for their start."""

    def __init__(
        self,
        learning_rate: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        lazy_update: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(beta1, beta2, learning_rate=learning_rate, **kwargs)
        self.epsilon = epsilon
        self.lazy_update = lazy_update

    def create_state(self, index: Index, weight: NDArray) -> State:
        stype = weight.stype if self.lazy_update else "default"
        return zeros_like(weight, stype=stype), zeros_like(weight, stype=stype)

    def update(self, index: Index, weight: NDArray, grad: NDArray, state: State) -> None:
        lr, wd, t = self._start(index, weight, grad)
        lr *= math.sqrt(1.0 - self.beta2**t) / (1.0 - self.beta1**t)
        if can_update(weight, grad, *state):
            constants: dict[str, Any] = {**self._scaling(), "beta1": self.beta1, "beta2": self.beta2}
            in_place.adam(weight, grad, *state, lr=lr, wd=wd, epsilon=self.epsilon, **constants)
            return
        nd.adam_update(
            weight,
            grad,
            *state,
            out=weight,
            lazy_update=self.lazy_update,
            lr=lr,
            wd=wd,
            beta1=self.beta1,
            beta2=self.beta2,
            epsilon=self.epsilon,
            **self._scaling(),
        )


@register
class Adamax(_TwoMoments):
    """Adam with the largest gradient seen (decaying by beta2) in place of the root mean square."""

    def __init__(self, learning_rate: float = 0.002, beta1: float = 0.9, beta2: float = 0.999, **kwargs: Any) -> None:
        super().__init__(beta1, beta2, learning_rate=learning_rate, **kwargs)

    def update(self, index: Index, weight: NDArray, grad: NDArray, state: State) -> None:
        lr, wd, t = self._start(index, weight, grad)
        grad = self._scaled(grad, wd * weight)
        mean, largest = state
        mean[:] *= self.beta1
        mean[:] += (1.0 - self.beta1) * grad
        largest[:] = nd.maximum(self.beta2 * largest, nd.abs(grad))
        weight[:] -= lr / (1.0 - self.beta1**t) * mean / largest


@register
class Nadam(_TwoMoments):
    """Adam with Nesterov's look-ahead; the momentum follows a schedule with `schedule_decay`."""

    def __init__(
        self,
        learning_rate: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        schedule_decay: float = 0.004,
        **kwargs: Any,
    ) -> None:
        super().__init__(beta1, beta2, learning_rate=learning_rate, **kwargs)
        self.epsilon = epsilon
        self.schedule_decay = schedule_decay
        self.m_schedule = 1.0

    def _momentum(self, t: int) -> float:
        return float(self.beta1 * (1.0 - 0.5 * 0.96 ** (t * self.schedule_decay)))

    def update(self, index: Index, weight: NDArray, grad: NDArray, state: State) -> None:
        lr, wd, t = self._start(index, weight, grad)
        grad = self._scaled(grad, wd * weight)
        now, ahead = self._momentum(t), self._momentum(t + 1)
        # One schedule for all parameters, as in MXNet: each update of any parameter moves it.
        self.m_schedule *= now
        mean, square = state
        mean[:] *= self.beta1
        mean[:] += (1.0 - self.beta1) * grad
        square[:] *= self.beta2
        square[:] += (1.0 - self.beta2) * grad * grad
        mixed = (1.0 - now) * (grad / (1.0 - self.m_schedule)) + ahead * (mean / (1.0 - self.m_schedule * ahead))
        weight[:] -= lr * mixed / (nd.sqrt(square / (1.0 - self.beta2**t)) + self.epsilon)


@register
class FTML(Optimizer):
    """Follow the moving leader."""

    def __init__(self, beta1: float = 0.6, beta2: float = 0.999, epsilon: float = 1e-8, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon

    def create_state(self, index: Index, weight: NDArray) -> State:
        return zeros_like(weight), zeros_like(weight), zeros_like(weight)

    def update(self, index: Index, weight: NDArray, grad: NDArray, state: State) -> None:
        lr, wd, t = self._start(index, weight, grad)
        nd.ftml_update(
            weight,
            grad,
            *state,
            out=weight,
            lr=lr,
            wd=wd,
            t=t,
            beta1=self.beta1,
            beta2=self.beta2,
            epsilon=self.epsilon,
            **self._scaling("clip_grad"),
        )
