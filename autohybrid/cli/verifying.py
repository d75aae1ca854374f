"""`check --verify-fix`: of the fixes of a round, those that examples prove equal; the others with the reason.

The examples run in a process of their own (`autohybrid.proving`), on texts, before anything is written. Owns the choice
of fixes and of what is run; what equal means is `proving/comparison.py`.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from autohybrid.config import SettingsError
from autohybrid.diagnostics.model import Diagnostic, Edit, Fix
from autohybrid.diagnostics.sources import Sources
from autohybrid.transform.fixes.site import FunctionNode, ParsedFile, Site, parse_file
from autohybrid.transform.fixing import Applied, apply_fixes

_SECONDS = 120
Pair = tuple[Diagnostic, Fix]


@dataclass(frozen=True, slots=True)
class Proof:
    """What happened to one fix: proven by these `examples`, with a `note` of what they leave open; or refused because
    of a `difference`; or neither, for the `reason`."""

    finding: Diagnostic
    fix: Fix
    examples: tuple[str, ...] = ()
    note: str = ""
    difference: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one example came to, in the file's own lines that it ran."""

    path: str
    name: str
    failure: str
    difference: str
    note: str
    calls: int
    lines: Mapping[str, frozenset[int]]

    @property
    def label(self) -> str:
        """The example as a user writes it."""
        return f"{os.path.relpath(self.path)}:{self.name}" if self.name else os.path.relpath(self.path)


@dataclass(slots=True)
class Verification:
    """All that was proven, in the order of the rounds; and what the last round refused or could not run."""

    proven: list[Proof] = field(default_factory=list)
    refused: list[Proof] = field(default_factory=list)
    open: list[Proof] = field(default_factory=list)
    outcomes: Mapping[tuple[str, str], Outcome] = field(default_factory=dict)


def read_example(text: str) -> tuple[str, str, tuple[str, ...]]:
    """`FILE:NAME` or `FILE:CLASS=SHAPE,SHAPE`. Raises SettingsError for anything else, and without the file."""
    target, _, shapes = text.partition("=")
    path, _, name = target.rpartition(":")
    if not path or not name.isidentifier():
        raise SettingsError(f"--example `{text}` is not of the form FILE:FUNCTION or FILE:CLASS=1x3x8x8,4x7:int32")
    if not os.path.isfile(path):
        raise SettingsError(f"--example `{text}`: no such file: {path}")
    return os.path.abspath(path), name, tuple(part.strip() for part in shapes.split(",") if part.strip())


