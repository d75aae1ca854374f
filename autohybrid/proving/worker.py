"""The process that runs examples: `python -m autohybrid.proving.worker JOB`, a JSON file that says what to run.

The job holds `texts` (by path, in place of files), `traced` (files whose lines are noted), `examples`, `reference` (a
file: the runs to compare with; written by the first job) and `answer` (the file to write the outcome to). What user
code prints goes nowhere near the answer.
"""

from __future__ import annotations

import json
import os
import pickle
import sys
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType
from typing import Any

from autohybrid import compat
from autohybrid.proving.comparison import find_difference
from autohybrid.proving.examples import Example, find_examples
from autohybrid.proving.overlay import Overlay
from autohybrid.proving.runs import Attempt, LineTrace, Run, run_example

#: Hybridized or not, recorded or not: the first is the measure of all.
_MODES = ((False, False), (False, True), (True, False), (True, True))
Runs = dict[tuple[bool, bool], Run]
Reference = dict[tuple[str, str], Runs]


def main(path: str) -> None:
    """Run the job in a file and write its answer."""
    job = json.loads(Path(path).read_text("utf-8"))
    compat.install()
    overlay = Overlay(job["texts"])
    overlay.install()
    traced = [os.path.realpath(path) for path in job["traced"]]
    store = Path(job["reference"])
    reference: Reference | None = pickle.loads(store.read_bytes()) if store.exists() else None
    made: Reference = {}
    outcomes = [_examine(item, overlay, traced, reference, made) for item in job["examples"]]
    if reference is None:
        store.write_bytes(pickle.dumps(made))
    Path(job["answer"]).write_text(json.dumps([entry for found in outcomes for entry in found]), "utf-8")


def _examine(
    item: Mapping[str, Any], overlay: Overlay, traced: list[str], reference: Reference | None, made: Reference
) -> list[dict[str, Any]]:
    """The outcomes of one example, or, where none is named, of every example of a file."""
    path, name, shapes = item["path"], item["name"], tuple(item["shapes"])
    attempt = Attempt([os.path.realpath(path), *traced])
    module = None
    with attempt:
        module = overlay.load(path)
    if module is None or attempt.failure is not None:
        text = attempt.failure.text if attempt.failure else ""
        return [_outcome(path, name, failure=f"importing the file fails with {text}")]
    names = [name] if name else find_examples(module)
    return [_run(module, Example(path, name, shapes), traced, reference, made) for name in names]


def _run(
    module: ModuleType, example: Example, traced: list[str], reference: Reference | None, made: Reference
) -> dict[str, Any]:
    """Run one example in every mode; note its runs where they are the reference, else compare with it."""
    key = (example.path, example.name)
    trace = LineTrace(traced)
    runs: Runs = {}
    for mode in _MODES:
        with nullcontext() if runs else trace:
            runs[mode] = run_example(module, example, hybridized=mode[0], recorded=mode[1], paths=traced)
    found: dict[str, Any] = {
        "calls": len(runs[_MODES[0]].calls),
        "lines": {path: sorted(ran) for path, ran in trace.lines.items()},
    }
    if reference is None:
        made[key] = runs
        again = run_example(module, example, hybridized=False, recorded=False, paths=traced)
        return _outcome(*key, **found, failure=_why_unusable(runs[_MODES[0]], again))
    if key not in reference:
        return _outcome(*key, failure="it was not there before the change")
    difference, note = _judge(reference[key], runs)
    return _outcome(*key, **found, difference=difference, note=note)


def _why_unusable(plain: Run, again: Run) -> str:
    """Why nothing can be measured against a run of the unchanged code, if so."""
    if plain.failure is not None:
        return f"it fails already before the change: {plain.failure.text}"
    if not plain.calls:
        return "it has no calls"
    return "it gives other results each time" if find_difference(plain, again) else ""


def _judge(before: Runs, after: Runs) -> tuple[str, str]:
    """The first difference between the unchanged code, imperatively, and the changed code in every mode; and what
    could not be compared."""
    notes: list[str] = []
    for mode in _MODES:
        hybridized, recorded = mode
        measure, found = before[False, recorded], after[mode]
        if measure.failure is not None:
            # What cannot be differentiated before need not be after; values were compared without recording.
            notes.append("without gradients, which fail before the change")
            continue
        problem = find_difference(measure, found)
        if problem and hybridized and _is_refused(found) and _is_refused(before[mode]):
            notes.append("imperatively only, as hybridize() still refuses the block")
        elif problem:
            return f"{'hybridized' if hybridized else 'imperatively'}, {problem}", ""
    return "", "; ".join(dict.fromkeys(notes))


def _is_refused(run: Run) -> bool:
    return run.failure is not None and run.failure.is_refusal


def _outcome(path: str, name: str, **known: Any) -> dict[str, Any]:
    return {"path": path, "name": name, "failure": "", "difference": "", "note": "", "calls": 0, "lines": {}, **known}


if __name__ == "__main__":
    main(sys.argv[1])
