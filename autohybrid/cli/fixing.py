"""`check --fix`: check, fix and check again in memory until nothing changes; then write, or show the difference."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from autohybrid.cli.guard import MISUSE, complain
from autohybrid.cli.terminal import say, write_bytes, write_out
from autohybrid.config import Settings
from autohybrid.diagnostics.engine import Request, run
from autohybrid.diagnostics.files import Unreadable, decode, encode_like, read_bytes
from autohybrid.diagnostics.model import Diagnostic, Fix
from autohybrid.diagnostics.report import Report
from autohybrid.files import write_atomically
from autohybrid.transform.fixing import apply_fixes
from autohybrid.transform.notebook_cells import CellTexts, split_cell, split_files
from autohybrid.transform.notebook_json import rewrite_cells

if TYPE_CHECKING:
    from autohybrid.cli.verifying import Verifier

_ROUNDS = 20


@dataclass(frozen=True, slots=True)
class FixRun:
    """The report after fixing; what was fixed; by path as shown, the texts before and after, and the new bytes."""

    report: Report
    fixed: tuple[tuple[Diagnostic, Fix], ...]
    before: Mapping[str, str]
    after: Mapping[str, str]
    encoded: Mapping[str, bytes]


def check_and_fix(request: Request, arguments: Any, settings: Settings) -> Report | int:
    """What `--fix` and its kin do. Returns the report that is left to print, or the exit code when nothing is."""
    unsafe = arguments.unsafe_fixes or settings.unsafe_fixes
    with _make_verifier(arguments) as verifier:
        done = run_with_fixes(request, unsafe=unsafe, verifier=verifier)
        if verifier is not None and not arguments.silent:
            from autohybrid.cli.verification_report import to_lines

            for line in to_lines(verifier.done):
                say(line)
    if arguments.diff:
        write_out(to_diff(done))
        return int(bool(done.after) and not arguments.exit_zero)
    if request.stdin is not None:
        return _answer_stdin(request, done, arguments)
    if not write_fixes(done):
        return MISUSE
    if arguments.show_fixes and done.fixed and not arguments.silent:
        write_out(list_fixes(done))
    if arguments.fix_only:
        return int(bool(done.fixed) and arguments.exit_non_zero_on_fix)
    return done.report


def _answer_stdin(request: Request, done: FixRun, arguments: Any) -> int:
    """An editor that sends a text wants the fixed text back and nothing else."""
    write_bytes(next(iter(done.encoded.values()), request.stdin or b""))
    return int(done.report.has_failures and not (arguments.exit_zero or arguments.fix_only))


def _make_verifier(arguments: Any) -> Verifier | nullcontext[None]:
    if not arguments.verify_fix:
        return nullcontext()
    from autohybrid.cli.verifying import Verifier, read_example

    return Verifier([read_example(text) for text in arguments.example])


def run_with_fixes(request: Request, *, unsafe: bool, verifier: Verifier | None = None) -> FixRun:
    """Check and fix in rounds: one fix may clear the way for the next. Nothing is written. With a verifier, only the
    fixes that it keeps are made."""
    report = run(request)
    before: dict[str, str] = {}
    after: dict[str, str] = {}
    encoded: dict[str, bytes] = {}
    fixed: list[tuple[Diagnostic, Fix]] = []
    for _ in range(_ROUNDS):
        cells = CellTexts(report.sources)
        applied = apply_fixes(cells.complete(report), cells.get_text, unsafe=unsafe)
        if verifier is not None:
            applied = verifier.keep(applied, report.sources, after)
        usable = _encode_all(request, report, applied.texts, encoded)
        if not usable:
            break
        for path, text in applied.texts.items():
            if (split_cell(path) or (path,))[0] in usable:
                before.setdefault(path, cells.get_text(path))
                after[path] = text
        encoded.update(usable)
        fixed.extend(pair for pair in applied.fixed if pair[0].span.path in usable)
        report = run(_with_texts(request, report, encoded))
    return FixRun(replace(report, fixed=len(fixed)), tuple(fixed), before, after, encoded)


def _encode_all(
    request: Request, report: Report, texts: Mapping[str, str], earlier: Mapping[str, bytes]
) -> dict[str, bytes]:
    """The new bytes of the files that new texts, of files and of cells, make; without files that cannot hold them."""
    files, cells = split_files(texts)
    found: dict[str, bytes] = {}
    for path in (*files, *cells):
        original = earlier.get(path) or request.stdin or read_bytes(report.sources.get_absolute(path))
        if isinstance(original, Unreadable):
            continue
        document = decode(original) if path in cells else ""
        if isinstance(document, Unreadable):
            continue
        data = _encode(path, rewrite_cells(document, cells[path]) if path in cells else files[path], original)
        if data is not None:
            found[path] = data
    return found


def _encode(path: str, text: str, original: bytes) -> bytes | None:
    """The new bytes of a file in its own encoding, or None when that encoding cannot hold them."""
    try:
        return encode_like(text, original)
    except UnicodeEncodeError as error:
        complain(f"{path} was not fixed: its encoding has no `{error.object[error.start]}`")
        return None


def _with_texts(request: Request, report: Report, encoded: Mapping[str, bytes]) -> Request:
    """The request with the edited contents in place of the files."""
    if request.stdin is not None:
        return replace(request, stdin=next(iter(encoded.values())))
    return replace(request, texts={report.sources.get_absolute(path): data for path, data in encoded.items()})


def write_fixes(done: FixRun) -> bool:
    """Write every changed file, each whole or not at all. Says which could not be written."""
    success = True
    for path, data in sorted(done.encoded.items()):
        try:
            write_atomically(done.report.sources.get_absolute(path), data)
        except OSError as error:
            complain(f"cannot write {path}: {error.strerror}")
            success = False
    return success


def to_diff(done: FixRun) -> str:
    """The changes as one unified diff."""
    parts: list[str] = []
    for path, text in sorted(done.after.items()):
        old, new = done.before[path].splitlines(keepends=True), text.splitlines(keepends=True)
        for line in difflib.unified_diff(old, new, path, path):
            parts.append(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n")
    return "".join(parts)


def list_fixes(done: FixRun) -> str:
    """What was fixed, file by file."""
    counted = Counter((finding.span.path, finding.code, fix.message) for finding, fix in done.fixed)
    lines: list[str] = []
    for path in sorted({path for path, _, _ in counted}):
        lines.append(f"{path}:")
        rows = sorted((code, message, count) for (file, code, message), count in counted.items() if file == path)
        lines += [f"  {count} x {code} {message}" for code, message, count in rows]
    return "".join(line + "\n" for line in lines)