class Verifier:
    """Judges the fixes of each round against the runs of the unchanged files.

    `examples` are those named on the command line; the `example()`s of the fixed files are found besides. A context
    manager: the runs are kept in a folder that goes with it.
    """

    def __init__(self, examples: Sequence[tuple[str, str, tuple[str, ...]]]) -> None:
        self._named = list(examples)
        self._known: dict[tuple[tuple[str, str], ...], Mapping[tuple[str, str], Outcome]] = {}
        self._files: tuple[str, ...] = ()
        self.done = Verification()

    def __enter__(self) -> Verifier:
        self._folder = tempfile.TemporaryDirectory(prefix="autohybrid-")
        return self

    def __exit__(self, *error: object) -> None:
        self._folder.cleanup()

    def keep(self, found: Applied, sources: Sources, earlier: Mapping[str, str]) -> Applied:
        """Of the fixes applied in one round those that are proven. `earlier` are the texts that rounds before made."""
        self.done.refused.clear()
        self.done.open.clear()
        current = {sources.get_absolute(path): text for path, text in earlier.items()}
        usable = self._reached(found.fixed, sources, current)
        if not usable:
            return Applied({}, ())
        applied = apply_fixes(_only(usable), sources.get_text, unsafe=True)
        texts = _texts_of(applied, sources, current)
        if len(applied.fixed) == len(usable) and not self._difference(texts):
            return self._prove(usable, applied, texts)
        return self._one_by_one(usable, sources, current)

    def _one_by_one(self, pairs: Sequence[Pair], sources: Sources, current: Mapping[str, str]) -> Applied:
        """The fixes that change nothing on top of those kept before them."""
        kept: list[Pair] = []
        applied = Applied({}, ())
        for pair in pairs:
            trial = apply_fixes(_only([*kept, pair]), sources.get_text, unsafe=True)
            if len(trial.fixed) != len(kept) + 1:
                self.done.open.append(Proof(*pair, reason="it cannot be applied without another fix"))
                continue
            difference = self._difference(_texts_of(trial, sources, current))
            if difference:
                self.done.refused.append(Proof(*pair, difference=difference))
            else:
                kept.append(pair)
                applied = trial
        return self._prove(kept, applied, _texts_of(applied, sources, current))

    def _prove(self, kept: Sequence[Pair], applied: Applied, texts: Mapping[str, str]) -> Applied:
        found = self._outcomes(texts)
        for finding, fix in kept:
            by = self._examples_at[id(finding)]
            notes = [note for outcome in by if (note := found[outcome.path, outcome.name].note)]
            labels = tuple(outcome.label for outcome in by)
            self.done.proven.append(Proof(finding, fix, labels, "; ".join(dict.fromkeys(notes))))
        return Applied(applied.texts, tuple(kept))

    # -- what the examples reach ------------------------------------------------------------------------------------
    def _reached(self, pairs: Sequence[Pair], sources: Sources, current: Mapping[str, str]) -> list[Pair]:
        """The fixes whose every line an example runs; the others are noted with the reason."""
        outcomes = self._start(pairs, sources, current)
        self._examples_at: dict[int, list[Outcome]] = {}
        parsed: dict[str, ParsedFile | None] = {}
        kept: list[Pair] = []
        for finding, fix in pairs:
            reason, by = self._why_open(finding, fix, outcomes, sources, parsed)
            if reason:
                self.done.open.append(Proof(finding, fix, reason=reason))
            else:
                self._examples_at[id(finding)] = by
                kept.append((finding, fix))
        return kept

    def _start(
        self, pairs: Sequence[Pair], sources: Sources, current: Mapping[str, str]
    ) -> Mapping[tuple[str, str], Outcome]:
        """What the examples come to on the files as they are in this round; in the first, that is the measure."""
        if not self._files:
            self._files = tuple(sorted({sources.get_absolute(finding.span.path) for finding, _ in pairs}))
            texts = {sources.get_absolute(f.span.path): sources.get_text(f.span.path) for f, _ in pairs}
            self.done.outcomes = self._run({path: text for path, text in texts.items() if _is_plain(path)})
            self._known[()] = self.done.outcomes
        return self._outcomes(current)

    def _why_open(
        self,
        finding: Diagnostic,
        fix: Fix,
        outcomes: Mapping[tuple[str, str], Outcome],
        sources: Sources,
        parsed: dict[str, ParsedFile | None],
    ) -> tuple[str, list[Outcome]]:
        path = finding.span.path
        absolute = os.path.realpath(sources.get_absolute(path))
        if not _is_plain(path):
            return "a notebook is not run", []
        relevant = [
            item for item in outcomes.values() if os.path.realpath(item.path) == absolute or self._is_named(item)
        ]
        if not relevant:
            return "no example: define `example()` in the file, or name one with --example", []
        working = [item for item in relevant if not item.failure]
        if not working:
            return f"{relevant[0].label}: {relevant[0].failure}", []
        if path not in parsed:
            parsed[path] = parse_file(path, sources.get_text(path))
        file = parsed[path]
        wanted = set() if file is None else _lines_of(finding, fix, file)
        ran = {line for item in working for line in item.lines.get(absolute, ())}
        missing = sorted(wanted - ran)
        if missing:
            return f"no example runs line {missing[0]}", []
        return "", [item for item in working if wanted & item.lines.get(absolute, frozenset())]

    def _is_named(self, outcome: Outcome) -> bool:
        return any((outcome.path, outcome.name) == (path, name) for path, name, _ in self._named)

    # -- running ------------------------------------------------------------------------------------------------------
    def _difference(self, texts: Mapping[str, str]) -> str:
        """How the examples that worked before differ with these texts; nothing where they do not."""
        found = self._outcomes(texts)
        for place, before in self.done.outcomes.items():
            if before.failure:
                continue
            after = found.get(place)
            if after is None:
                return next((f"{item.label}: {item.failure}" for item in found.values()), f"{before.label} is gone")
            problem = after.failure or after.difference
            if problem:
                return f"{after.label}: {problem}"
        return ""

    def _outcomes(self, texts: Mapping[str, str]) -> Mapping[tuple[str, str], Outcome]:
        key = tuple(sorted(texts.items()))
        if key not in self._known:
            self._known[key] = self._run(texts)
        return self._known[key]

    def _run(self, texts: Mapping[str, str]) -> dict[tuple[str, str], Outcome]:
        """The outcomes of all examples with these texts in the place of files. Never raises for what user code does."""
        folder = Path(self._folder.name)
        plain = [path for path in self._files if _is_plain(path)]
        examples = [*((path, "", ()) for path in plain), *self._named]
        job = {
            "texts": dict(texts),
            "traced": plain,
            "examples": [{"path": path, "name": name, "shapes": shapes} for path, name, shapes in examples],
            "reference": str(folder / "reference"),
            "answer": str(folder / "answer"),
        }
        (folder / "job").write_text(json.dumps(job), "utf-8")
        (folder / "answer").unlink(missing_ok=True)
        failure = _call_worker(folder / "job")
        if failure or not (folder / "answer").exists():
            return {(path, name): Outcome(path, name, failure, "", "", 0, {}) for path, name, _ in examples}
        answers: list[dict[str, Any]] = json.loads((folder / "answer").read_text("utf-8"))
        return {(answer["path"], answer["name"]): _read_outcome(answer) for answer in answers}


