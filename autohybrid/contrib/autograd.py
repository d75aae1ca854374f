"""`mx.contrib.autograd`: the older interface of `mx.autograd`, which new code should use."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from autohybrid.ndarray import NDArray
from autohybrid.tensor import autograd
from autohybrid.tensor.autograd import mark_variables

__all__ = [
    "TrainingStateScope", "backward", "compute_gradient", "grad", "grad_and_loss", "mark_variables", "set_is_training",
    "test_section", "train_section",
]  # fmt: skip


def set_is_training(is_train: bool) -> bool:
    """Switch recording and train mode, both, on or off; gives what they were before (the recording)."""
    autograd.set_training(is_train)
    return autograd.set_recording(is_train)


class TrainingStateScope:
    """A scope in which recording and train mode are both on or both off."""

    def __init__(self, enter_state: bool) -> None:
        self._enter_state = enter_state
        self._prev: bool | None = None

    def __enter__(self) -> None:
        self._prev = set_is_training(self._enter_state)

    def __exit__(self, *raised: object) -> None:
        if self._prev is not None and self._prev != self._enter_state:
            set_is_training(self._prev)


def train_section() -> TrainingStateScope:
    """A scope for training: recording, train mode."""
    return TrainingStateScope(True)


def test_section() -> TrainingStateScope:
    """A scope inside of `train_section` for what is not to be recorded."""
    return TrainingStateScope(False)


def backward(outputs: Sequence[NDArray], out_grads: Any = None, retain_graph: bool = False) -> None:
    """Compute the gradients of the marked variables from a list of outputs. Raises AssertionError for no list."""
    if not isinstance(outputs, (list, tuple)):
        raise AssertionError(f"outputs must be a list or tuple of NDArrays, not {type(outputs).__name__}")
    if out_grads is not None and len(out_grads) != len(outputs):
        raise AssertionError(f"there are {len(outputs)} outputs, but {len(out_grads)} out_grads")
    autograd.backward(list(outputs), out_grads, retain_graph)


def compute_gradient(outputs: Sequence[NDArray]) -> None:
    """`backward(outputs)`, under its oldest name."""
    backward(outputs)


def grad_and_loss(func: Callable[..., Any], argnum: int | list[int] | None = None) -> Callable[..., Any]:
    """A function that gives the gradients of `func`'s arguments (of those at `argnum`), and its result.

    Raises AssertionError for an argument that is no NDArray.
    """

    @functools.wraps(func)
    def wrapped(*args: Any) -> tuple[list[NDArray], Any]:
        chosen = args if argnum is None else [args[i] for i in (argnum if isinstance(argnum, list) else [argnum])]
        for variable in chosen:
            if not isinstance(variable, NDArray):
                raise AssertionError(f"gradients are those of NDArrays, not of {type(variable).__name__}")
        gradients = [variable.zeros_like() for variable in chosen]
        mark_variables(list(chosen), gradients)
        with train_section():
            outputs = func(*args)
        compute_gradient([outputs] if isinstance(outputs, NDArray) else outputs)
        return gradients, outputs

    return wrapped


def grad(func: Callable[..., Any], argnum: int | list[int] | None = None) -> Callable[..., Any]:
    """A function that gives the gradients of `func`'s arguments (of those at `argnum`)."""
    both = grad_and_loss(func, argnum)

    @functools.wraps(func)
    def wrapped(*args: Any) -> Any:
        return both(*args)[0]

    return wrapped
