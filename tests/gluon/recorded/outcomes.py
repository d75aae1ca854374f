"""Outcomes of cases as plain JSON, and their comparison: arrays by value within tolerance, the rest exactly."""

from __future__ import annotations

from typing import Any

import numpy as np

#: What a case may raise; its class is part of the outcome.
REFUSALS = (AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)


def outcome_of(run: Any, mx: Any) -> Any:
    """What `run(mx)` returns, or the class of what it raises."""
    try:
        return {"value": encoded(run(mx))}
    except REFUSALS as error:
        return {"raises": type(error).__name__, "text": str(error)[:200]}


def encoded(value: Any) -> Any:
    """Arrays as shape, dtype and values rounded to seven digits; containers as lists; the rest as it is."""
    if hasattr(value, "asnumpy"):
        array = value.asnumpy()
        values = [float(f"{number:.7g}") for number in array.astype("float64").ravel()]
        return {"array": [list(array.shape), str(array.dtype), values]}
    if isinstance(value, (list, tuple)):
        return [encoded(item) for item in value]
    if isinstance(value, dict):
        return {str(key): encoded(item) for key, item in value.items()}
    return value


def difference(want: Any, got: Any, where: str = "result") -> str | None:
    """The first place where two encoded values differ; None when there is none."""
    if isinstance(want, dict) and "array" in want:
        return _array_difference(want["array"], got, where)
    if isinstance(want, list):
        if not isinstance(got, list) or len(want) != len(got):
            return f"{where}: {got!r} instead of {want!r}"
        found = (difference(a, b, f"{where}[{i}]") for i, (a, b) in enumerate(zip(want, got)))
        return next((text for text in found if text), None)
    if isinstance(want, dict) and isinstance(got, dict) and want.keys() == got.keys():
        found = (difference(want[key], got[key], f"{where}[{key!r}]") for key in want)
        return next((text for text in found if text), None)
    return None if want == got else f"{where}: {got!r} instead of {want!r}"


def _array_difference(want: Any, got: Any, where: str) -> str | None:
    if not isinstance(got, dict) or got.get("array", [None])[:2] != want[:2]:
        return f"{where}: {str(got)[:200]} instead of an array {want[:2]}"
    a, b = np.array(want[2]), np.array(got["array"][2])
    if np.allclose(a, b, rtol=1e-4, atol=2e-5, equal_nan=True):
        return None
    return f"{where}: values differ by up to {np.abs(a - b).max():.3g}: {b.tolist()[:8]} instead of {a.tolist()[:8]}"
