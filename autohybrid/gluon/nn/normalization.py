"""Normalizations: over the batch, over channels, over groups of channels, over each instance."""

from __future__ import annotations

from typing import Any

import numpy as np

from autohybrid.gluon.hybrid_block import HybridBlock

__all__ = ["BatchNorm", "BatchNormReLU", "GroupNorm", "InstanceNorm", "LayerNorm"]


class _BatchNorm(HybridBlock):
    """BatchNorm with or without a ReLU behind it."""

    _shape_argument = "in_channels"

    def __init__(
        self,
        axis: int = 1,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        use_global_stats: bool = False,
        fuse_relu: bool = False,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        running_mean_initializer: Any = "zeros",
        running_variance_initializer: Any = "ones",
        in_channels: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._kwargs: dict[str, Any] = {
            "axis": axis, "eps": epsilon, "momentum": momentum, "fix_gamma": not scale,
            "use_global_stats": use_global_stats,
        }  # fmt: skip
        self.fuse_relu = fuse_relu
        if in_channels:
            self.in_channels = in_channels

        def channelwise(name: str, init: Any, learnt: bool) -> Any:
            return self.params.get(
                name,
                grad_req="write" if learnt else "null",
                shape=(in_channels,),
                init=init,
                allow_deferred_init=True,
                differentiable=learnt,
            )

        self.gamma = channelwise("gamma", gamma_initializer, scale)
        self.beta = channelwise("beta", beta_initializer, center)
        self.running_mean = channelwise("running_mean", running_mean_initializer, False)
        self.running_var = channelwise("running_var", running_variance_initializer, False)

    def cast(self, dtype: Any) -> None:
        """Convert to another dtype; for float16 the parameters stay float32, as the operator wants them."""
        super().cast("float32" if np.dtype(dtype).name == "float16" else dtype)

    def hybrid_forward(self, F: Any, x: Any, gamma: Any, beta: Any, running_mean: Any, running_var: Any) -> Any:
        if self.fuse_relu:
            return F.contrib.BatchNormWithReLU(x, gamma, beta, running_mean, running_var, name="fwd", **self._kwargs)
        return F.BatchNorm(x, gamma, beta, running_mean, running_var, name="fwd", **self._kwargs)

    def __repr__(self) -> str:
        return _repr(self, self._kwargs, _channels(self.gamma) or None)


class BatchNorm(_BatchNorm):
    """Normalizes each channel (`axis`) over the batch, then `gamma * x + beta`.

    In train mode the batch's mean and variance are used and the running ones move by `1 - momentum` (in backward, as in
    MXNet); otherwise, or with `use_global_stats`, the running ones are used. `scale=False` fixes gamma at 1,
    `center=False` leaves beta as it starts.
    """

    def __init__(
        self,
        axis: int = 1,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        use_global_stats: bool = False,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        running_mean_initializer: Any = "zeros",
        running_variance_initializer: Any = "ones",
        in_channels: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            axis, momentum, epsilon, center, scale, use_global_stats, False, beta_initializer, gamma_initializer,
            running_mean_initializer, running_variance_initializer, in_channels, **kwargs,
        )  # fmt: skip


class BatchNormReLU(_BatchNorm):
    """BatchNorm followed by ReLU, in one operator."""

    def __init__(
        self,
        axis: int = 1,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        use_global_stats: bool = False,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        running_mean_initializer: Any = "zeros",
        running_variance_initializer: Any = "ones",
        in_channels: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            axis, momentum, epsilon, center, scale, use_global_stats, True, beta_initializer, gamma_initializer,
            running_mean_initializer, running_variance_initializer, in_channels, **kwargs,
        )  # fmt: skip


class _AffineNorm(HybridBlock):
    """A normalization with a learnt `gamma` (if `scale`) and `beta` (if `center`) of one size."""

    def _add_affine(self, size: int, center: bool, scale: bool, beta_initializer: Any, gamma_initializer: Any) -> None:
        self.gamma = self.params.get(
            "gamma", grad_req="write" if scale else "null", shape=(size,), init=gamma_initializer,
            allow_deferred_init=True,
        )  # fmt: skip
        self.beta = self.params.get(
            "beta", grad_req="write" if center else "null", shape=(size,), init=beta_initializer,
            allow_deferred_init=True,
        )  # fmt: skip


class InstanceNorm(_AffineNorm):
    """Normalizes each channel (`axis`) of each instance over its other axes, then `gamma * x + beta`."""

    _shape_argument = "in_channels"

    def __init__(
        self,
        axis: int = 1,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = False,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        in_channels: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._kwargs = {"eps": epsilon, "axis": axis, "center": center, "scale": scale}
        self._axis = axis
        self._epsilon = epsilon
        self._add_affine(in_channels, center, scale, beta_initializer, gamma_initializer)

    def hybrid_forward(self, F: Any, x: Any, gamma: Any, beta: Any) -> Any:
        if self._axis == 1:
            return F.InstanceNorm(x, gamma, beta, name="fwd", eps=self._epsilon)
        x = x.swapaxes(1, self._axis)
        return F.InstanceNorm(x, gamma, beta, name="fwd", eps=self._epsilon).swapaxes(1, self._axis)

    def __repr__(self) -> str:
        return _repr(self, self._kwargs, _channels(self.gamma))


class LayerNorm(_AffineNorm):
    """Normalizes along `axis`, then `gamma * x + beta`; gamma and beta are as long as that axis."""

    _shape_argument = "in_channels"

    def __init__(
        self,
        axis: int = -1,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        in_channels: int = 0,
        prefix: str | None = None,
        params: Any = None,
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        self._kwargs = {"eps": epsilon, "axis": axis, "center": center, "scale": scale}
        self._axis = axis
        self._epsilon = epsilon
        self._add_affine(in_channels, center, scale, beta_initializer, gamma_initializer)

    def hybrid_forward(self, F: Any, data: Any, gamma: Any, beta: Any) -> Any:
        return F.LayerNorm(data, gamma=gamma, beta=beta, axis=self._axis, eps=self._epsilon)

    def __repr__(self) -> str:
        return _repr(self, self._kwargs, _channels(self.gamma))


class GroupNorm(_AffineNorm):
    """Normalizes each of `num_groups` groups of channels of each instance; gamma and beta have `num_groups` entries.

    (MXNet 1.9.1 has one gamma and beta for each group, not for each channel.)
    """

    def __init__(
        self,
        num_groups: int = 1,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        prefix: str | None = None,
        params: Any = None,
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        self._kwargs = {"eps": epsilon, "num_groups": num_groups, "center": center, "scale": scale}
        self._num_groups = num_groups
        self._epsilon = epsilon
        self._add_affine(num_groups, center, scale, beta_initializer, gamma_initializer)

    def hybrid_forward(self, F: Any, data: Any, gamma: Any, beta: Any) -> Any:
        return F.GroupNorm(data, gamma=gamma, beta=beta, num_groups=self._num_groups, eps=self._epsilon)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({_listed(self._kwargs)})"


def _channels(parameter: Any) -> int:
    return parameter.shape[0]  # type: ignore[no-any-return]


def _listed(kwargs: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in kwargs.items())


def _repr(layer: HybridBlock, kwargs: dict[str, Any], channels: int | None) -> str:
    return f"{type(layer).__name__}({_listed(kwargs)}, in_channels={channels})"
