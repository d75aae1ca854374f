"""Constant: a parameter whose value is given and never trained."""

from __future__ import annotations

import warnings
import zlib
from typing import Any

from autohybrid.gluon.parameter import Parameter
from autohybrid.registry import get_registry
from autohybrid.tensor.array import NDArray
from autohybrid.tensor.creation import array


class Constant(Parameter):
    """A parameter with a fixed value, ignored by autograd and Trainer; `set_data` may still change it.

    >>> mx.gluon.Constant('c', [[1, 2], [3, 4]])
    Constant c (shape=(2, 2), dtype=<class 'numpy.float32'>)
    """

    def __init__(self, name: str, value: Any) -> None:
        from autohybrid.optim import initializer

        held = value if isinstance(value, NDArray) else array(value)
        self.value = held

        # The name goes into exported graphs. It holds a checksum of the value, so that two exports of one model are
        # equal byte for byte (MXNet puts the object's address there).
        digest = zlib.crc32(held.asnumpy().tobytes())
        init_name = f"Constant_{name}_{digest}"
        if init_name.lower() not in get_registry(initializer.Initializer):
            initializer.alias(init_name)(_initializer_of(held.copy()))
        super().__init__(name, grad_req="null", shape=held.shape, dtype=held.dtype, init=init_name)

    def __repr__(self) -> str:
        return f"Constant {self.name} (shape={self.shape}, dtype={self.dtype})"

    @property
    def grad_req(self) -> str:
        """Always 'null'."""
        return "null"

    @grad_req.setter
    def grad_req(self, req: str) -> None:
        if req != "null":
            warnings.warn(f"constant `{self.name}` has no gradient; grad_req={req!r} is ignored", stacklevel=2)
        self._grad_req = "null"


def _initializer_of(value: NDArray) -> Any:
    from autohybrid.optim import initializer

    class Init(initializer.Initializer):
        """Fills an array with the constant."""

        def _init_weight(self, _: Any, arr: Any) -> None:
            value.copyto(arr)

    return Init
