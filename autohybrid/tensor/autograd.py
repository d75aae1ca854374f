"""`mx.autograd`: recording, backward and gradients, with MXNet 1.9.1's names and meaning.

Higher derivatives (`grad(..., create_graph=True)`) are right wherever the first is made of differentiable operators.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.array import NDArray, mark_variable, wrap
from autohybrid.tensor.numpy_array import ndarray, numpy_view
from autohybrid.tensor.tape import TapeNode, Variable, run_backward, state

__all__ = [
    "Function", "backward", "grad", "is_recording", "is_training", "mark_variables", "pause", "predict_mode",
    "record", "set_recording", "set_training", "train_mode",
]  # fmt: skip


def is_recording() -> bool:
    """Whether calls are being recorded."""
    return state.recording


def is_training() -> bool:
    """Whether operators run in train mode (Dropout drops, BatchNorm uses the batch)."""
    return state.training


def set_recording(is_recording: bool) -> bool:
    """Switch recording on or off; returns the previous state."""
    previous, state.recording = state.recording, bool(is_recording)
    return previous


def set_training(train_mode: bool) -> bool:
    """Switch train mode on or off; returns the previous state."""
    previous, state.training = state.training, bool(train_mode)
    return previous


class _Scope:
    """Recording and train mode inside a `with`; None leaves a mode as it is."""

    def __init__(self, recording: bool | None, training: bool | None) -> None:
        self._enter = recording, training
        self._saved: list[tuple[bool, bool]] = []

    def __enter__(self) -> _Scope:
        self._saved.append((state.recording, state.training))
        recording, training = self._enter
        if recording is not None:
            state.recording = recording
        if training is not None:
            state.training = training
        return self

    def __exit__(self, *exc: Any) -> None:
        state.recording, state.training = self._saved.pop()


def record(train_mode: bool = True) -> _Scope:
    """Record the calls inside the `with`, in train mode unless `train_mode=False`."""
    return _Scope(True, train_mode)


def pause(train_mode: bool = False) -> _Scope:
    """Do not record inside the `with`; in predict mode unless `train_mode=True`."""
    return _Scope(False, train_mode)


def train_mode() -> _Scope:
    """Train mode inside the `with`, recording unchanged."""
    return _Scope(None, True)


def predict_mode() -> _Scope:
    """Predict mode inside the `with`, recording unchanged."""
    return _Scope(None, False)


def mark_variables(variables: Any, gradients: Any, grad_reqs: str | Sequence[str] = "write") -> None:
    """Make arrays leaves whose gradients go to `gradients`."""
    if isinstance(variables, NDArray):
        variables, gradients = [variables], [gradients]
    reqs = [grad_reqs] * len(variables) if isinstance(grad_reqs, str) else grad_reqs
    for variable, gradient, req in zip(variables, gradients, reqs):
        mark_variable(variable, gradient, req)


def backward(heads: Any, head_grads: Any = None, retain_graph: bool = False, train_mode: bool = True) -> None:
    """Gradients of `heads` into the `.grad` of the leaves. A head gradient of None stands for ones."""
    heads, head_grads = _as_lists(heads, head_grads)
    run_backward(heads, head_grads, None, retain_graph, False, train_mode)


def grad(
    heads: Any,
    variables: Any,
    head_grads: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    train_mode: bool = True,
) -> list[NDArray]:
    """The gradients of `heads` with respect to `variables`, returned instead of written: a list, as in MXNet also
    for a single variable.

    With `create_graph=True` they are recorded and can be differentiated again. Raises MXNetError when a variable
    does not take part in the computation of the heads.
    """
    listed = [variables] if isinstance(variables, NDArray) else list(variables)
    if not listed:
        raise AssertionError("grad: `variables` is empty")
    sources = []
    for position, variable in enumerate(listed):
        if variable._entry is None or not isinstance(variable._entry[0], Variable):
            raise MXNetError(
                f"grad: variable {position} is not a leaf; call `attach_grad()` on it before it is used in record()"
            )
        sources.append(variable._entry[0])
    heads, head_grads = _as_lists(heads, head_grads)
    retain = create_graph if retain_graph is None else retain_graph
    found = run_backward(heads, head_grads, sources, retain, create_graph, train_mode)
    return [_alike(g, v) if g is not None else v.zeros_like() for g, v in zip(found, listed)]


def _alike(gradient: NDArray, variable: NDArray) -> NDArray:
    """The gradient as an `mx.np` array where the variable is one."""
    return numpy_view(gradient) if isinstance(variable, ndarray) else gradient


def _as_lists(heads: Any, head_grads: Any) -> tuple[list[NDArray], list[NDArray | None] | None]:
    if isinstance(heads, NDArray):
        heads = [heads]
        head_grads = None if head_grads is None else [head_grads] if isinstance(head_grads, NDArray) else head_grads
    if head_grads is not None and len(head_grads) != len(heads):
        raise ValueError(f"{len(heads)} heads but {len(head_grads)} head gradients")
    return list(heads), None if head_grads is None else list(head_grads)


class Function:
    """A differentiable function written by the user: override `forward` and `backward`, call the instance.

    Example::

        class Sigmoid(autograd.Function):
            def forward(self, x):
                y = 1 / (1 + nd.exp(-x))
                self.save_for_backward(y)
                return y
            def backward(self, dy):
                y, = self.saved_tensors
                return dy * y * (1 - y)
    """

    def __init__(self) -> None:
        self._used = False
        self.saved_tensors: tuple[Any, ...] = ()
        self._numpy: list[bool] = []

    def save_for_backward(self, *args: Any) -> None:
        """Keep arrays for `backward`, which finds them in `saved_tensors`."""
        self.saved_tensors = args

    def __call__(self, *inputs: NDArray) -> Any:
        if state.builder is not None and state.recording:
            state.builder.leave_graph(f"the gradient of the autograd.Function {type(self).__name__} is Python code")
        with pause(train_mode=state.training):
            outputs = self.forward(*inputs)
        single = isinstance(outputs, NDArray)
        listed = [outputs] if single else list(outputs)
        if state.recording and any(x._entry is not None for x in inputs):
            listed = [wrap(o._data, o._ctx).as_class(numpy=isinstance(o, ndarray)) for o in listed]
            self._numpy = [isinstance(o, ndarray) for o in listed]
            node = TapeNode(
                type(self).__name__, self._gradient, None, inputs, [o._data for o in listed], state.training
            )
            for index, output in enumerate(listed):
                output._entry = (node, index)
        return listed[0] if single else listed

    def _gradient(self, F: Any, node: Any, heads: Sequence[NDArray]) -> Any:
        result = self.backward(*[numpy_view(h) if numpy else h for h, numpy in zip(heads, self._numpy)])
        results = [result] if isinstance(result, NDArray) or result is None else list(result)
        if len(results) != len(node.inputs):
            raise MXNetError(
                f"{type(self).__name__}.backward returned {len(results)} gradients for {len(node.inputs)} inputs"
            )
        return results

    def forward(self, *inputs: Any) -> Any:
        """Compute the outputs from the inputs."""
        raise NotImplementedError(f"{type(self).__name__} must define forward(self, *inputs)")

    def backward(self, *output_grads: Any) -> Any:
        """Compute the gradients of the inputs from those of the outputs."""
        raise NotImplementedError(f"{type(self).__name__} must define backward(self, *output_grads)")
