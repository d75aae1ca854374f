"""Running the rules in several processes. Files that can see each other through imports stay together, so the findings
are the same for every number of processes.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from autohybrid.analysis.settings import AnalysisSettings
from autohybrid.analysis.source import SourceFile
from autohybrid.diagnostics.model import Diagnostic

Work = Callable[[Sequence[SourceFile], AnalysisSettings], list[Diagnostic]]
_IMPORT = re.compile(r"^[ \t]*import[ \t]+([^\n#;]+)", re.MULTILINE)
_FROM = re.compile(r"^[ \t]*from[ \t]+(\.*)[ \t]*([\w.]*)[ \t]+import[ \t]*(\([^)]*\)|[^\n#;]+)", re.MULTILINE)
_NAME = re.compile(r"[^\W\d]\w*")


def count_processes(jobs: int) -> int:
    """The number of processes for `jobs`, where 0 means as many as there are processors to use."""
    if jobs > 0:
        return jobs
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def split(files: Sequence[SourceFile], parts: int) -> list[list[SourceFile]]:
    """At most `parts` lists of about equal size; files connected by imports are in the same one."""
    groups = _connected(files)
    groups.sort(key=_weight, reverse=True)
    bins: list[list[SourceFile]] = [[] for _ in range(min(parts, len(groups)))]
    weights = [0] * len(bins)
    for group in groups:
        at = weights.index(min(weights))
        bins[at].extend(group)
        weights[at] += _weight(group)
    return bins


def run_in_processes(
    work: Work, files: Sequence[SourceFile], settings: AnalysisSettings, jobs: int
) -> list[Diagnostic]:
    """What `work` finds in `files`, by up to `jobs` processes (0: as many as there are processors).

    `work` must be a function at the top of a module, for the other processes import it.
    """
    chunks = split(files, count_processes(jobs))
    if len(chunks) < 2:
        return work(files, settings)
    with ProcessPoolExecutor(len(chunks), mp_context=get_context("spawn")) as pool:
        found = pool.map(work, chunks, [settings] * len(chunks))
        return [finding for part in found for finding in part]


def _weight(files: Iterable[SourceFile]) -> int:
    """How long the files take, roughly: most are only parsed, those with hybrid blocks take five times as long."""
    return sum(1 + len(file.text) * (5 if "ybrid" in file.text else 1) for file in files)


def _connected(files: Sequence[SourceFile]) -> list[list[SourceFile]]:
    """The files by connected component: of one top-level package, or importing (by name) what belongs to another."""
    packages = {os.path.dirname(file.path) for file in files if os.path.basename(file.path) == "__init__.py"}
    tops = [_top_name(file.path, packages) for file in files]
    leaders: dict[str, str] = {top: top for top in tops}

    def leader(name: str) -> str:
        while leaders[name] != name:
            leaders[name] = leaders[leaders[name]]
            name = leaders[name]
        return name

    for file, top in zip(files, tops):
        for name in _imported_names(file.text):
            if name in leaders:
                leaders[leader(name)] = leader(top)
    groups: defaultdict[str, list[SourceFile]] = defaultdict(list)
    for file, top in zip(files, tops):
        groups[leader(top)].append(file)
    return list(groups.values())


def _top_name(path: str, packages: set[str]) -> str:
    """The first part of the module's dotted name: the outermost folder that is a package, or the file's own name."""
    folder, name = os.path.split(path)
    top = os.path.splitext(name)[0]
    while folder in packages and os.path.basename(folder):
        folder, top = os.path.split(folder)
    return top


def _imported_names(text: str) -> Iterator[str]:
    """The first parts of imported modules; more than needed rather than fewer."""
    for match in _IMPORT.finditer(text):
        for part in match[1].split(","):
            name = _NAME.search(part)
            if name:
                yield name[0]
    for match in _FROM.finditer(text):
        dots, module, names = match.groups()
        if module:
            yield module.split(".", 1)[0]
        elif dots:
            yield from _NAME.findall(names)
