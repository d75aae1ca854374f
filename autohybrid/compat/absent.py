"""What MXNet has and autohybrid does not, and what to use in its place: the text of the error.

A name that is asked of a module (`mx.io.ImageDetRecordIter`) raises AttributeError with it.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from autohybrid import contrib

#: Module of autohybrid -> name -> what to do.
_ABSENT: dict[str, dict[str, str]] = {
    "autohybrid.training.io": {"ImageDetRecordIter": "use image.ImageDetIter, which reads the same record files"},
}


#: Paths below `mxnet` that lead nowhere here -> what to do.
ABSENT_PATHS = {
    **{f"contrib.{name}": remedy for name, remedy in contrib.ABSENT.items()},
    "rtc": "compile CUDA code with cupy.RawKernel, whose arrays `to_dlpack_for_read()` and `from_dlpack` exchange",
    "torch": "exchange arrays through `asnumpy()` or DLPack",
    "notebook": "draw with matplotlib",
    "tvmop": "write operators as mx.operator.CustomOp",
}


def explain_absent_path(path: str) -> None:
    """Raise ModuleNotFoundError that says what to do instead, for a path (`contrib.quantization`) in the table."""
    parts = path.split(".")
    for length in range(1, len(parts) + 1):
        remedy = ABSENT_PATHS.get(".".join(parts[:length]))
        if remedy is not None:
            name = f"mxnet.{path}"
            raise ModuleNotFoundError(f"No module named '{name}' in autohybrid; {remedy}", name=name)


def explain_absent_names(module: ModuleType) -> None:
    """Make `module` say what exists instead, when it is asked for a name that MXNet's has and it has not."""
    absent = _ABSENT.get(module.__name__)
    if absent is None or "__getattr__" in vars(module):
        return

    def explain(name: str) -> Any:
        remedy = f"; {absent[name]}" if name in absent else ""
        raise AttributeError(f"module '{module.__name__}' has no attribute '{name}'{remedy}", name=name, obj=module)

    vars(module)["__getattr__"] = explain
