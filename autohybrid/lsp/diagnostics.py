"""Findings as the protocol's diagnostics: the trail as related information, the rule's page as its description."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from lsprotocol import types

from autohybrid.diagnostics.model import Diagnostic, Severity
from autohybrid.diagnostics.rules import find_rule
from autohybrid.lsp.documents import Documents
from autohybrid.lsp.rule_text import to_page

SOURCE = "autohybrid"
_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Information,
}


class Pages:
    """Pages that links lead to (rules, emitted functions): files, written when first shown, removed with the server.

    The text of a rule is that of the installed version, so it fits the finding and needs no network.
    """

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._uris: dict[str, str] = {}

    def uri_of(self, code: str) -> str | None:
        """The address of a rule's page."""
        if code not in self._uris:
            rule = find_rule(code)
            if rule is None:
                return None
            self._uris[code] = self.write(f"{code}.md", to_page(rule))
        return self._uris[code]

    def write(self, name: str, text: str) -> str:
        """Write a page and give its address."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="autohybrid-pages-"))
        page = self._folder / name
        page.write_text(text, encoding="utf-8")
        return page.as_uri()

    def remove(self) -> None:
        """Delete the pages."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None
            self._uris.clear()


def to_diagnostic(finding: Diagnostic, documents: Documents, pages: Pages | None) -> types.Diagnostic:
    """One finding; with `pages` a link to the page of its rule, for clients that show links."""
    href = pages.uri_of(finding.code) if pages is not None else None
    message = f"{finding.message}\nhelp: {finding.help}" if finding.help else finding.message
    related = [
        types.DiagnosticRelatedInformation(documents.locate(label.span), label.message) for label in finding.labels
    ]
    return types.Diagnostic(
        range=documents.locate(finding.span).range,
        message=message,
        severity=_SEVERITIES[finding.severity],
        code=finding.code,
        code_description=types.CodeDescription(href) if href else None,
        source=SOURCE,
        tags=[types.DiagnosticTag.Unnecessary] if finding.name.startswith("unused-") else None,
        related_information=related or None,
        data={"name": finding.name, "confidence": finding.confidence.value},
    )


def by_document(
    path: str, findings: Sequence[Diagnostic], documents: Documents, pages: Pages | None
) -> dict[str, list[types.Diagnostic]]:
    """The diagnostics of each document that a path is shown in: one for a file, one for each cell of a notebook."""
    result: dict[str, list[types.Diagnostic]] = {uri: [] for uri in documents.uris_of(path)}
    for finding in findings:
        result[documents.locate(finding.span).uri].append(to_diagnostic(finding, documents, pages))
    return result


def result_id(items: Sequence[types.Diagnostic]) -> str:
    """The same text for the same diagnostics, so that a client is told once."""
    return hashlib.blake2b(repr(items).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
