"""judge: run the rules over the events and give back the findings, each once, in the order of every report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.model import Confidence, Diagnostic
from autohybrid.diagnostics.rule import Rule
from autohybrid.diagnostics.rules import load_rules

_RANK = {Confidence.DEFINITE: 2, Confidence.LIKELY: 1, Confidence.POSSIBLE: 0}


def judge(events: Mapping[str, tuple[Event, ...]], rules: Sequence[Rule] | None = None) -> list[Diagnostic]:
    """The findings of `rules` (all of them by default) on `events`. One finding per code and range: the surest."""
    listeners = _listeners(load_rules() if rules is None else rules)
    best: dict[tuple[object, ...], Diagnostic] = {}
    for file_events in events.values():
        for event in file_events:
            for rule in listeners.get(event.kind, ()):
                finding = _diagnostic(rule, event)
                if finding is None:
                    continue
                key = (finding.span, finding.cell, finding.code)
                known = best.get(key)
                if known is None or _RANK[finding.confidence] > _RANK[known.confidence]:
                    best[key] = finding
    return sorted(best.values(), key=lambda finding: finding.sort_key)


def _listeners(rules: Sequence[Rule]) -> dict[EventKind, list[Rule]]:
    table: dict[EventKind, list[Rule]] = {}
    for rule in rules:
        for kind in rule.kinds:
            table.setdefault(kind, []).append(rule)
    return table


def _diagnostic(rule: Rule, event: Event) -> Diagnostic | None:
    finding = rule.check(event)
    if finding is None:
        return None
    confidence = event.confidence
    if finding.confidence is not None and _RANK[finding.confidence] < _RANK[confidence]:
        confidence = finding.confidence
    return Diagnostic(
        code=rule.code,
        name=rule.name,
        message=finding.message,
        span=finding.span or event.span,
        severity=rule.grade(confidence),
        confidence=confidence,
        labels=event.trail[:3],
        help=finding.help,
        fixes=finding.fixes,
        block=event.block,
        method=event.method,
        cell=event.cell,
    )
