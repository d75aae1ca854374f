"""What `--verify-fix` says: which examples ran, what they prove and refuse, and what nothing could be said of."""

from __future__ import annotations

from collections.abc import Iterator

from autohybrid.cli.verifying import Proof, Verification
from autohybrid.diagnostics.render.style import plural


def to_lines(done: Verification) -> list[str]:
    """The report, line by line, in the order of importance: refusals last, where the eye rests."""
    return [*_ran(done), *_proven(done), *_open(done), *_refused(done)]


def _ran(done: Verification) -> Iterator[str]:
    for outcome in done.outcomes.values():
        if not outcome.failure:
            yield f"ran {outcome.label}: {plural(outcome.calls, 'call')}, imperatively and hybridized"
        elif outcome.name:
            yield f"cannot use {outcome.label}: {outcome.failure}"


def _proven(done: Verification) -> Iterator[str]:
    if done.proven:
        yield f"proven equal: {plural(len(done.proven), 'fix')}"
    for proof in done.proven:
        note = f"; {proof.note}" if proof.note else ""
        yield f"  {_place(proof)} (by {', '.join(proof.examples)}{note})"


def _open(done: Verification) -> Iterator[str]:
    if done.open:
        yield f"not proven and not applied: {plural(len(done.open), 'fix')}"
    for proof in done.open:
        yield f"  {_place(proof)}: {proof.reason}"


def _refused(done: Verification) -> Iterator[str]:
    if done.refused:
        yield f"refused, as the results change: {plural(len(done.refused), 'fix')}"
    for proof in done.refused:
        yield f"  {_place(proof)}: {proof.difference}"


def _place(proof: Proof) -> str:
    return f"{proof.finding.span}: {proof.finding.code} {proof.fix.message}"
