"""LossScaler: a factor of the loss that keeps small gradients from vanishing in half precision."""

from __future__ import annotations

from collections.abc import Sequence

from autohybrid import ndarray as nd
from autohybrid.gluon.parameter import Parameter

_LARGEST, _STEADY = 2.0**24, 2000


class LossScaler:
    """Halves the scale when gradients overflow, doubles it after 2,000 steps without (up to 2**24)."""

    def __init__(self, init_scale: float = 2.0**16, scale_factor: float = 2.0, scale_window: int = _STEADY) -> None:
        self.loss_scale = init_scale
        self._factor = scale_factor
        self._window = scale_window
        self._steady = 0

    def has_overflow(self, params: Sequence[Parameter]) -> bool:
        """Whether a gradient is infinite or nan; adapts the scale for the next step."""
        grads = [grad for param in params if param.grad_req != "null" for grad in param.list_grad()]
        overflow = not all(bool(nd.all_finite(grad).asscalar()) for grad in grads)
        if overflow:
            self.loss_scale = max(1.0, self.loss_scale / self._factor)
            self._steady = 0
        else:
            self._steady += 1
            if self._steady == self._window:
                self.loss_scale = min(_LARGEST, self.loss_scale * self._factor)
                self._steady = 0
        return overflow
