"""Project: the files below the workspace folders, each under the settings of its folder, and the findings in each.

Joins what a run of `check` joins (discovery, settings, analysis, rules, comments, baseline), but keeps everything and
does again only what a change touches. Knows nothing of the protocol.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from autohybrid.analysis.source import SourceFile
from autohybrid.analysis.values import Value
from autohybrid.analysis.workspace import BlockPlace, Workspace
from autohybrid.config import Settings, SettingsError
from autohybrid.diagnostics.baseline import leave_out_known, read_baseline
from autohybrid.diagnostics.cold_run import to_analysis
from autohybrid.diagnostics.engine import get_codes, settle
from autohybrid.diagnostics.files import SettingsTree, Unreadable, decode, discover, read_bytes, show_path
from autohybrid.diagnostics.judge import judge
from autohybrid.diagnostics.model import Confidence, Diagnostic, Severity
from autohybrid.diagnostics.selection import Selection
from autohybrid.diagnostics.sources import Sources
from autohybrid.lsp.documents import normalize
from autohybrid.spans import Span
from autohybrid.transform.fixes.site import ParsedFiles

_SUFFIXES = (".py", ".pyi")


@dataclass(frozen=True, slots=True)
class Checked:
    """What is known of one file: the findings that are reported, and those that are not although they are sure or
    likely (a comment, the settings or the baseline keep them quiet)."""

    shown: tuple[Diagnostic, ...] = ()
    quiet: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class _Group:
    """The files under the same settings: they are analysed together."""

    settings: Settings
    workspace: Workspace
    selection: Selection


class Project:
    """The files below `roots`; `texts` count instead of what the disk holds, `fixed` instead of configuration files.

    Raises SettingsError when a configuration file is faulty.
    """

    def __init__(
        self,
        roots: Sequence[str],
        *,
        pedantic: bool = False,
        texts: Mapping[str, str] | None = None,
        fixed: Settings | None = None,
    ) -> None:
        self.roots = [normalize(root) for root in roots if os.path.isdir(root)]
        self._pedantic = pedantic
        self.parsed = ParsedFiles()
        self._tree = SettingsTree(fixed)
        self._changed: set[str] = set()
        self._texts: dict[str, str] = {}
        self._group_of: dict[str, _Group] = {}
        self._groups: dict[Settings, _Group] = {}
        self._checked: dict[str, Checked] = {}
        self._values: dict[str, Mapping[Span, Value]] = {}
        self._load(texts or {})

    def _load(self, texts: Mapping[str, str]) -> None:
        found = [normalize(item.absolute) for item in discover(self.roots, self._tree)]
        by_settings: dict[Settings, list[SourceFile]] = {}
        for path in found:
            if path.endswith(_SUFFIXES):
                text = self._texts[path] = texts[path] if path in texts else read_text(path)
                by_settings.setdefault(self._settings_of(path), []).append(SourceFile(path, text, named=path in texts))
        for settings, files in by_settings.items():
            group = self._make_group(settings, files)
            self._group_of.update(dict.fromkeys((file.path for file in files), group))
        for path in sorted(texts.keys() - self._texts.keys()):
            self.update(path, texts[path])

    def _make_group(self, settings: Settings, files: Sequence[SourceFile]) -> _Group:
        selection = Selection(settings, get_codes, self._pedantic)
        group = _Group(settings, Workspace(files, to_analysis(settings), lazily=True), selection)
        self._groups[settings] = group
        return group

    def _settings_of(self, path: str) -> Settings:
        return self._tree.get(os.path.dirname(path) if os.path.isabs(path) else os.getcwd())

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of the files that are checked."""
        return tuple(sorted(self._group_of))

    @property
    def stale(self) -> tuple[str, ...]:
        """The files that have not been analysed since something they read changed."""
        return tuple(sorted(path for group in self._groups.values() for path in group.workspace.stale))

    def run_stale(self, path: str) -> None:
        """Analyse one of the stale files, unless it has been, or was removed meanwhile."""
        group = self._group_of.get(path)
        if group is not None:
            group.workspace.run_stale(path)

    def update(self, path: str, text: str) -> None:
        """Take a new text of a file, or a new file, unless the settings exclude it."""
        if self._texts.get(path) == text:
            return
        group = self._group_of.get(path)
        if group is None:
            if self.is_excluded(path):
                return
            settings = self._settings_of(path)
            group = self._groups.get(settings) or self._make_group(settings, ())
            self._group_of[path] = group
        self._texts[path] = text
        group.workspace.update(SourceFile(path, text))

    def remove(self, path: str) -> None:
        """Forget a file."""
        group = self._group_of.pop(path, None)
        if group is not None:
            group.workspace.remove(path)
            del self._texts[path]

    def is_excluded(self, path: str) -> bool:
        """Whether the settings leave a file that exists out."""
        return os.path.exists(path) and not discover([path], self._tree, force_exclude=True)

    def take_changed(self) -> frozenset[str]:
        """The files in which other things may be found than before this was last asked."""
        self._forget_changed()
        changed, self._changed = frozenset(self._changed), set()
        return changed

    def _forget_changed(self) -> None:
        for group in self._groups.values():
            for path in group.workspace.take_changed():
                self._changed.add(path)
                self._checked.pop(path, None)
                self._values.pop(path, None)

    def text(self, path: str) -> str:
        """The text of a file of the project, or of another one on the disk."""
        known = self._texts.get(path)
        return read_text(path) if known is None else known

    def check(self, path: str) -> Checked:
        """What is found in a file; nothing in one that is not part of the project."""
        group = self._group_of.get(path)
        if group is None:
            return Checked()
        group.workspace.run_stale(path)
        self._forget_changed()
        known = self._checked.get(path)
        if known is None:
            known = self._checked[path] = self._check(path, group)
        return known

    def _check(self, path: str, group: _Group) -> Checked:
        sources = Sources(texts={path: self._texts[path]})
        raw = judge({path: group.workspace.events(path)})
        shown, _ = settle(path, path, raw, group.selection, sources)
        shown = self._leave_out_known(path, shown, group.settings)
        places = {(finding.code, finding.span) for finding in shown}
        quiet = (
            finding
            for finding in raw
            if finding.confidence is not Confidence.POSSIBLE
            and finding.severity is not Severity.INFO
            and (finding.code, finding.span) not in places
        )
        return Checked(tuple(sorted(shown, key=lambda finding: finding.sort_key)), tuple(quiet))

    def _leave_out_known(self, path: str, findings: list[Diagnostic], settings: Settings) -> list[Diagnostic]:
        """The findings beyond those in the baseline of the configuration, whose paths are relative to its folder."""
        if not settings.baseline or not findings:
            return findings
        shown_as = show_path(path, normalize(settings.root))
        moved = {id(finding): replace(finding, span=replace(finding.span, path=shown_as)) for finding in findings}
        known = read_baseline(os.path.join(settings.root, settings.baseline))
        left, _ = leave_out_known(list(moved.values()), known, Sources(texts={shown_as: self._texts[path]}))
        return [finding for finding in findings if any(moved[id(finding)] is kept for kept in left)]

    def blocks(self, path: str) -> tuple[BlockPlace, ...]:
        """The hybrid blocks of a file."""
        group = self._group_of.get(path)
        return () if group is None else group.workspace.blocks(path)

    def values(self, path: str) -> Mapping[Span, Value]:
        """The value of every expression of a file that is reached."""
        group = self._group_of.get(path)
        if group is None:
            return {}
        self._forget_changed()
        known = self._values.get(path)
        if known is None:
            known = self._values[path] = group.workspace.values(path)
        return known


def keep_in_memory() -> None:
    """Spare the collector of cycles the syntax trees of a project that was read: walking them takes up to a second.

    The tree of a file that changes later is then kept once more than needed, not once for every change.
    """
    gc.collect()
    gc.freeze()


def read_text(path: str) -> str:
    """The text of a file on the disk; empty where it cannot be read or decoded."""
    data = read_bytes(path)
    text = data if isinstance(data, Unreadable) else decode(data)
    return "" if isinstance(text, Unreadable) else text


def make_project(roots: Sequence[str], *, pedantic: bool, texts: Mapping[str, str]) -> tuple[Project, str]:
    """The project, and what is wrong with its configuration: then the project is checked without it."""
    try:
        return Project(roots, pedantic=pedantic, texts=texts), ""
    except SettingsError as error:
        return Project(roots, pedantic=pedantic, texts=texts, fixed=Settings()), str(error)
