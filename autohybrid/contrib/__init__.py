"""`mx.contrib`: what MXNet 1.9.1 keeps apart from the rest. Imported on first use."""

from __future__ import annotations

import importlib
from typing import Any

#: Public name -> module. The namespaces of operators are those of `nd` and `sym`.
_MODULES = {
    "amp": "autohybrid.contrib.amp",
    "autograd": "autohybrid.contrib.autograd",
    "io": "autohybrid.contrib.io",
    "nd": "autohybrid.ndarray.contrib",
    "ndarray": "autohybrid.ndarray.contrib",
    "onnx": "autohybrid.contrib.onnx",
    "sym": "autohybrid.symbol.contrib",
    "symbol": "autohybrid.symbol.contrib",
    "tensorboard": "autohybrid.contrib.tensorboard",
    "text": "autohybrid.contrib.text",
}
#: What MXNet has there and autohybrid has not, and what to do instead.
ABSENT = {
    "quantization": "models run in float32, or float16 with `net.cast('float16')`",
    "quant": "models run in float32, or float16 with `net.cast('float16')`",
    "svrg_optimization": "use an optimizer of mx.optimizer",
    "tensorrt": "hybridize() compiles for CPUs, and for GPUs with CuPy",
}
__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:
    module = _MODULES.get(name)
    if module is None:
        remedy = f"; {ABSENT[name]}" if name in ABSENT else ""
        raise AttributeError(f"module 'autohybrid.contrib' has no attribute '{name}'{remedy}")
    return importlib.import_module(module)
