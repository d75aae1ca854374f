"""`mx.npx`: the switches of numpy mode, neural operators on `mx.np` arrays, devices, and files of such arrays."""

from __future__ import annotations

from typing import Any

from autohybrid.context import Context, cpu, cpu_pinned, current_context, gpu
from autohybrid.numpy_extension import image, random
from autohybrid.numpy_extension.calling import call_operator as _call_operator
from autohybrid.numpy_extension.files import load, save
from autohybrid.numpy_semantics import (
    is_np_array,
    is_np_shape,
    np_array,
    np_shape,
    reset_np,
    set_np,
    use_np,
    use_np_array,
    use_np_shape,
)
from autohybrid.tensor.backend import num_gpus
from autohybrid.tensor.creation import waitall
from autohybrid.tensor.modules import lazy_namespace as _lazy_namespace
from autohybrid.tensor.numpy_dialect import ARRAYS as _ARRAYS
from autohybrid.tensor.numpy_functions import bound_namespace as _bound_namespace

globals().update(_bound_namespace("npx", _ARRAYS, "autohybrid.numpy_extension"))
seed: Any = random.seed

__getattr__, __dir__ = _lazy_namespace(globals(), "npx", "autohybrid.numpy_extension", _call_operator)
__all__ = [
    "Context", "cpu", "cpu_pinned", "current_context", "gpu", "image", "is_np_array", "is_np_shape", "load", "np_array",
    "np_shape", "num_gpus", "random", "reset_np", "save", "seed", "set_np", "use_np", "use_np_array", "use_np_shape",
    "waitall",
]  # fmt: skip
