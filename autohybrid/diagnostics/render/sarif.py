"""sarif: SARIF 2.1.0 for code scanning: relative paths, own fingerprints, the trail, fixes and suppressions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from autohybrid.diagnostics.fingerprint import make_fingerprints
from autohybrid.diagnostics.model import Applicability, Diagnostic, Edit, Fix, Label, Severity
from autohybrid.diagnostics.render.style import Style
from autohybrid.diagnostics.report import Report
from autohybrid.diagnostics.rule import Rule
from autohybrid.diagnostics.rules import load_rules
from autohybrid.spans import Span
from autohybrid.version import __version__

SCHEMA_URI = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_ROOT = "SRCROOT"


def render(report: Report, style: Style) -> str:
    """One run. Suppressed findings are included, marked as such, as consumers expect."""
    findings = sorted([*report, *report.suppressed], key=lambda finding: finding.sort_key)
    codes = sorted({finding.code for finding in findings})
    rules = [rule for rule in load_rules() if rule.code in codes]
    index = {rule.code: at for at, rule in enumerate(rules)}
    driver = {
        "name": "autohybrid",
        "version": __version__,
        "semanticVersion": __version__,
        "informationUri": "https://pypi.org/project/autohybrid/",
        "rules": [_rule(rule) for rule in rules],
    }
    fingerprints = make_fingerprints(findings, report.sources)
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"description": {"text": "the folder that the check was run in"}}},
        "artifacts": [
            {"location": _artifact(path), "sourceLanguage": "python"}
            for path in sorted({finding.span.path for finding in findings})
        ],
        "results": [
            _result(finding, mark, index, report) for finding, mark in zip(findings, fingerprints, strict=True)
        ],
        "invocations": [{"executionSuccessful": True, "exitCode": int(report.has_failures)}],
    }
    document = {"$schema": SCHEMA_URI, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _rule(rule: Rule) -> dict[str, Any]:
    text = rule.doc.strip() or rule.summary
    return {
        "id": rule.code,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.summary},
        "help": {"text": text, "markdown": text},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {"tags": ["gluon", rule.code[:3]], "precision": "very-high"},
    }


def _result(finding: Diagnostic, fingerprint: str, index: dict[str, int], report: Report) -> dict[str, Any]:
    text = finding.message + (f"\nhelp: {finding.help}" if finding.help else "")
    snippet = report.sources.get_line(finding.span.path, finding.span.line, finding.cell)
    location: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": _artifact(finding.span.path),
            "region": {**_region(finding.in_file(finding.span)), "snippet": {"text": snippet}},
        }
    }
    where = ".".join(part for part in (finding.block, finding.method) if part)
    if where:
        location["logicalLocations"] = [{"fullyQualifiedName": where, "kind": "function"}]
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "level": _LEVELS[finding.severity],
        "message": {"text": text},
        "locations": [location],
        "partialFingerprints": {"primaryLocationLineHash": fingerprint},
        "properties": {"confidence": finding.confidence.value},
    }
    if finding.cell is not None:
        result["properties"] |= {"cell": finding.cell, "cellLine": finding.span.line, "cellColumn": finding.span.column}
    if finding.code in index:
        result["ruleIndex"] = index[finding.code]
    if finding.labels:
        result["relatedLocations"] = [_related(at, finding, label) for at, label in enumerate(finding.labels)]
    # A region counts the lines of the file, which for a notebook are not those of its cells.
    usable = finding.fixes if finding.cell is None else ()
    fixes = [_fix(fix) for fix in usable if fix.applicability is not Applicability.DISPLAY]
    if fixes:
        result["fixes"] = fixes
    if finding.suppressed is not None:
        reason = {"justification": finding.suppressed} if finding.suppressed else {}
        result["suppressions"] = [{"kind": "inSource", "status": "accepted", **reason}]
    return result


def _related(at: int, finding: Diagnostic, label: Label) -> dict[str, Any]:
    span = finding.in_file(label.span) if label.span.path == finding.span.path else label.span
    place = {"artifactLocation": _artifact(span.path), "region": _region(span)}
    return {"id": at, "message": {"text": label.message}, "physicalLocation": place}


def _fix(fix: Fix) -> dict[str, Any]:
    paths = dict.fromkeys(edit.span.path for edit in fix.edits)
    changes = [
        {
            "artifactLocation": _artifact(path),
            "replacements": _replacements([edit for edit in fix.edits if edit.span.path == path]),
        }
        for path in paths
    ]
    return {"description": {"text": fix.message}, "artifactChanges": changes}


def _replacements(edits: Sequence[Edit]) -> list[dict[str, Any]]:
    return [{"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.content}} for edit in edits]


def _artifact(path: str) -> dict[str, Any]:
    """A relative URI below the root, or an absolute one for a file outside of it."""
    if path.startswith("/"):
        return {"uri": "file://" + quote(path, errors="surrogateescape")}
    if path[1:3] == ":/":
        return {"uri": "file:///" + quote(path, safe="/:")}
    return {"uri": quote(path, errors="surrogateescape"), "uriBaseId": _ROOT}


def _region(span: Span) -> dict[str, int]:
    return {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }
