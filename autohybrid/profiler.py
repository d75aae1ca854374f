"""`mx.profiler`: times of the tasks, frames and events that the code itself marks. Operators are not timed.

`set_state('run')` says so in a warning; Python's own profilers (`python -m cProfile`) see into autohybrid.
"""

from __future__ import annotations

import json
import time
import warnings
from dataclasses import dataclass, field
from typing import Any

from autohybrid.files import write_atomically

__all__ = [
    "Counter", "Domain", "Event", "Frame", "Marker", "Task", "dump", "dumps", "pause", "resume", "set_config",
    "set_state",
]  # fmt: skip

_OPTIONS = frozenset(
    ("filename", "profile_all", "profile_symbolic", "profile_imperative", "profile_memory", "profile_api")
    + ("contiguous_memory", "continuous_dump", "dump_period", "aggregate_stats", "profile_process")
)


@dataclass(slots=True)
class _Recorder:
    """What is being recorded: entries of Chrome's trace format, with times in microseconds."""

    filename: str = "profile.json"
    is_running: bool = False
    entries: list[dict[str, Any]] = field(default_factory=list)

    def add(self, kind: str, name: str, domain: str, start: float, **more: Any) -> None:
        if self.is_running:
            self.entries.append({"ph": kind, "name": name, "cat": domain, "ts": start, "pid": 0, "tid": 0, **more})


_recorder = _Recorder()


def _now() -> float:
    return time.perf_counter() * 1e6


def set_config(**kwargs: Any) -> None:
    """Choose the `filename` of `dump`. MXNet's other options are taken and have nothing to choose between here.

    Raises ValueError for an option that MXNet does not have.
    """
    unknown = sorted(set(kwargs) - _OPTIONS)
    if unknown:
        raise ValueError(f"the profiler has no option {', '.join(unknown)}; it has {', '.join(sorted(_OPTIONS))}")
    _recorder.filename = kwargs.get("filename", _recorder.filename)


def set_state(state: str = "stop", profile_process: str = "worker") -> None:
    """Begin ('run') or end ('stop') recording. Raises ValueError for another state."""
    if state not in ("run", "stop"):
        raise ValueError(f"state is 'run' or 'stop', not {state!r}")
    if state == "run":
        warnings.warn(
            "autohybrid's profiler times the tasks, frames and events of mx.profiler, but no operators; "
            "`python -m cProfile` does",
            RuntimeWarning,
            stacklevel=2,
        )
    _recorder.is_running = state == "run"


def pause(profile_process: str = "worker") -> None:
    """Stop recording until `resume`."""
    _recorder.is_running = False


def resume(profile_process: str = "worker") -> None:
    """Go on recording."""
    _recorder.is_running = True


def dumps(reset: bool = False, format: str = "table", sort_by: str = "total", ascending: bool = False) -> str:
    """The times in milliseconds by name, as a table or as JSON (`format`).

    `sort_by`: total, avg, min, max or count. Raises ValueError for another word in either.
    """
    if format not in ("table", "json") or sort_by not in ("total", "avg", "min", "max", "count"):
        raise ValueError(f"no format {format!r}, or no order {sort_by!r}")
    times: dict[str, list[float]] = {}
    for entry in _recorder.entries:
        if entry["ph"] == "X":
            times.setdefault(entry["name"], []).append(entry["dur"] / 1e3)
    rows = [
        {"name": name, "count": len(t), "total": sum(t), "min": min(t), "max": max(t), "avg": sum(t) / len(t)}
        for name, t in times.items()
    ]
    rows.sort(key=lambda row: row[sort_by], reverse=not ascending)
    if reset:
        _recorder.entries.clear()
    if format == "json":
        return json.dumps({"Time": rows, "Unit": {"Time": "ms"}})
    lines = [f"{'Name':<32}{'Count':>8}{'Total ms':>12}{'Min ms':>12}{'Max ms':>12}{'Avg ms':>12}"]
    for row in rows:
        numbers = "".join(f"{row[key]:>12.4f}" for key in ("total", "min", "max", "avg"))
        lines.append(f"{row['name']:<32}{row['count']:>8}{numbers}")
    return "\n".join(lines) + "\n"


def dump(finished: bool = True, profile_process: str = "worker") -> None:
    """Write what was recorded to the configured file, in Chrome's trace format."""
    write_atomically(_recorder.filename, json.dumps({"traceEvents": _recorder.entries}).encode())
    if finished:
        _recorder.is_running = False


class Domain:
    """A name that groups tasks, frames, counters and markers."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __str__(self) -> str:
        return self.name

    def new_task(self, name: str) -> Task:
        """A task of this domain."""
        return Task(self, name)

    def new_frame(self, name: str) -> Frame:
        """A frame of this domain."""
        return Frame(self, name)

    def new_counter(self, name: str, value: float | None = None) -> Counter:
        """A counter of this domain."""
        return Counter(self, name, value)

    def new_marker(self, name: str) -> Marker:
        """A marker of this domain."""
        return Marker(self, name)


class _Span:
    """Something with a beginning and an end; also a context manager."""

    def __init__(self, domain: Domain | str, name: str) -> None:
        self.name, self._domain = name, str(domain)
        self._start: float | None = None

    def __str__(self) -> str:
        return self.name

    def start(self) -> None:
        """Begin."""
        self._start = _now()

    def stop(self) -> None:
        """End; the time since `start` is recorded. Without `start` nothing is."""
        if self._start is not None:
            _recorder.add("X", self.name, self._domain, self._start, dur=_now() - self._start)
            self._start = None

    def __enter__(self) -> _Span:
        self.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self.stop()


class Task(_Span):
    """A piece of work."""


class Frame(_Span):
    """A piece of work that comes again and again."""


class Event(_Span):
    """A piece of work without a domain."""

    def __init__(self, name: str) -> None:
        super().__init__("event", name)


class Counter:
    """A number over time."""

    def __init__(self, domain: Domain, name: str, value: float | None = None) -> None:
        self.name, self._domain, self._value = name, str(domain), 0.0
        if value is not None:
            self.set_value(value)

    def set_value(self, value: float) -> None:
        """Record `value`."""
        self._value = value
        _recorder.add("C", self.name, self._domain, _now(), args={self.name: value})

    def increment(self, delta: float = 1) -> None:
        """Add `delta`."""
        self.set_value(self._value + delta)

    def decrement(self, delta: float = 1) -> None:
        """Take `delta` away."""
        self.set_value(self._value - delta)

    def __iadd__(self, delta: float) -> Counter:
        self.increment(delta)
        return self

    def __isub__(self, delta: float) -> Counter:
        self.decrement(delta)
        return self


class Marker:
    """A moment."""

    def __init__(self, domain: Domain, name: str) -> None:
        self.name, self._domain = name, str(domain)

    def mark(self, scope: str = "process") -> None:
        """Record the present moment. `scope`: global, process or thread."""
        _recorder.add("i", self.name, self._domain, _now(), s=scope[:1])
