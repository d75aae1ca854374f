"""Time one workload on several contenders in one run, interleaved, each in a process of its own.

A workload is a module in this folder with `make(framework, threads)`, which returns a callable; a contender is a
framework name and the Python that has it. The processes take turns of `--turn` milliseconds each, so that what else the
machine does hits all alike; reported are the median and the best microseconds of a call, and ratios to the first
contender. Thread counts are fixed before anything is imported. Results are compared with the first contender's.

With `--cpu-time` the processor time of the process is counted instead of the time on the clock, and MXNet computes in
the calling thread (its NaiveEngine): the figures to trust on a busy machine.

    python -m benchmarks.mlp --mxnet .oracle/bin/python
"""

from __future__ import annotations

import argparse
import ctypes
import importlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).resolve().parent.parent
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass
class Contender:
    """A framework under one interpreter, and the calls it has timed (seconds)."""

    framework: str
    python: str
    times: list[float] = field(default_factory=list)
    note: str = ""
    process: subprocess.Popen[str] | None = None

    def start(self, module: str, threads: int, cpu_time: bool = False) -> None:
        """Start the process; it builds the workload and reports a digest of its result."""
        env = {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS_")}
        env.update({name: str(threads) for name in _THREADS})
        if cpu_time:
            env.update({"BENCHMARK_CPU_TIME": "1", "MXNET_ENGINE_TYPE": "NaiveEngine"})
        command = [self.python, "-m", "benchmarks.contest", "--serve", module, self.framework, str(threads)]
        self.process = subprocess.Popen(
            command, cwd=_ROOT, env=env, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def ask(self, word: str) -> Any:
        """Send one word and wait for the answer; None when the process has died."""
        assert self.process is not None and self.process.stdin is not None and self.process.stdout is not None
        try:
            self.process.stdin.write(f"{word}\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return None
        for line in self.process.stdout:
            if line.startswith("@@"):
                return json.loads(line[2:])
        return None


def run(module: str, description: str | None) -> None:
    """The command line of a workload module."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(
        "--mxnet", default=os.environ.get("AUTOHYBRID_MXNET_PYTHON", ""), help="a Python with MXNet 1.9.1"
    )
    parser.add_argument(
        "--torch", default=os.environ.get("AUTOHYBRID_TORCH_PYTHON", ""), help="a Python with torch and autohybrid"
    )
    parser.add_argument(
        "--onnxruntime",
        default=os.environ.get("AUTOHYBRID_ONNXRUNTIME_PYTHON", ""),
        help="a Python with onnxruntime, onnx and autohybrid",
    )
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--cpu-time", action="store_true", help="count processor time; for busy machines")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--turn", type=float, default=50.0, help="milliseconds of each turn")
    parser.add_argument("--json", default="", help="also write the figures to this file")
    options = parser.parse_args()
    contenders = [Contender("autohybrid", sys.executable)]
    if hasattr(importlib.import_module(f"benchmarks.{module}"), "by_hand"):
        contenders.append(Contender("numpy", sys.executable))
    if options.mxnet:
        contenders += [Contender("mxnet", options.mxnet), Contender("mxnet-static", options.mxnet)]
    if options.torch:
        contenders.append(Contender("torch", options.torch))
    if options.onnxruntime:
        contenders.append(Contender("onnxruntime", options.onnxruntime))
    table = contest(
        f"benchmarks.{module}", contenders, options.threads, options.rounds, options.turn / 1000, options.cpu_time
    )
    print(_text(table))
    if options.json:
        Path(options.json).write_text(json.dumps(table, indent=2) + "\n")


def contest(
    module: str, contenders: list[Contender], threads: int, rounds: int, turn: float, cpu_time: bool = False
) -> dict[str, Any]:
    """Time the contenders in turns. A contender that cannot run the workload is left out with a note."""
    for contender in contenders:
        contender.start(module, threads, cpu_time)
    digests = {c.framework: c.ask("digest") for c in contenders}
    ready = [c for c in contenders if digests[c.framework] is not None]
    for _ in range(rounds):
        for contender in ready:
            contender.times.extend(contender.ask(str(turn)) or [])
    for contender in contenders:
        if contender.process is not None:
            contender.process.kill()
    return {
        "workload": module.rpartition(".")[2],
        "threads": threads,
        "clock": "processor" if cpu_time else "wall",
        "blas": digests[ready[0].framework]["blas"],
        "contenders": [_figures(c, ready[0], digests) for c in ready],
        "left_out": [c.framework for c in contenders if c not in ready],
    }


def _figures(contender: Contender, first: Contender, digests: dict[str, Any]) -> dict[str, Any]:
    median, best = statistics.median(contender.times), min(contender.times)
    own, reference = digests[contender.framework]["result"], digests[first.framework]["result"]
    return {
        "framework": contender.framework,
        "median_us": median * 1e6,
        "best_us": best * 1e6,
        "first_over_this": statistics.median(first.times) / median,
        "largest_difference": max((abs(a - b) for a, b in zip(own, reference)), default=0.0),
    }


def _text(table: dict[str, Any]) -> str:
    head = f"{table['workload']}, {table['threads']} thread(s), BLAS: {table['blas']}"
    rows = [f"{'':14}{'median us':>12}{'best us':>12}{'autohybrid/it':>16}{'difference':>14}"]
    for row in table["contenders"]:
        rows.append(
            f"{row['framework']:14}{row['median_us']:12.1f}{row['best_us']:12.1f}{row['first_over_this']:16.2f}"
            f"{row['largest_difference']:14.1e}"
        )
    if table["left_out"]:
        rows.append(f"left out: {', '.join(table['left_out'])}")
    return "\n".join([head, *rows])


def serve(module: str, framework: str, threads: int) -> None:
    """The child process: build the workload, then answer `digest` and turns on standard input."""
    call, result = importlib.import_module(module).make(framework, threads)
    for line in sys.stdin:
        answer = {"result": result(), "blas": _blas()} if line.strip() == "digest" else _turn(call, float(line))
        print(f"@@{json.dumps(answer)}", flush=True)


def _turn(call: Callable[[], object], seconds: float) -> list[float]:
    """Seconds for one call, for each group of calls that fits into the turn."""
    clock = time.process_time if "BENCHMARK_CPU_TIME" in os.environ else time.perf_counter
    start = clock()
    call()
    group = max(1, int(0.002 / max(clock() - start, 1e-7)))
    times: list[float] = []
    end = time.perf_counter() + seconds
    while not times or time.perf_counter() < end:
        start = clock()
        for _ in range(group):
            call()
        times.append((clock() - start) / group)
    return times


def _blas() -> str:
    """The release of OpenBLAS under NumPy and the kernel that it runs on this processor, where they can be told."""
    import numpy as np

    try:
        described = str(np.show_config(mode="dicts")["Build Dependencies"]["blas"]["openblas configuration"])
    except (KeyError, TypeError):
        return "unknown"
    release = " ".join(described.split()[:2])
    return f"{release}, kernel {_openblas_kernel() or 'unknown'}"


def _openblas_kernel() -> str | None:
    """What the loaded library says; its build configuration names another, the one that it was made on."""
    maps = Path("/proc/self/maps")
    lines = maps.read_text().splitlines() if maps.exists() else []
    for path in sorted({line.split()[-1] for line in lines if "openblas" in line}):
        library = ctypes.CDLL(path)
        for name in ("scipy_openblas_get_corename64_", "scipy_openblas_get_corename", "openblas_get_corename"):
            if hasattr(library, name):
                ask = getattr(library, name)
                ask.restype = ctypes.c_char_p
                return str(ask().decode())
    return None


if __name__ == "__main__" and sys.argv[1:2] == ["--serve"]:
    serve(sys.argv[2], sys.argv[3], int(sys.argv[4]))
