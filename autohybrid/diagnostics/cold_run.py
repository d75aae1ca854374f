"""A run without a cache: read and decode the files, analyse them, let the rules judge."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

from autohybrid.analysis.events import Event, EventKind
from autohybrid.analysis.project import analyze
from autohybrid.analysis.settings import AnalysisSettings
from autohybrid.analysis.source import SourceFile
from autohybrid.config import Settings
from autohybrid.diagnostics.cache import Raw
from autohybrid.diagnostics.files import InputFile, Unreadable, decode, read_bytes
from autohybrid.diagnostics.judge import judge
from autohybrid.diagnostics.model import Diagnostic
from autohybrid.diagnostics.notebook import Notebook, read_notebook
from autohybrid.diagnostics.sources import Sources
from autohybrid.diagnostics.suppressions import has_own_directives
from autohybrid.spans import Span

# Characters of source below which other processes, at half a second of starting and copying, are not worth it.
_WORTH_PROCESSES = 20_000_000


def run_rules(
    groups: Mapping[Settings, Sequence[InputFile]],
    contents: Mapping[str, bytes | Unreadable],
    sources: Sources,
    jobs: int = 1,
) -> Raw:
    """Run the analysis and the rules on every group.

    `contents` holds what was read already; the texts are left in `sources`. `jobs` is the number of processes, 0 for
    as many as pay.
    """
    found: list[Diagnostic] = []
    commented: set[str] = set()
    for settings, files in groups.items():
        texts: list[SourceFile] = []
        events: dict[str, tuple[Event, ...]] = {}
        for item in files:
            data = contents.get(item.path)
            text = _to_text(item.path, read_bytes(item.absolute) if data is None else data, sources)
            if isinstance(text, Unreadable):
                events[item.path] = (_unreadable(item.path, text),)
                continue
            texts.append(SourceFile(item.path, text, named=item.named))
            if has_own_directives(text):
                commented.add(item.path)
        found.extend(judge(events))
        found.extend(_find(texts, to_analysis(settings), jobs))
    found.sort(key=lambda finding: finding.sort_key)
    return Raw(tuple(found), frozenset(commented))


def _find(files: Sequence[SourceFile], settings: AnalysisSettings, jobs: int) -> list[Diagnostic]:
    """The findings in the files, in other processes where that is asked for, or is left open and pays."""
    if jobs == 1 or len(files) < 2 or (jobs == 0 and sum(len(file.text) for file in files) < _WORTH_PROCESSES):
        return find(files, settings)
    from autohybrid.diagnostics.parallel import run_in_processes

    return run_in_processes(find, files, settings, jobs)


def find(files: Sequence[SourceFile], settings: AnalysisSettings) -> list[Diagnostic]:
    """Analyse the files together and let the rules judge."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what Python's parser says of the user's `"\d"` is not ours to print
        return judge(analyze(files, settings))


def _to_text(path: str, data: bytes | Unreadable, sources: Sources) -> str | Unreadable:
    """The Python text of a file or notebook, remembered in `sources`."""
    text = data if isinstance(data, Unreadable) else decode(data)
    if isinstance(text, Unreadable):
        return text
    notebook: Notebook | None = None
    if path.endswith(".ipynb"):
        read = read_notebook(text)
        if isinstance(read, Unreadable):
            return read
        notebook, text = read, read.text
    sources.add(path, text, notebook)
    return text


def _unreadable(path: str, problem: Unreadable) -> Event:
    span = Span(path, problem.line, problem.column, problem.line, problem.column + 1)
    return Event(EventKind.UNREADABLE, span, name=problem.kind, text=problem.reason)


def to_analysis(settings: Settings) -> AnalysisSettings:
    return AnalysisSettings(
        block_bases=settings.block_bases,
        hybrid_methods=settings.hybrid_methods,
        tensor_names=settings.tensor_names,
        assume_static=settings.assume_static,
    )