def _call_worker(job: Path) -> str:
    """Run a job; returns why there is no answer, if there is none."""
    import autohybrid

    root = os.path.dirname(os.path.dirname(os.path.abspath(autohybrid.__file__)))
    paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-m", "autohybrid.proving.worker", str(job)]
    try:
        run = subprocess.run(command, env=variables, capture_output=True, stdin=subprocess.DEVNULL, timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        return f"it does not end within {_SECONDS} s"
    if run.returncode == 0:
        return ""
    last = run.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
    return f"the process that runs it ended with {run.returncode}: {''.join(last)}"


def _read_outcome(answer: Mapping[str, Any]) -> Outcome:
    lines = {path: frozenset(numbers) for path, numbers in answer["lines"].items()}
    return Outcome(**{**answer, "lines": lines})


def _texts_of(applied: Applied, sources: Sources, current: Mapping[str, str]) -> dict[str, str]:
    """The texts, by absolute path, with the fixes of a trial."""
    return {**current, **{sources.get_absolute(path): text for path, text in applied.texts.items()}}


def _only(pairs: Sequence[Pair]) -> list[Diagnostic]:
    return [replace(finding, fixes=(fix,)) for finding, fix in pairs]


def _is_plain(path: str) -> bool:
    return not path.endswith(".ipynb")


def _lines_of(finding: Diagnostic, fix: Fix, file: ParsedFile) -> set[int]:
    """The lines that have to run for a fix to be tried: the first line of every statement that it changes."""
    places = {(finding.span.line, finding.span.end_line), *map(_lines_of_edit, fix.edits)}
    wanted: set[int] = set()
    for node in ast.walk(file.tree):
        if isinstance(node, FunctionNode):
            inside = [item for item in ast.walk(node) if isinstance(item, ast.stmt) and item is not node]
            wanted |= {item.lineno for item in inside if _runs(item) and any(_meet(item, place) for place in places)}
    if wanted:
        return wanted
    # A finding about a whole method or class: something of it has to run.
    heads = (
        item for item in ast.walk(file.tree) if isinstance(item, FunctionNode) and item.lineno == finding.span.line
    )
    scope = next(heads, None) or next(iter(Site(file, finding).nodes), None)
    return {item.lineno for item in getattr(scope, "body", ())[:1]}


def _runs(statement: ast.stmt) -> bool:
    """Whether the interpreter stops at a statement: it does not at a docstring."""
    return not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))


def _lines_of_edit(edit: Edit) -> tuple[int, int]:
    span = edit.span
    # An edit that takes whole lines away ends at the start of the next one.
    return span.line, span.end_line - (span.end_column == 1 and span.end_line > span.line)


def _meet(statement: ast.stmt, place: tuple[int, int]) -> bool:
    """Whether a statement shares a line with a place; of one that holds others, only its head counts."""
    body = getattr(statement, "body", None)
    last = body[0].lineno - 1 if isinstance(body, list) and body else statement.end_lineno or statement.lineno
    return statement.lineno <= place[1] and place[0] <= max(last, statement.lineno)
