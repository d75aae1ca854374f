"""Checks of symbols against expected values and finite differences (`mx.test_utils`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from autohybrid import ndarray as nd
from autohybrid.context import Context, current_context
from autohybrid.ndarray import NDArray
from autohybrid.training.comparing import assert_almost_equal

__all__ = ["check_numeric_gradient", "check_symbolic_backward", "check_symbolic_forward", "simple_forward"]

Host = np.ndarray[Any, Any]
#: The step of finite differences, by dtype.
_STEPS = {"float16": 1e-1, "float32": 1e-3, "float64": 1e-4}


def _arrays(names: list[str], given: Any, ctx: Context | None, dtype: Any) -> dict[str, NDArray]:
    """The values given for `names`, by name or in their order, as arrays. Raises ValueError for other names."""
    if isinstance(given, Mapping):
        if set(given) != set(names):
            raise ValueError(f"there are values for {sorted(given)}, but the symbol has {sorted(names)}")
        values = dict(given)
    else:
        values = dict(zip(names, given, strict=True))
    context = ctx or current_context()
    return {
        name: value.copy() if isinstance(value, NDArray) else nd.array(value, ctx=context, dtype=dtype)
        for name, value in values.items()
    }


def _bind(sym: Any, location: Any, aux_states: Any, grad_req: Any, ctx: Context | None, dtype: Any) -> Any:
    arguments = _arrays(sym.list_arguments(), location, ctx, dtype)
    states = _arrays(sym.list_auxiliary_states(), aux_states, ctx, dtype) if aux_states else None
    requests = dict(zip(arguments, grad_req)) if isinstance(grad_req, (list, tuple)) else grad_req
    wanted = {
        name: nd.zeros(array.shape, ctx=array.context, dtype=array.dtype)
        for name, array in arguments.items()
        if (requests.get(name, "null") if isinstance(requests, Mapping) else requests) != "null"
    }
    return sym.bind(ctx or current_context(), arguments, args_grad=wanted, grad_req=requests, aux_states=states)


def simple_forward(sym: Any, ctx: Context | None = None, is_train: bool = False, **inputs: Any) -> Any:
    """The outputs of a symbol for inputs by name, as NumPy arrays; a single one by itself."""
    arrays = {name: nd.array(value) for name, value in inputs.items()}
    executor = sym.bind(ctx or current_context(), args=arrays)
    outputs = [output.asnumpy() for output in executor.forward(is_train=is_train)]
    return outputs[0] if len(outputs) == 1 else outputs


def check_symbolic_forward(
    sym: Any,
    location: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    aux_states: Any = None,
    ctx: Context | None = None,
    equal_nan: bool = False,
    dtype: Any = np.float32,
) -> list[NDArray]:
    """Raise AssertionError unless the outputs for these inputs (by name, or in their order) are as `expected`."""
    executor = _bind(sym, location, aux_states, "null", ctx, dtype)
    outputs: list[NDArray] = executor.forward(is_train=False)
    names = sym.list_outputs()
    values = [expected[name] for name in names] if isinstance(expected, Mapping) else list(expected)
    for name, output, value in zip(names, outputs, values, strict=True):
        labels = (f"expected {name}", f"forward {name}")
        assert_almost_equal(value, output, rtol=rtol, atol=atol, names=labels, equal_nan=equal_nan)
    return outputs


def check_symbolic_backward(
    sym: Any,
    location: Any,
    out_grads: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    aux_states: Any = None,
    grad_req: Any = "write",
    ctx: Context | None = None,
    grad_stypes: Any = None,
    equal_nan: bool = False,
    dtype: Any = np.float32,
) -> dict[str, NDArray]:
    """Raise AssertionError unless the gradients of the inputs, for these head gradients, are as `expected`.

    `expected` is by name, or in the order of the inputs; inputs that are not in it are not compared. `grad_req` 'add'
    begins at zeros.
    """
    executor = _bind(sym, location, aux_states, grad_req, ctx, dtype)
    executor.forward(is_train=True)
    names = sym.list_outputs()
    heads = [out_grads[name] for name in names] if isinstance(out_grads, Mapping) else list(out_grads or ())
    executor.backward([h if isinstance(h, NDArray) else nd.array(h, dtype=dtype) for h in heads] or None)
    wanted = expected if isinstance(expected, Mapping) else dict(zip(sym.list_arguments(), expected))
    found: dict[str, NDArray] = {name: array for name, array in executor.grad_dict.items() if array is not None}
    for name, value in wanted.items():
        if name in found:
            labels = (f"expected gradient of {name}", f"gradient of {name}")
            assert_almost_equal(value, found[name], rtol=rtol, atol=atol, names=labels, equal_nan=equal_nan)
    return found


def check_numeric_gradient(
    sym: Any,
    location: Any,
    aux_states: Any = None,
    numeric_eps: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    grad_nodes: Any = None,
    use_forward_train: bool = True,
    ctx: Context | None = None,
    grad_stype_dict: Any = None,
    dtype: Any = np.float32,
) -> None:
    """Raise AssertionError unless the gradients of a symbol's inputs are what finite differences say.

    The single output is weighted with random numbers and summed. `grad_nodes`: the names of the inputs to check.
    """
    arguments = _arrays(sym.list_arguments(), location, ctx, dtype)
    names = (
        [n for n in arguments if np.dtype(arguments[n].dtype).kind == "f"] if grad_nodes is None else list(grad_nodes)
    )
    executor = _bind(sym, arguments, aux_states, dict.fromkeys(names, "write"), ctx, dtype)
    (output,) = executor.forward(is_train=True)
    weights = np.random.normal(0.1, 1.0, output.shape)
    executor.backward(nd.array(weights, ctx=output.context, dtype=output.dtype))
    step = numeric_eps or _STEPS[np.dtype(dtype).name]
    for name in names:
        found = executor.grad_dict[name].asnumpy()
        wanted = _differences(sym, arguments, aux_states, name, weights, step, use_forward_train, ctx, dtype)
        labels = (f"NUMERICAL_{name}", f"BACKWARD_{name}")
        assert_almost_equal(wanted, found, rtol=rtol or 1e-2, atol=1e-3 if atol is None else atol, names=labels)


def _differences(
    sym: Any,
    arguments: dict[str, NDArray],
    aux_states: Any,
    name: str,
    weights: Host,
    step: float,
    is_train: bool,
    ctx: Context | None,
    dtype: Any,
) -> Host:
    """The gradient of the weighted sum of the output with respect to one input, by central differences."""
    base = arguments[name].asnumpy().astype("float64")
    found = np.zeros_like(base)
    for index in np.ndindex(*base.shape):
        sums = []
        for sign in (1, -1):
            moved = base.copy()
            moved[index] += sign * step
            executor = _bind(sym, {**arguments, name: moved}, aux_states, "null", ctx, dtype)
            sums.append(float((executor.forward(is_train=is_train)[0].asnumpy() * weights).sum()))
        found[index] = (sums[0] - sums[1]) / (2 * step)
    return found
