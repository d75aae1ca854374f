"""The text of a rule in Markdown, for hovers and for the pages that links lead to."""

from __future__ import annotations

import re

from autohybrid.diagnostics.rule import Rule

_LABEL = re.compile(r"^([A-Z][^:`\n]{2,40}):(?=\s)", re.MULTILINE)


def to_page(rule: Rule) -> str:
    """The whole documentation of a rule."""
    heading, _, rest = (rule.doc.strip() or f"{rule.code} {rule.name}: {rule.summary}").partition("\n")
    return f"# {heading}\n\n{to_markdown(rest)}\n"


def to_markdown(text: str) -> str:
    """The sections of a rule's documentation with their labels in bold."""
    return _LABEL.sub(r"**\1:**", text.strip())


def section_of(rule: Rule, label: str) -> str:
    """One paragraph of the documentation, by the label it starts with; empty where there is none."""
    for paragraph in rule.doc.split("\n\n"):
        if paragraph.strip().startswith(f"{label}:"):
            return " ".join(paragraph.strip().removeprefix(f"{label}:").split())
    return ""
