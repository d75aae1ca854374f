"""Whether two runs of an example came to the same: values, gradients, parameters and arguments, in words where not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autohybrid.proving.runs import CallResult, Run

#: Relative and absolute; another order of summation moves the last digits.
_TOLERANCE = {"float16": (1e-2, 1e-3), "float32": (1e-4, 1e-5), "float64": (1e-7, 1e-9)}
Array = np.ndarray[Any, Any]


def find_difference(before: Run, after: Run) -> str:
    """The first difference of the two runs, nothing where there is none.

    `before` went through; it is the measure. Parameters that only one of the two has are not compared.
    """
    for number, (first, second) in enumerate(zip(before.calls, after.calls), start=1):
        problem = _compare_calls(first, second)
        if problem:
            return f"call {number}: {problem}"
    if after.failure is not None:
        return f"call {len(after.calls) + 1} fails with {after.failure.text}"
    if len(after.calls) != len(before.calls):
        return f"{len(before.calls)} calls became {len(after.calls)}"
    if len(before.parameters) == len(after.parameters):
        return _compare("parameter {} after the calls", before.parameters, after.parameters)
    return ""


def _compare_calls(before: CallResult, after: CallResult) -> str:
    if before.structure != after.structure:
        return f"the result `{_short(before.structure)}` became `{_short(after.structure)}`"
    return (
        _compare("output {}", before.outputs, after.outputs)
        or _compare("the gradient of argument {}", before.gradients, after.gradients)
        or _compare_parameters(before, after)
        or _compare("argument {} after the call", before.arguments, after.arguments)
    )


def _compare_parameters(before: CallResult, after: CallResult) -> str:
    first, second = before.parameter_gradients, after.parameter_gradients
    return _compare("the gradient of parameter {}", first, second) if len(first) == len(second) else ""


def _compare(what: str, before: Sequence[Array], after: Sequence[Array]) -> str:
    if len(before) != len(after):
        return f"{len(before)} values became {len(after)} ({what.replace(' {}', '')})"
    for number, (first, second) in enumerate(zip(before, after), start=1):
        problem = _difference(first, second)
        if problem:
            return f"{what.format(number)} {problem}"
    return ""


def _difference(before: Array, after: Array) -> str:
    if before.shape != after.shape:
        return f"had the shape {before.shape} and has {after.shape}"
    if before.dtype != after.dtype:
        return f"had the dtype {before.dtype} and has {after.dtype}"
    rtol, atol = _TOLERANCE.get(before.dtype.name, (0.0, 0.0))
    if np.allclose(before, after, rtol, atol, equal_nan=True):
        return ""
    with np.errstate(all="ignore"):
        distance = np.nanmax(np.abs(before.astype("float64") - after.astype("float64")))
    return f"differs by up to {distance:.3g}"


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."
