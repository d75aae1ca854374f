"""Initializer: what decides a parameter's first values from its name, and the registry of initializers.

The naming rules are MXNet 1.9.1's: `*weight` gets the initializer's own rule, `*bias` and `*beta` zeros, `*gamma` ones.
"""

from __future__ import annotations

import json
import logging
import math
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from autohybrid.ndarray import NDArray
from autohybrid.registry import get_alias_func, get_create_func, get_register_func
from autohybrid.tensor.random_state import generator

#: End of the name -> the method that fills the array. The first match counts.
_BY_SUFFIX: tuple[tuple[str, str], ...] = (
    ("weight", "_init_weight"),
    ("bias", "_init_bias"),
    ("gamma", "_init_gamma"),
    ("beta", "_init_beta"),
    ("min", "_init_zero"),
    ("max", "_init_one"),
    ("weight_quantize", "_init_quantized_weight"),
    ("bias_quantize", "_init_quantized_bias"),
)
#: The rules for a name that is plain text: (start, end) of the name -> method.
_LEGACY: tuple[tuple[str, str, str], ...] = (
    ("upsampling", "", "_init_bilinear"),
    ("stn_loc", "weight", "_init_zero"),
    ("stn_loc", "bias", "_init_loc_bias"),
    ("", "bias", "_init_bias"),
    ("", "gamma", "_init_gamma"),
    ("", "beta", "_init_beta"),
    ("", "weight", "_init_weight"),
    ("", "moving_mean", "_init_zero"),
    ("", "moving_var", "_init_one"),
    ("", "moving_inv_var", "_init_zero"),
    ("", "moving_avg", "_init_zero"),
    ("", "min", "_init_zero"),
    ("", "max", "_init_one"),
)


class InitDesc(str):
    """The name of an array to initialize, with its attributes (`__init__`: its own initializer) and the global one."""

    attrs: Mapping[str, str]
    global_init: Initializer | None

    def __new__(
        cls, name: str, attrs: Mapping[str, str] | None = None, global_init: Initializer | None = None
    ) -> InitDesc:
        made = super().__new__(cls, name)
        made.attrs = attrs or {}
        made.global_init = global_init
        return made


class Initializer:
    """Base of all initializers: `initializer(InitDesc('fc_weight'), array)` fills `array`.

    Subclasses define `_init_weight(name, arr)`; `_init_bias`, `_init_gamma`, `_init_beta` and `_init_default` can be
    replaced too. Keywords given to `__init__` are what `dumps()` writes.

    Example::

        @mx.init.register
        class Half(mx.init.Initializer):
            def _init_weight(self, name, arr):
                arr[:] = 0.5
    """

    def __init__(self, **kwargs: Any) -> None:
        self._kwargs = kwargs
        self._verbose = False
        self._print_func: Callable[[NDArray], str] | None = None

    def set_verbosity(self, verbose: bool = False, print_func: Callable[[NDArray], str] | None = None) -> Initializer:
        """Log each initialized array with a statistic (by default its norm divided by the root of its size)."""
        self._verbose = verbose
        self._print_func = print_func or _root_mean_square
        return self

    def _verbose_print(self, desc: str, init: str, arr: NDArray) -> None:
        if self._verbose and self._print_func:
            logging.info("initialized %s as %s: %s", desc, init, self._print_func(arr))

    def dumps(self) -> str:
        """The initializer as JSON: `'["normal", {"sigma": 0.5}]'`; `mx.init.create` reads it back."""
        return json.dumps([type(self).__name__.lower(), self._kwargs])

    def __call__(self, desc: str, arr: NDArray) -> None:
        """Fill `arr` by the rule for `desc`. Raises ValueError when no rule knows the name."""
        if not isinstance(desc, InitDesc):
            self._legacy_init(desc, arr)
            return
        if desc.global_init is None:
            desc.global_init = self
        own = desc.attrs.get("__init__", "")
        if own:
            create(own)._init_weight(desc, arr)
            self._verbose_print(desc, own, arr)
            return
        for suffix, method in _BY_SUFFIX:
            if desc.endswith(suffix):
                getattr(self, method)(desc, arr)
                self._verbose_print(desc, suffix, arr)
                return
        self._init_default(desc, arr)

    def _legacy_init(self, name: str, arr: NDArray) -> None:
        warnings.warn(
            "calling an initializer with a plain name is deprecated; give it mx.init.InitDesc(name)",
            DeprecationWarning,
            stacklevel=3,
        )
        if not isinstance(name, str):
            raise TypeError(f"the name must be text, not {type(name).__name__}")
        if not isinstance(arr, NDArray):
            raise TypeError(f"the array must be an NDArray, not {type(arr).__name__}")
        for start, end, method in _LEGACY:
            if name.startswith(start) and name.endswith(end):
                getattr(self, method)(name, arr)
                return
        self._init_default(name, arr)

    def _init_weight(self, name: str, arr: NDArray) -> None:
        raise NotImplementedError(f"{type(self).__name__} must define _init_weight(self, name, arr)")

    def _init_default(self, name: str, arr: NDArray) -> None:
        raise ValueError(
            f"no rule of initialization knows the name `{name}`: names end in weight, bias, gamma or beta; "
            "give this parameter its own initializer (`init=mx.init.Zero()`) instead"
        )

    def _init_zero(self, name: str, arr: NDArray) -> None:
        arr[:] = 0

    _init_bias = _init_beta = _init_quantized_bias = _init_zero

    def _init_one(self, name: str, arr: NDArray) -> None:
        arr[:] = 1

    _init_gamma = _init_one

    def _init_bilinear(self, name: str, arr: NDArray) -> None:
        arr[:] = bilinear_kernel(arr.shape)

    def _init_loc_bias(self, name: str, arr: NDArray) -> None:
        if arr.shape[0] != 6:
            raise AssertionError(
                f"the bias of a localisation network has 6 entries (an affine map), not {arr.shape[0]}"
            )
        arr[:] = np.array([1.0, 0, 0, 0, 1.0, 0])

    def _init_quantized_weight(self, name: str, arr: NDArray) -> None:
        arr[:] = int(generator(arr.context).integers(-127, 127))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Initializer):
            return NotImplemented
        return type(self) is type(other) and self._kwargs == other._kwargs

    __hash__ = None  # type: ignore[assignment]  # equality is by settings, which can change


def _root_mean_square(arr: NDArray) -> str:
    values = arr.asnumpy().astype("float64")
    return str(float(np.linalg.norm(values) / math.sqrt(values.size)))


def bilinear_kernel(shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """The up-sampling kernel of a transposed convolution, equal in all channels. `shape`: (out, in, height, width).

    Rows and columns are both scaled by the width, as MXNet does.
    """
    height, width = shape[2:4]
    half = math.ceil(width / 2)
    centre = (2 * half - 1 - half % 2) / (2.0 * half)
    across = 1 - np.abs(np.arange(width) / half - centre)
    down = 1 - np.abs(np.arange(height) / half - centre)
    return np.broadcast_to(np.outer(down, across).astype("float32"), shape)


register = get_register_func(Initializer, "initializer")
alias = get_alias_func(Initializer, "initializer")
create = get_create_func(Initializer, "initializer")
