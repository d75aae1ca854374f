"""`mx.optimizer.contrib`: GroupAdaGrad."""

from __future__ import annotations

from typing import Any

from autohybrid import ndarray as nd
from autohybrid.ndarray import NDArray
from autohybrid.optim.optimizer.base import Index, Optimizer, State, register

__all__ = ["GroupAdaGrad"]


@register
class GroupAdaGrad(Optimizer):
    """AdaGrad with one rate for each row of a matrix. Raises AssertionError for weight decay."""

    def __init__(self, eps: float = 1e-5, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.float_stable_eps = eps

    def create_state(self, index: Index, weight: NDArray) -> State:
        if weight.ndim != 2:
            raise AssertionError(f"GroupAdaGrad is for matrices, not for a weight of shape {weight.shape}")
        shape = (weight.shape[0], 1)
        if weight.stype == "default":
            return nd.zeros(shape, weight.context, dtype=weight.dtype)
        return nd.sparse.zeros(weight.stype, shape, ctx=weight.context, dtype=weight.dtype)

    def update(self, index: Index, weight: NDArray, grad: NDArray, state: State) -> None:
        lr, wd, _ = self._start(index, weight, grad)
        if wd != 0:
            raise AssertionError("GroupAdaGrad does not support weight decay")
        if grad.stype == "row_sparse":
            settings = {"epsilon": self.float_stable_eps, **self._scaling()}
            nd.contrib.group_adagrad_update(weight, grad, state, out=weight, lr=lr, **settings)
            return
        grad = self._scaled(grad)
        state[:] += nd.mean(nd.square(grad), axis=1, keepdims=True)
        weight[:] -= lr * grad / nd.sqrt(state + self.float_stable_eps)
