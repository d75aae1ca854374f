"""`nd.contrib.foreach`, `while_loop` and `cond`: loops and branches that run their body step by step, now.

The bodies are ordinary Python over arrays, so the tape records what they do. `name` is what the functions of symbols
(`graph/symbol_control.py`) call their node; code that runs with either may pass it. What a hybridized block makes of
them is in `graph/control.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.array import NDArray
from autohybrid.tensor.imperative import invoke
from autohybrid.tensor.ops import get_operator
from autohybrid.tensor.tape import state

__all__ = ["cond", "foreach", "while_loop"]


def foreach(
    body: Callable[[Any, Any], tuple[Any, Any]], data: Any, init_states: Any, name: str | None = None
) -> tuple[Any, Any]:
    """Run `out, states = body(slice, states)` for each slice of `data` along its first axis.

    `data` is an array or a list of arrays, `init_states` an array or a nested list. Returns the outputs, stacked along
    a new first axis and structured as the body gives them, and the last states. Raises ValueError for anything but
    arrays, MXNetError when there is no step to run.
    """
    for what, value in (("data", data), ("init_states", init_states)):
        for leaf in leaves(value):
            if not isinstance(leaf, NDArray):
                raise ValueError(
                    f"foreach: `{what}` must be an NDArray or a nested list of them, not {type(leaf).__name__}"
                )
    single = isinstance(data, NDArray)
    arrays = [data] if single else list(data)
    if not arrays or len(arrays[0]) == 0:
        raise MXNetError("foreach: `data` has no first axis to go along, or it is empty, so the outputs are unknown")
    states, steps = init_states, []
    for index in range(len(arrays[0])):
        slices = [x[index] for x in arrays]
        output, states = body(slices[0] if single else slices, states)
        steps.append(output)
    return _stacked(steps), states


def while_loop(
    cond: Callable[..., Any],
    func: Callable[..., Any],
    loop_vars: Any,
    max_iterations: int | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Run `output, loop_vars = func(*loop_vars)` while `cond(*loop_vars)` holds, at most `max_iterations` times.

    The loop variables may be lists of lists. Returns the outputs of the steps, stacked and filled with zeros to
    `max_iterations` along the first axis ([] when no step ran), and the last loop variables. Raises
    ValueError when `max_iterations` is missing, or what the functions return does not fit.
    """
    if max_iterations is None:
        raise ValueError("while_loop: `max_iterations` must be given, it is the first extent of the outputs")
    if is_nested(loop_vars):
        flat_cond, flat_func = on_leaves(cond, func, loop_vars)
        outputs, last = while_loop(flat_cond, flat_func, list(leaves(loop_vars)), max_iterations, name)
        return outputs, regrouped(loop_vars, iter(last))
    limit = _number(max_iterations, int, "`max_iterations`")
    variables = _as_tuple(loop_vars, "`loop_vars`")
    if not variables:
        raise ValueError("while_loop: `loop_vars` must hold at least one array")
    if state.builder is not None:
        outputs, last = state.builder.control.while_loop(cond, func, variables, limit)
        return outputs, last[0] if isinstance(loop_vars, NDArray) else list(last)
    steps: list[Any] = []
    while len(steps) < limit and _number(cond(*variables), bool, "what `cond` returns"):
        output, new = func(*variables)
        new_variables = _as_tuple([] if new is None else new, "the new loop variables")
        if len(new_variables) != len(variables):
            raise ValueError(f"while_loop: `func` returned {len(new_variables)} loop variables for {len(variables)}")
        variables = new_variables
        steps.append([] if output is None else output)
    outputs = _stacked(steps, limit) if steps else []
    return outputs, variables[0] if isinstance(loop_vars, NDArray) else list(variables)


def cond(pred: NDArray, then_func: Callable[[], Any], else_func: Callable[[], Any], name: str | None = None) -> Any:
    """`then_func()` if the one element of `pred` is not 0, else `else_func()`."""
    if state.builder is not None and isinstance(pred, NDArray):
        return state.builder.control.branch(pred, then_func, else_func)
    return then_func() if _number(pred, bool, "`pred`") else else_func()


def leaves(value: Any) -> Iterator[Any]:
    """Everything in nested lists and tuples that is none itself, left to right."""
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from leaves(item)
    else:
        yield value


def is_nested(value: Any) -> bool:
    """Whether it is a list or tuple with lists or tuples in it."""
    return isinstance(value, (list, tuple)) and any(isinstance(item, (list, tuple)) for item in value)


def regrouped(like: Any, values: Iterator[Any]) -> Any:
    """`values` in lists nested as `like`."""
    return [regrouped(item, values) for item in like] if isinstance(like, (list, tuple)) else next(values)


def on_leaves(
    cond: Callable[..., Any], func: Callable[..., Any], loop_vars: Any
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The functions of a while loop over nested variables, as functions of their leaves."""

    def flat_cond(*values: Any) -> Any:
        return cond(*regrouped(loop_vars, iter(values)))

    def flat_func(*values: Any) -> tuple[Any, Any]:
        output, new = func(*regrouped(loop_vars, iter(values)))
        return output, [] if new is None else list(leaves(new))

    return flat_cond, flat_func


def _stacked(steps: list[Any], length: int | None = None) -> Any:
    """The outputs of all steps joined leaf by leaf along a new first axis, filled with zeros up to `length`."""
    first = steps[0]
    if isinstance(first, (list, tuple)):
        for step in steps:
            if not isinstance(step, (list, tuple)) or len(step) != len(first):
                raise ValueError("the number of outputs of the body must be the same in each step")
        return [_stacked([step[i] for step in steps], length) for i in range(len(first))]
    for step in steps:
        if not isinstance(step, NDArray):
            raise ValueError(f"the outputs of the body must be NDArrays, not {type(step).__name__}")
        if step.shape != first.shape:
            raise ValueError(f"the shapes of an output must agree in all steps: {first.shape} and {step.shape}")
    rows = steps
    if length is not None and length > len(steps):
        rows = [*steps, *[first.zeros_like()] * (length - len(steps))]
    op = get_operator("stack")
    return invoke(op, op.parse({"num_args": len(rows)}), rows)


def _as_tuple(value: Any, what: str) -> tuple[NDArray, ...]:
    items = (value,) if isinstance(value, NDArray) else tuple(value) if isinstance(value, (list, tuple)) else None
    if items is None or not all(isinstance(item, NDArray) for item in items):
        raise ValueError(f"while_loop: {what} must be an NDArray or a list of them, got {type(value).__name__}")
    return items


def _number(value: Any, kind: type, what: str) -> Any:
    number = value.asscalar() if isinstance(value, NDArray) else value
    try:
        return kind(number)
    except (TypeError, ValueError):
        raise ValueError(f"{what} cannot be converted to {kind.__name__}: {number!r}") from None
