"""What an imperative call on a small array costs beyond NumPy's own call: `python benchmarks/imperative_calls.py`.

The goal is under 3 microseconds for element-wise operators. Each figure is the best of many short runs, so that other
work on the machine disturbs it little.
"""

from __future__ import annotations

import sys
import timeit
from collections.abc import Callable
from typing import Any

import numpy as np

from autohybrid import autograd, nd

REPEATS, CALLS = 200, 300


def microseconds(call: Callable[[], Any]) -> float:
    """The time of one call."""
    return min(timeit.repeat(call, number=CALLS, repeat=REPEATS)) / CALLS * 1e6


def main() -> None:
    """Print one line for each call."""
    a = np.random.default_rng(0).random(100, dtype="float32")
    b = a[:1].copy()
    x, y, z = (nd.array(v, dtype="float32") for v in (a, a, b))
    calls: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
        "nd.relu(x)": (lambda: np.maximum(a, 0), lambda: nd.relu(x)),
        "x.relu()": (lambda: np.maximum(a, 0), lambda: x.relu()),
        "nd.exp(x)": (lambda: np.exp(a), lambda: nd.exp(x)),
        "x + y": (lambda: np.add(a, a), lambda: x + y),
        "x + 1": (lambda: np.add(a, 1), lambda: x + 1),
        "2 * x": (lambda: np.multiply(a, 2.0), lambda: 2.0 * x),
        "x + y, broadcast": (lambda: np.add(a, b), lambda: x + z),
        "x > 0": (lambda: (a > 0).astype("float32"), lambda: x > 0),
        "nd.clip(x, 0, 1)": (lambda: np.clip(a, 0, 1), lambda: nd.clip(x, 0, 1)),
        "nd.sum(x)": (lambda: a.sum(), lambda: nd.sum(x)),
        "x.mean(axis=0)": (lambda: a.mean(axis=0), lambda: x.mean(axis=0)),
    }
    write = sys.stdout.write
    write(f"{'call':20}{'NumPy us':>10}{'ours us':>10}{'beyond us':>10}\n")
    for name, (reference, ours) in calls.items():
        before, after = microseconds(reference), microseconds(ours)
        write(f"{name:20}{before:10.2f}{after:10.2f}{after - before:10.2f}\n")
    x.attach_grad()

    def step() -> None:
        with autograd.record():
            loss = (x * y + 1).relu().sum()
        loss.backward()

    write(f"{'record and backward':20}{'':10}{microseconds(step):10.2f}\n")


if __name__ == "__main__":
    main()
