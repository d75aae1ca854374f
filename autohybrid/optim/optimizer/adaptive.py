"""Optimizers with a rate for each element: AdaGrad, RMSProp, AdaDelta, Ftrl; and Test, which adds the gradient."""

from __future__ import annotations

from typing import Any

from autohybrid import ndarray as nd
from autohybrid.ndarray import NDArray
from autohybrid.optim.optimizer.base import Index, Optimizer, State, check_arrays, register, zeros_like


@register
class AdaGrad(Optimizer):
    """Divides by the root of the sum of all squared gradients so far."""

    def __init__(self, eps: float = 1e-7, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.float_stable_eps = eps

    def create_state(self, index: Index, weight: NDArray) -> State:
        return zeros_like(weight, stype=weight.stype)

    def update(self, index: Index, weight: NDArray, grad: NDArray, state: State) -> None:
        lr, wd, _ = self._start(index, weight, grad)
        if grad.stype == "row_sparse":
            settings = {"epsilon": self.float_stable_eps, **self._scaling()}
            nd.sparse.adagrad_update(weight, grad, state, out=weight, lr=lr, wd=wd, **settings)
            return
        grad = self._scaled(grad)
        state[:] += nd.square(grad)
        weight[:] += (grad / nd.sqrt(state + self.float_stable_eps) + weight * wd) * -lr


@register
class RMSProp(Optimizer):
    """Divides by a running root mean square; `centered` subtracts the mean first and adds momentum (`gamma2`)."""

    def __init__(
        self,
        learning_rate: float = 0.001,
        gamma1: float = 0.9,
        gamma2: float = 0.9,
        epsilon: float = 1e-8,
        centered: bool = False,
        clip_weights: float | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.gamma1 = gamma1
        self.gamma2 = gamma2
        self.centered = centered
        self.epsilon = epsilon
        self.clip_weights = clip_weights

    def create_state(self, index: Index, weight: NDArray) -> State:
        return tuple(zeros_like(weight, stype=weight.stype) for _ in range(3 if self.centered else 1))

    def update(self, index: Index, weight: NDArray, grad: NDArray, state: State) -> None:
        lr, wd, _ = self._start(index, weight, grad)
        settings = {"gamma1": self.gamma1, "epsilon": self.epsilon, **self._scaling()}
        if self.clip_weights:
            settings["clip_weights"] = self.clip_weights
        if self.centered:
            nd.rmspropalex_update(weight, grad, *state, out=weight, lr=lr, wd=wd, gamma2=self.gamma2, **settings)
        else:
            nd.rmsprop_update(weight, grad, *state, out=weight, lr=lr, wd=wd, **settings)


@register
class AdaDelta(Optimizer):
    """Steps as large as the running root mean square of earlier steps; has no learning rate."""

    def __init__(self, rho: float = 0.9, epsilon: float = 1e-5, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.rho = rho
        self.epsilon = epsilon

    def create_state(self, index: Index, weight: NDArray) -> State:
        return zeros_like(weight), zeros_like(weight)

    def update(self, index: Index, weight: NDArray, grad: NDArray, state: State) -> None:
        check_arrays(weight, grad)
        wd = self._get_wd(index)
        self._update_count(index)
        grad = self._scaled(grad)
        gradients, steps = state
        gradients[:] *= self.rho
        gradients[:] += (1.0 - self.rho) * grad * grad
        step = nd.sqrt(steps + self.epsilon) / nd.sqrt(gradients + self.epsilon) * grad
        steps[:] *= self.rho
        steps[:] += (1.0 - self.rho) * step * step
        weight[:] -= step + wd * weight


@register
class Ftrl(Optimizer):
    """Follow the regularised leader: sparse weights by an L1 term (`lamda1`), rates by accumulated squares."""

    def __init__(self, lamda1: float = 0.01, learning_rate: float = 0.1, beta: float = 1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.lamda1 = lamda1
        self.beta = beta
        self.lr = learning_rate

    def create_state(self, index: Index, weight: NDArray) -> State:
        return zeros_like(weight, stype=weight.stype), zeros_like(weight, stype=weight.stype)

    def update(self, index: Index, weight: NDArray, grad: NDArray, state: State) -> None:
        lr, wd, _ = self._start(index, weight, grad)
        settings = {"lamda1": self.lamda1, "beta": self.beta, **self._scaling()}
        nd.ftrl_update(weight, grad, *state, out=weight, lr=lr, wd=wd, **settings)


@register
class Test(Optimizer):
    """Adds the rescaled gradient to the weight, and remembers the weight; for tests of what calls optimizers."""

    def create_state(self, index: Index, weight: NDArray) -> State:
        return zeros_like(weight)

    def update(self, index: Index, weight: NDArray, grad: NDArray, state: State) -> None:
        weight[:] += grad * self.rescale_grad
        state[:] = weight
