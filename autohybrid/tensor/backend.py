"""The array library behind a device: NumPy for CPUs, CuPy (imported on first use) for GPUs.

The one place that knows both. Kernels receive the namespace as `xp`.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from autohybrid.context import Context
from autohybrid.errors import MXNetError

Array = Any  # numpy.ndarray, cupy.ndarray or another array of a registered namespace

_GPU_REMEDY = (
    "no CUDA device is available to autohybrid: install CuPy (`pip install 'autohybrid[cuda12]'` or `[cuda13]`) on a "
    "machine with a CUDA device, or use `mx.cpu()`"
)


def namespace_of(ctx: Context) -> ModuleType:
    """The array namespace for arrays on `ctx`. Raises MXNetError for a GPU without CuPy."""
    return np if ctx.device_typeid != 2 else _cupy()


def array_namespace(data: Array) -> Any:
    """The namespace an array belongs to: numpy, cupy, or what the array says itself."""
    if type(data) is np.ndarray:
        return np
    own = getattr(type(data), "__autohybrid_namespace__", None)
    if own is not None:
        return own
    return _cupy() if type(data).__module__.startswith("cupy") else np


def to_host(data: Array) -> np.ndarray[Any, Any]:
    """A NumPy array with the values of `data` (a copy only if it lives elsewhere)."""
    if isinstance(data, np.ndarray):
        return data
    return data.get()  # type: ignore[no-any-return]  # cupy and the device double of the tests share this method


def to_device(data: Array, ctx: Context) -> Array:
    """`data` on `ctx`; not copied when it is there already."""
    xp = namespace_of(ctx)
    if xp is np:
        return to_host(data)
    with xp.cuda.Device(ctx.device_id):
        return xp.asarray(data)


def num_gpus() -> int:
    """How many CUDA devices CuPy sees; 0 without CuPy."""
    try:
        cupy = _cupy()
    except MXNetError:
        return 0
    return int(cupy.cuda.runtime.getDeviceCount())


def _cupy() -> ModuleType:
    try:
        import cupy
    except ImportError as error:
        raise MXNetError(_GPU_REMEDY) from error
    try:
        if cupy.cuda.runtime.getDeviceCount() < 1:
            raise MXNetError(_GPU_REMEDY)
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise MXNetError(_GPU_REMEDY) from error
    return cupy  # type: ignore[no-any-return]
