"""check: from paths to a Report. Joins discovery, cache, analysis, rules, selection, suppression and baseline."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from autohybrid.config import Settings, digest_text
from autohybrid.diagnostics import cache
from autohybrid.diagnostics.files import InputFile, SettingsTree, Unreadable, discover, read_bytes
from autohybrid.diagnostics.model import Diagnostic
from autohybrid.diagnostics.report import Report
from autohybrid.diagnostics.selection import Selection
from autohybrid.diagnostics.sources import Sources
from autohybrid.diagnostics.suppressions import silence


@dataclass(frozen=True, slots=True)
class Request:
    """What to check and how.

    `stdin` is the text to check in place of the one path in `paths`; `texts` holds, by absolute path, contents that
    count instead of those on the disk; `baseline` is the path of a baseline file; `cache_dir` the folder of the cache,
    None for no cache; `jobs` the number of processes, 0 for as many as pay.
    """

    paths: tuple[str, ...]
    tree: SettingsTree = field(default_factory=SettingsTree)
    pedantic: bool = False
    force_exclude: bool = False
    stdin: bytes | None = None
    texts: Mapping[str, bytes] = field(default_factory=dict)
    baseline: str = ""
    cache_dir: str | None = None
    jobs: int = 1


def check(*paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]], pedantic: bool = False) -> Report:
    """Check files and folders as `autohybrid check` does, under the configuration files that apply to them.

    Takes paths, or lists of them; the current folder when there are none. Nothing is imported or executed, nothing is
    written. Returns the findings as a sequence of `Diagnostic` that also shows itself in terminals and notebooks.
    Raises SettingsError for a path that does not exist or a faulty configuration file.
    """
    flat: list[str] = []
    for path in paths:
        if isinstance(path, (str, os.PathLike)):
            flat.append(os.fspath(path))
        else:
            flat.extend(os.fspath(item) for item in path)
    return run(Request(tuple(flat) or (".",), pedantic=pedantic))


def run(request: Request) -> Report:
    """The report of one run. Raises SettingsError for paths, settings or a baseline that cannot be used."""
    files = _find_files(request)
    groups = _group_by_settings(files, request)
    selections = _selections(groups, request.pedantic)
    sources = Sources({item.path: item.absolute for item in files})
    raw = _get_raw(files, groups, sources, request)
    report = _Assembly(files, groups, selections, sources).assemble(raw)
    if request.baseline:
        from autohybrid.diagnostics.baseline import leave_out_known, read_baseline

        kept, known = leave_out_known(report.findings, read_baseline(request.baseline), sources)
        report = replace(report, findings=tuple(kept), known=known)
    return report


def _find_files(request: Request) -> list[InputFile]:
    if request.stdin is None:
        return discover(request.paths, request.tree, request.force_exclude)
    path = request.paths[0]
    return [InputFile(path, os.path.abspath(path))]


Groups = Mapping[Settings, Sequence[InputFile]]


def _group_by_settings(files: Sequence[InputFile], request: Request) -> Groups:
    """The files under each settings: usually one group, for there is usually one configuration file."""
    by_folder: dict[str, list[InputFile]] = {}
    for item in files:
        by_folder.setdefault(os.path.dirname(item.absolute), []).append(item)
    groups: dict[Settings, list[InputFile]] = {}
    for folder, items in by_folder.items():
        groups.setdefault(request.tree.get(folder), []).extend(items)
    return groups or {request.tree.get(os.getcwd()): []}


def _selections(groups: Groups, pedantic: bool) -> dict[Settings, Selection]:
    return {settings: Selection(settings, get_codes, pedantic) for settings in groups}


def get_codes() -> Mapping[str, str]:
    """Code and name of every rule. Loads the rules, which a run that finds its cache may not need."""
    from autohybrid.diagnostics.rules import load_rules

    return {rule.code: rule.name for rule in load_rules()}


def _run_rules(groups: Groups, contents: Mapping[str, bytes | Unreadable], sources: Sources, jobs: int) -> cache.Raw:
    from autohybrid.diagnostics.cold_run import run_rules

    return run_rules(groups, contents, sources, jobs)


def _get_raw(files: Sequence[InputFile], groups: Groups, sources: Sources, request: Request) -> cache.Raw:
    """The findings from the cache, or from the analysis (and then into the cache)."""
    contents: dict[str, bytes | Unreadable] = {
        item.path: request.texts[item.absolute] for item in files if item.absolute in request.texts
    }
    if request.stdin is not None:
        contents.setdefault(files[0].path, request.stdin)
    if contents or request.cache_dir is None:
        return _run_rules(groups, contents, sources, request.jobs)

    def read_digest(item: InputFile) -> str:
        data = contents[item.path] = read_bytes(item.absolute)
        return data.reason if isinstance(data, Unreadable) else cache.digest(data)

    key = cache.make_key(files, [digest_text(settings) for settings in groups])
    raw = cache.load(request.cache_dir, key, files, read_digest)
    if raw is None:
        digests = {item.path: read_digest(item) for item in files}
        raw = _run_rules(groups, contents, sources, request.jobs)
        cache.store(request.cache_dir, key, files, digests, raw)
    return raw


class _Assembly:
    """From raw findings to the report: per file, its selection and its comments; notebooks back into their cells."""

    def __init__(
        self, files: Sequence[InputFile], groups: Groups, selections: Mapping[Settings, Selection], sources: Sources
    ) -> None:
        self._count = len(files)
        self._absolute = {item.path: item.absolute for item in files}
        self._selection = {item.path: selections[settings] for settings, items in groups.items() for item in items}
        self._sources = sources

    def assemble(self, raw: cache.Raw) -> Report:
        """The report of all files."""
        by_path: defaultdict[str, list[Diagnostic]] = defaultdict(list)
        for finding in raw.findings:
            by_path[finding.span.path].append(finding)
        shown: list[Diagnostic] = []
        hidden: list[Diagnostic] = []
        for path in sorted({*by_path, *raw.commented}):
            kept, silenced = self._one_file(path, by_path[path])
            shown.extend(kept)
            hidden.extend(silenced)
        return Report(
            tuple(sorted(shown, key=lambda finding: finding.sort_key)),
            tuple(sorted(hidden, key=lambda finding: finding.sort_key)),
            files=self._count,
            sources=self._sources,
            root=os.getcwd(),
        )

    def _one_file(self, path: str, findings: list[Diagnostic]) -> tuple[list[Diagnostic], list[Diagnostic]]:
        return settle(path, self._absolute[path], findings, self._selection[path], self._sources)


def settle(
    path: str, absolute: str, findings: Sequence[Diagnostic], selection: Selection, sources: Sources
) -> tuple[list[Diagnostic], list[Diagnostic]]:
    """From the raw findings in one file to those that are reported and those that comments silence: its selection, its
    comments, the findings about these comments. Those of a notebook are moved into its cells."""

    def is_active(code: str) -> bool:
        return selection.is_selected(code) and not selection.is_ignored_in(code, absolute)

    findings = [finding for finding in findings if is_active(finding.code)]
    applied = silence(path, sources.get_text(path), findings, get_codes)
    findings = list(applied.kept)
    if applied.directives:
        from autohybrid.diagnostics.suppression_audit import audit

        findings += audit(path, applied, get_codes(), is_active, lambda line: sources.get_line(path, line))
    silenced = [replace(finding, suppressed=by.reason) for finding, by in applied.suppressed]
    notebook = sources.find_notebook(path)
    if notebook is not None:
        findings = [notebook.localise(finding) for finding in findings]
        silenced = [notebook.localise(finding) for finding in silenced]
    return selection.apply(findings, absolute), selection.apply(silenced, absolute)
