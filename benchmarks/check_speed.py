"""How long `autohybrid check` takes: cold, warm, and for one file inside a running process.

    python -m benchmarks.check_speed SITE/gluoncv SITE/gluoncv2 --runs 3

Counted is CPU time (user and system, children included), as the wall clock of a shared machine says little; printed is
the best of the runs. ruff, flake8 and pylint run on the same folders when they are installed (pylint only with
`--pylint`, it takes minutes).
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from autohybrid.analysis.settings import AnalysisSettings
from autohybrid.analysis.source import SourceFile
from autohybrid.analysis.workspace import Workspace
from autohybrid.diagnostics.judge import judge


def cpu_of(command: Sequence[str], environment: dict[str, str] | None = None) -> tuple[float, float]:
    """CPU seconds of a command, and the peak memory in MB of any child so far."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, after.ru_maxrss / 1024


def check_command(paths: Sequence[str], *options: str) -> list[str]:
    """The command line of a check."""
    return [sys.executable, "-m", "autohybrid", "check", "--exit-zero", "--output-format", "concise", *options, *paths]


def time_check(paths: Sequence[str], runs: int) -> None:
    """Cold (no cache) and warm (nothing changed) runs of the command line."""
    cold = [cpu_of(check_command(paths, "--no-cache")) for _ in range(runs)]
    print(f"cold    {min(seconds for seconds, _ in cold):6.2f} CPU s   {max(peak for _, peak in cold):5.0f} MB")
    with tempfile.TemporaryDirectory() as folder:
        command = check_command(paths, "--cache-dir", folder)
        cpu_of(command)
        warm = [cpu_of(command)[0] for _ in range(runs)]
    print(f"warm    {min(warm):6.2f} CPU s")


def time_recheck(paths: Sequence[str]) -> None:
    """One changed file at a time inside this process: the median and the 95th percentile."""
    found = [path for root in paths for path in sorted(Path(root).rglob("*.py"))]
    files = [SourceFile(str(path), path.read_text(encoding="utf-8", errors="replace")) for path in found]
    workspace = Workspace(files, AnalysisSettings())
    judge({})
    times = []
    for file in files:
        if "hybrid_forward" in file.text:
            started = time.process_time()
            workspace.update(SourceFile(file.path, file.text + "\n"))
            judge({file.path: workspace.events(file.path)})
            times.append(time.process_time() - started)
    if times:
        times.sort()
        middle, late = statistics.median(times) * 1e3, times[int(len(times) * 0.95)] * 1e3
        print(f"recheck {middle:6.1f} ms median, {late:.1f} ms for 95 % of {len(times)} files")


def time_others(paths: Sequence[str], with_pylint: bool) -> None:
    """Other linters on the same folders, as far as they are installed."""
    if shutil.which("ruff"):
        print(f"ruff    {cpu_of(['ruff', 'check', '--no-cache', '-q', *paths])[0]:6.2f} CPU s")
    if importlib.util.find_spec("flake8"):
        print(f"flake8  {cpu_of([sys.executable, '-m', 'flake8', '-j1', *paths])[0]:6.2f} CPU s")
    if with_pylint and importlib.util.find_spec("pylint"):
        print(f"pylint  {cpu_of([sys.executable, '-m', 'pylint', '-j1', *paths])[0]:6.2f} CPU s")


def main() -> None:
    """Read the command line and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--pylint", action="store_true")
    arguments = parser.parse_args()
    print(f"{os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}, Python {sys.version.split()[0]}")
    time_check(arguments.paths, arguments.runs)
    time_recheck(arguments.paths)
    time_others(arguments.paths, arguments.pylint)


if __name__ == "__main__":
    main()
