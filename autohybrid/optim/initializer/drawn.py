"""Initializers that draw from the device's random generator: Uniform, Normal, Xavier, MSRAPrelu, Orthogonal."""

from __future__ import annotations

import math

import numpy as np

from autohybrid.ndarray import NDArray
from autohybrid.optim.initializer.base import Initializer, register
from autohybrid.tensor.array import wrap
from autohybrid.tensor.random_state import generator


def _fill_uniform(arr: NDArray, bound: float) -> None:
    values = generator(arr.context).random(arr.shape, dtype="float32")
    arr[:] = wrap((values * 2 - 1) * np.float32(bound), arr.context)


def _fill_normal(arr: NDArray, sigma: float) -> None:
    values = generator(arr.context).standard_normal(arr.shape, dtype="float32")
    arr[:] = wrap(values * np.float32(sigma), arr.context)


@register
class Uniform(Initializer):
    """Uniform in `[-scale, scale)`."""

    def __init__(self, scale: float = 0.07) -> None:
        super().__init__(scale=scale)
        self.scale = scale

    def _init_weight(self, name: str, arr: NDArray) -> None:
        _fill_uniform(arr, self.scale)


@register
class Normal(Initializer):
    """Normal with mean 0 and standard deviation `sigma`."""

    def __init__(self, sigma: float = 0.01) -> None:
        super().__init__(sigma=sigma)
        self.sigma = sigma

    def _init_weight(self, name: str, arr: NDArray) -> None:
        _fill_normal(arr, self.sigma)


@register
class Xavier(Initializer):
    """Scaled by the fans, so that the size of signals is kept: variance `magnitude / factor / 3` or `/ 1`.

    The factor is `fan_in` ('in'), `fan_out` ('out') or their mean ('avg'); draws are uniform in
    `[-sqrt(magnitude / factor), ...]` or 'gaussian' with that standard deviation. Raises ValueError for vectors.
    """

    def __init__(self, rnd_type: str = "uniform", factor_type: str = "avg", magnitude: float = 3) -> None:
        super().__init__(rnd_type=rnd_type, factor_type=factor_type, magnitude=magnitude)
        self.rnd_type = rnd_type
        self.factor_type = factor_type
        self.magnitude = float(magnitude)

    def _init_weight(self, name: str, arr: NDArray) -> None:
        scale = math.sqrt(self.magnitude / self._factor(name, arr.shape))
        if self.rnd_type == "uniform":
            _fill_uniform(arr, scale)
        elif self.rnd_type == "gaussian":
            _fill_normal(arr, scale)
        else:
            raise ValueError(f"rnd_type must be 'uniform' or 'gaussian', not {self.rnd_type!r}")

    def _factor(self, name: str, shape: tuple[int, ...]) -> float:
        if len(shape) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least two dimensions, and `{name}` has shape {shape}; "
                "give a vector another initializer, such as mx.init.Uniform()"
            )
        window = math.prod(shape[2:])
        fan_in, fan_out = shape[1] * window, shape[0] * window
        factors = {"avg": (fan_in + fan_out) / 2.0, "in": float(fan_in), "out": float(fan_out)}
        if self.factor_type not in factors:
            raise ValueError(f"factor_type must be 'avg', 'in' or 'out', not {self.factor_type!r}")
        return factors[self.factor_type]


@register
class MSRAPrelu(Xavier):
    """He initialization for layers followed by PReLU with this initial `slope`."""

    def __init__(self, factor_type: str = "avg", slope: float = 0.25) -> None:
        super().__init__("gaussian", factor_type, 2.0 / (1 + slope**2))
        self._kwargs = {"factor_type": factor_type, "slope": slope}


@register
class Orthogonal(Initializer):
    """Orthogonal rows (or columns, where there are fewer), times `scale`; axes behind the first count as one."""

    def __init__(self, scale: float = 1.414, rand_type: str = "uniform") -> None:
        super().__init__(scale=scale, rand_type=rand_type)
        self.scale = scale
        self.rand_type = rand_type

    def _init_weight(self, name: str, arr: NDArray) -> None:
        flat = NDArray(np.empty((arr.shape[0], math.prod(arr.shape[1:])), dtype="float32"))
        if self.rand_type == "uniform":
            _fill_uniform(flat, 1.0)
        elif self.rand_type == "normal":
            _fill_normal(flat, 1.0)
        else:
            raise ValueError(f"rand_type must be 'uniform' or 'normal', not {self.rand_type!r}")
        left, _, right = np.linalg.svd(flat.asnumpy(), full_matrices=False)
        basis = left if left.shape == flat.shape else right
        arr[:] = self.scale * basis.reshape(arr.shape)
