"""The cache of one project: what the rules found in a set of files, valid while none of their contents changed.

Findings depend on other files of the project (imports are followed), so an entry holds a whole run. It is found by the
set of paths, the settings and the tool itself, and is valid when every file has the same time and size, or else the
same contents. A cache that cannot be read, is corrupt or cannot be written is a cold run, never an error.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autohybrid.diagnostics.files import InputFile
from autohybrid.diagnostics.model import Applicability, Confidence, Diagnostic, Edit, Fix, Label, Severity
from autohybrid.plugins import RULES_GROUP, entry_point_state
from autohybrid.spans import Span
from autohybrid.version import __version__

FOLDER = ".autohybrid_cache"
_KEEP = 16
_TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# A cache of autohybrid; it may be deleted at any time.\n"


@dataclass(frozen=True, slots=True)
class Raw:
    """What the rules found, before suppressions and selection, and which files hold suppression comments of ours."""

    findings: tuple[Diagnostic, ...]
    commented: frozenset[str]


def digest(data: bytes) -> str:
    """The digest by which contents are compared."""
    import hashlib

    return hashlib.blake2b(data, digest_size=12).hexdigest()


def make_key(files: Sequence[InputFile], settings: Iterable[str]) -> str:
    """The name of the entry for these files under these settings and this state of autohybrid's own source."""
    parts = [__version__, _tool_state(), *settings, *(f"{item.path}\0{item.absolute}\0{item.named}" for item in files)]
    return digest("\n".join(parts).encode("utf-8", "surrogatepass"))


def _tool_state() -> str:
    """What decides what is found: Python's version, the installed plugins, names, times and sizes of our own files."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    state = [sys.version, entry_point_state(RULES_GROUP)]
    for folder in ("analysis", "diagnostics", "diagnostics/rules", "tensor", "tensor/ops"):
        try:
            entries = list(os.scandir(os.path.join(package, folder)))
        except OSError:
            continue
        for entry in entries:
            if entry.name.endswith(".py"):
                status = entry.stat()
                state.append(f"{folder}/{entry.name}:{status.st_mtime_ns}:{status.st_size}")
    return "\n".join(sorted(state))


def load(folder: str, key: str, files: Sequence[InputFile], read_digest: Callable[[InputFile], str]) -> Raw | None:
    """The entry `key` if it is whole and every file is unchanged; `read_digest` is asked only where `stat` differs."""
    import json

    try:
        with open(os.path.join(folder, key + ".json"), "rb") as stream:
            entry = json.loads(stream.read())
        known = entry["files"]
        touched = False
        for item in files:
            mtime_ns, size, content = known[item.path]
            if (mtime_ns, size) != (item.mtime_ns, item.size) or not mtime_ns:
                if content != read_digest(item):
                    return None
                touched = True
        raw = Raw(tuple(map(_from_plain, entry["findings"])), frozenset(entry["commented"]))
        if touched:
            store(folder, key, files, {path: value[2] for path, value in known.items()}, raw)
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError):
        return None
    return raw


def store(folder: str, key: str, files: Sequence[InputFile], digests: Mapping[str, str], raw: Raw) -> None:
    """Write an entry: to a temporary file first, then renamed, so that a reader never sees half of it."""
    entry = {
        "files": {item.path: (item.mtime_ns, item.size, digests[item.path]) for item in files},
        "findings": [_to_plain(finding) for finding in raw.findings],
        "commented": sorted(raw.commented),
    }
    import json
    import tempfile

    try:
        _prepare(folder)
        handle, temporary = tempfile.mkstemp(dir=folder, suffix=".tmp")
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump(entry, stream, separators=(",", ":"))
        os.replace(temporary, os.path.join(folder, key + ".json"))
        _prune(folder)
    except (OSError, UnicodeError):
        return


def _prepare(folder: str) -> None:
    if not os.path.isdir(folder):
        os.makedirs(folder, exist_ok=True)
        for name, text in ((".gitignore", "*\n"), ("CACHEDIR.TAG", _TAG)):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as stream:
                stream.write(text)


def _prune(folder: str) -> None:
    """Keep the entries used last."""
    entries = [entry for entry in os.scandir(folder) if entry.name.endswith((".json", ".tmp"))]
    entries.sort(key=lambda entry: entry.stat().st_mtime_ns, reverse=True)
    for entry in entries[_KEEP:]:
        os.unlink(entry.path)


def _span(span: Span) -> list[Any]:
    return [span.path, span.line, span.column, span.end_line, span.end_column]


def _to_plain(finding: Diagnostic) -> list[Any]:
    return [
        finding.code,
        finding.name,
        finding.message,
        _span(finding.span),
        finding.severity.value,
        finding.confidence.value,
        [[_span(label.span), label.message] for label in finding.labels],
        finding.help,
        [
            [fix.message, [[_span(edit.span), edit.content] for edit in fix.edits], fix.applicability.value]
            for fix in finding.fixes
        ],
        finding.block,
        finding.method,
        finding.cell,
    ]


def _from_plain(row: list[Any]) -> Diagnostic:
    code, name, message, span, severity, confidence, labels, help_text, fixes, block, method, cell = row
    return Diagnostic(
        code,
        name,
        message,
        Span(*span),
        Severity(severity),
        Confidence(confidence),
        tuple(Label(Span(*place), text) for place, text in labels),
        help_text,
        tuple(
            Fix(text, tuple(Edit(Span(*place), content) for place, content in edits), Applicability(applicability))
            for text, edits, applicability in fixes
        ),
        block,
        method,
        cell,
    )
