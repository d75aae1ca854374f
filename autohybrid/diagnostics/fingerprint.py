"""Fingerprints: what makes a finding the same finding after the lines around it moved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from autohybrid.diagnostics.model import Diagnostic
from autohybrid.diagnostics.sources import Sources


def make_stem(finding: Diagnostic, sources: Sources) -> str:
    """Hash of the code, the path, the place in the class and the line's text without its blanks.

    Equal findings on equal lines share it.
    """
    import hashlib

    text = "".join(sources.get_line(finding.span.path, finding.span.line, finding.cell).split())
    parts = (finding.code, finding.span.path, finding.block, finding.method, text)
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()


def make_fingerprints(findings: Iterable[Diagnostic], sources: Sources) -> list[str]:
    """One string per finding, unique in the report: the stem and, from the second on, which of its equals it is."""
    seen: Counter[str] = Counter()
    result: list[str] = []
    for finding in findings:
        stem = make_stem(finding, sources)
        seen[stem] += 1
        result.append(stem if seen[stem] == 1 else f"{stem}-{seen[stem]}")
    return result
