"""Profile of a compiled call: time, bytes and arithmetic of every step of the generated executor.

The executor's own statements are timed: a copy of its text, with a clock read between the steps, runs on the same
memory. So what is measured is what runs, joined and reordered as the passes left it; a step names its nodes.
"""

from __future__ import annotations

import itertools
import json
import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autohybrid.files import write_atomically
from autohybrid.graph.executor_plan import ExecutorPlan, Step
from autohybrid.graph.node import Head
from autohybrid.spans import Span

#: Calls before the measured ones: memory is taken and constants are prepared in them.
_WARM_UP = 2


@dataclass(frozen=True, slots=True)
class StepProfile:
    """One step: its nodes' names and operators, the user's place, seconds (median of the calls), bytes that it reads
    and writes, and floating-point operations."""

    names: tuple[str, ...]
    operators: tuple[str, ...]
    span: Span | None
    seconds: float
    bytes: int
    flops: int

    @property
    def title(self) -> str:
        """The operators of the step, a repeated one once with its count."""
        counts = dict.fromkeys(self.operators, 0)
        for operator in self.operators:
            counts[operator] += 1
        return " + ".join(name if n == 1 else f"{n} {name}" for name, n in counts.items())


@dataclass(frozen=True, slots=True)
class Profile:
    """What one hybridized call costs. `seconds` is the median of the calls, `overhead` what is outside of the steps.

    Prints itself as a table (rich shows a coloured one), and writes a trace that Chrome and Perfetto open.
    """

    block: str
    calls: int
    steps: tuple[StepProfile, ...]
    seconds: float
    buffer_bytes: int

    @property
    def overhead(self) -> float:
        """Seconds of a call that are not in any step."""
        return max(self.seconds - sum(step.seconds for step in self.steps), 0.0)

    @property
    def flops(self) -> int:
        """Floating-point operations of a call."""
        return sum(step.flops for step in self.steps)

    def write_trace(self, path: str) -> None:
        """Write the steps of one call in Chrome's trace format, times in microseconds. Raises OSError."""
        entries, start = [], 0.0
        for step in self.steps:
            duration = step.seconds * 1e6
            facts = {"nodes": list(step.names), "bytes": step.bytes, "flops": step.flops, "line": str(step.span or "")}
            entries.append(
                {"ph": "X", "name": step.title, "cat": self.block, "ts": start, "dur": duration, "pid": 0, "tid": 0}
                | {"args": facts}
            )
            start += duration
        text = json.dumps({"traceEvents": entries, "displayTimeUnit": "ms"}, indent=1)
        write_atomically(path, f"{text}\n".encode())

    def __str__(self) -> str:
        from autohybrid.graph.profile_table import as_text

        return as_text(self)

    def __rich__(self) -> Any:
        from autohybrid.graph.profile_table import as_table

        return as_table(self)


def profile_code(block: str, code: Callable[..., Any], arrays: Sequence[Any], calls: int) -> Profile:
    """Run the executor `code` on raw arrays `calls` times and time its steps. Raises ValueError for `calls` < 1."""
    if calls < 1:
        raise ValueError(f"calls is at least 1, not {calls}")
    plan: ExecutorPlan = code.plan  # type: ignore[attr-defined]
    timed, times = _instrumented(code, plan)
    samples: list[list[float]] = []
    whole: list[float] = []
    for turn in range(_WARM_UP + calls):
        start = time.perf_counter()
        code(*arrays)
        middle = time.perf_counter()
        times.clear()
        timed(*arrays)
        if turn >= _WARM_UP:
            whole.append(middle - start)
            samples.append([b - a for a, b in itertools.pairwise(times)])
    medians = [statistics.median(column) for column in zip(*samples)]
    steps = tuple(_step_profile(step, seconds, plan) for step, seconds in zip(plan.steps, medians))
    return Profile(block, calls, steps, statistics.median(whole), plan.buffer_bytes)


def _instrumented(code: Callable[..., Any], plan: ExecutorPlan) -> tuple[Callable[..., Any], list[float]]:
    """A copy of `code` that appends the time to a list before the first step and after every one."""
    source: list[str] = code.source.splitlines()  # type: ignore[attr-defined]
    times: list[float] = []
    names = {"_profile_clock": time.perf_counter, "_profile_times": times}
    tick = "    _profile_times.append(_profile_clock())"
    pieces = source[: plan.steps[0].first] if plan.steps else source
    position = len(pieces)
    for step in plan.steps:
        pieces += [*source[position : step.first], tick, *source[step.first : step.end]]
        position = step.end
    if plan.steps:
        pieces += [tick, *source[position:]]
    scope = {**code.__globals__, **names}
    exec(compile("\n".join(pieces), "<autohybrid profiled executor>", "exec"), scope)
    return scope["run"], times


def _step_profile(step: Step, seconds: float, plan: ExecutorPlan) -> StepProfile:
    inside = set(step.nodes)
    read = {head for node in step.nodes for head in node.inputs if head[0] not in inside}
    written = {(node, i) for node in step.nodes for i in range(node.visible_count)}
    inner = {head for node in step.nodes for head in node.inputs if head[0] in inside}
    moved = sum(_nbytes(head, plan) for head in read | (written - inner))
    return StepProfile(
        tuple(node.name for node in step.nodes),
        tuple(node.op.name for node in step.nodes if node.op is not None),
        step.nodes[-1].span,
        seconds,
        moved,
        sum(_flops(node, plan) for node in step.nodes),
    )


def _nbytes(head: Head, plan: ExecutorPlan) -> int:
    shape, dtype = plan.shapes.get(head), plan.dtypes.get(head)
    return 0 if shape is None or dtype is None else math.prod(shape) * np.dtype(dtype).itemsize


def _flops(node: Any, plan: ExecutorPlan) -> int:
    out = plan.shapes.get((node, 0))
    if node.op is None or out is None or node.op.view:
        return 0
    if node.op.flops is None:
        return math.prod(out)
    return int(node.op.flops(node.attrs, [plan.shapes.get(head) for head in node.inputs], out))
