"""Compare random programs, hybridized, with their imperative selves: values, gradients, states and errors.

    python -m tools.random_programs --programs 100000 --seed 0 [--jobs 2] [--chunk 500]

A seed is a program; the first program has seed `--seed`. Prints every difference with its program. Each chunk runs in a
process of its own, so memory does not grow. The exit code is 1 when a program differs.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
import warnings
from collections.abc import Sequence
from multiprocessing import get_context
from pathlib import Path

_PROBLEMS_SHOWN = 20


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the programs in chunks; 1 when one differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=2000, help="how many (default 2000)")
    parser.add_argument("--seed", type=int, default=0, help="of the first program (default 0)")
    parser.add_argument("--chunk", type=int, default=500, help="programs in one process (default 500)")
    parser.add_argument("--jobs", type=int, default=1, help="processes at one time (default 1)")
    options = parser.parse_args(arguments)
    end = options.seed + options.programs
    chunks = [(first, min(first + options.chunk, end)) for first in range(options.seed, end, options.chunk)]
    done = differ = 0
    seconds = 0.0
    os.environ["AUTOHYBRID_CACHE"] = "0"  # no program comes twice
    with get_context("spawn").Pool(options.jobs, maxtasksperchild=1) as pool:
        for (first, last), (problems, used) in zip(chunks, pool.imap(run_chunk, chunks)):
            done, differ, seconds = done + last - first, differ + len(problems), seconds + used
            for problem in problems[: max(0, _PROBLEMS_SHOWN - differ + len(problems))]:
                print(problem, flush=True)
            print(f"{done} programs, {differ} differ, {seconds / done:.3f} CPU seconds each", flush=True)
    return int(bool(differ))


def run_chunk(bounds: tuple[int, int]) -> tuple[list[str], float]:
    """The differences of the programs with seeds from the first bound to before the second, and the CPU seconds."""
    import autohybrid as mx
    from tools.random_programs.comparing import check

    start = time.process_time()
    problems = []
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", mx.HybridizeWarning)
        for seed in range(*bounds):
            try:
                check(seed, Path(folder))
            except AssertionError as error:
                problems.append(str(error))
    return problems, time.process_time() - start
