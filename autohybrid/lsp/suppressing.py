"""The edit that silences a finding with a comment on its line."""

from __future__ import annotations

import io
import tokenize

from autohybrid.diagnostics.model import Diagnostic, Edit
from autohybrid.diagnostics.suppressions import Kind, read_directives
from autohybrid.lsp.positions import Lines
from autohybrid.spans import Span

# Findings that no comment can silence: of files that cannot be read, and about comments.
_NEVER = ("AH0", "AH9")


def suppressing_edit(finding: Diagnostic, lines: Lines) -> Edit | None:
    """Add `# autohybrid: ignore[CODE]` behind the logical line that the finding starts in, or the code to the list
    that is there. None where no comment can silence it."""
    if finding.code.startswith(_NEVER):
        return None
    last = _last_line_of(finding.span.line, lines.text)
    if last is None:
        return None
    path = finding.span.path
    for directive in read_directives(path, lines.text):
        if directive.kind is Kind.IGNORE and directive.span.line == last and directive.selector_spans:
            end = directive.selector_spans[-1]
            return Edit(Span(path, last, end.end_column, last, end.end_column), f", {finding.code}")
    width = len(lines.line(last).rstrip())
    behind = Span(path, last, width + 1, last, len(lines.line(last)) + 1)
    return Edit(behind, f"  # autohybrid: ignore[{finding.code}]")


def _last_line_of(line: int, text: str) -> int | None:
    """The last physical line of the logical line that `line` is part of; None when the text cannot be read so far."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    try:
        for token in tokenize.generate_tokens(io.StringIO(plain).readline):
            if token.type == tokenize.NEWLINE and token.start[0] >= line:
                return token.start[0]
    except (tokenize.TokenError, SyntaxError):
        return None
    return None
