"""Which findings are reported: rule codes, prefixes and names, per-file ignores, severities, confidence."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence

from autohybrid.config import Settings, SettingsError, closest
from autohybrid.diagnostics.codes import is_code
from autohybrid.diagnostics.globs import PatternSet, make_pattern_set
from autohybrid.diagnostics.model import Confidence, Diagnostic, Severity

ALL = "ALL"


def matches(selector: str, code: str) -> bool:
    """Whether a resolved selector (ALL or a prefix) covers `code`."""
    return selector == ALL or code.startswith(selector)


class Selection:
    """The choice made by one `Settings`. `get_codes` gives every known rule code with its name; it is called only when
    the settings select or ignore anything in particular.

    Of `select` and `ignore` the longer matching prefix wins, and `ignore` on a tie (as ruff does). Findings that are
    only possible, and those of severity info, are reported if `pedantic` or if their exact code is selected.
    Raises SettingsError for a selector that names no rule.
    """

    def __init__(self, settings: Settings, get_codes: Callable[[], Mapping[str, str]], pedantic: bool = False) -> None:
        self._get_codes = get_codes
        self._pedantic = pedantic
        chosen = self._resolve("select", settings.select) + self._resolve("extend-select", settings.extend_select)
        self._select = chosen
        self._ignore = self._resolve("ignore", settings.ignore)
        self._exact = frozenset(filter(is_code, chosen))
        self._known: dict[str, bool] = {}
        self._severity = tuple(
            (selector, Severity(level))
            for name, level in settings.severity
            for selector in self._resolve("severity", (name,))
        )
        root = settings.root or os.getcwd()
        self._per_file: tuple[tuple[PatternSet, tuple[str, ...]], ...] = tuple(
            (make_pattern_set(root, (pattern,)), self._resolve("per-file-ignores", selectors))
            for pattern, selectors in settings.per_file_ignores
        )

    def is_selected(self, code: str) -> bool:
        """Whether the rule runs at all under `select`, `extend-select` and `ignore`."""
        known = self._known.get(code)
        if known is None:
            chosen = _longest(self._select, code)
            known = self._known[code] = chosen >= 0 and chosen > _longest(self._ignore, code)
        return known

    def is_ignored_in(self, code: str, absolute: str) -> bool:
        """Whether `per-file-ignores` silences the rule in that file."""
        return any(
            patterns.find_verdict(absolute, False) and any(matches(selector, code) for selector in selectors)
            for patterns, selectors in self._per_file
        )

    def apply(self, findings: Iterable[Diagnostic], absolute: str) -> list[Diagnostic]:
        """The findings of one file that are reported, with the severities that the settings give."""
        kept: list[Diagnostic] = []
        for finding in findings:
            if not self.is_selected(finding.code) or self.is_ignored_in(finding.code, absolute):
                continue
            finding = self._with_severity(finding)
            quiet = finding.severity is Severity.INFO or finding.confidence is Confidence.POSSIBLE
            if quiet and not self._pedantic and finding.code not in self._exact:
                continue
            kept.append(finding)
        return kept

    def _with_severity(self, finding: Diagnostic) -> Diagnostic:
        best: tuple[int, Severity] | None = None
        for selector, severity in self._severity:
            weight = _weight(selector)
            if matches(selector, finding.code) and (best is None or weight >= best[0]):
                best = (weight, severity)
        return finding if best is None else finding.with_severity(best[1])

    def _resolve(self, key: str, selectors: Sequence[str]) -> tuple[str, ...]:
        return tuple(
            ALL if selector == ALL else resolve_selector(selector, self._get_codes(), key) for selector in selectors
        )


def resolve_selector(selector: str, codes: Mapping[str, str], key: str) -> str:
    """ALL, a code or prefix in capitals, or the code of the rule with that name.

    Raises SettingsError, with the nearest code or name, for anything else.
    """
    text = selector.strip()
    upper = text.upper()
    if upper == ALL or (upper and any(code.startswith(upper) for code in codes)):
        return upper
    for code, name in codes.items():
        if name == text.lower():
            return code
    hint = closest(upper, list(codes)) or closest(text.lower(), list(codes.values()))
    raise SettingsError(f"`{selector}` in `{key}` is no rule code, prefix or rule name{hint}")


def _weight(selector: str) -> int:
    return 0 if selector == ALL else len(selector)


def _longest(selectors: Iterable[str], code: str) -> int:
    """The length of the longest selector that covers `code` (0 for ALL), or -1."""
    return max((_weight(selector) for selector in selectors if matches(selector, code)), default=-1)
