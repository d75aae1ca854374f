"""Code lenses: above each hybrid block, whether it can be hybridized, and its emitted function."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from autohybrid.diagnostics.model import Diagnostic
from autohybrid.lsp.documents import Documents
from autohybrid.lsp.project import Project
from autohybrid.spans import Span

SHOW_EMITTED = "autohybrid.showEmitted"


def find_lenses(project: Project, documents: Documents, uri: str) -> list[types.CodeLens]:
    """The lenses of one document."""
    path = documents.path_of(uri)
    checked = project.check(path)
    lenses: list[types.CodeLens] = []
    for block in project.blocks(path):
        place = documents.locate(Span(path, block.line, 1, block.line, 1))
        if place.uri == uri:
            title = to_title(_count(checked.shown, block.qualname), _count(checked.quiet, block.qualname))
            lenses.append(types.CodeLens(place.range, types.Command(title, "")))
            if documents.uris_of(path) == [uri]:
                show = types.Command("show what hybridize() emits", SHOW_EMITTED, arguments=[uri, block.qualname])
                lenses.append(types.CodeLens(place.range, show))
    return lenses


def _count(findings: tuple[Diagnostic, ...], qualname: str) -> int:
    return sum(finding.block == qualname for finding in findings)


def to_title(shown: int, quiet: int) -> str:
    """What the lens says. Findings that are kept quiet still stand in the way of `hybridize()`.

    >>> to_title(0, 0), to_title(1, 0), to_title(2, 1), to_title(0, 1)
    ('hybridizable', '1 finding', '2 findings, 1 ignored', '1 finding ignored')
    """
    return ", ".join(_title_parts(shown, quiet)) or "hybridizable"


def _title_parts(shown: int, quiet: int) -> Iterator[str]:
    if shown:
        yield _number(shown)
    if quiet:
        yield f"{quiet} ignored" if shown else f"{_number(quiet)} ignored"


def _number(count: int) -> str:
    return f"{count} finding{'' if count == 1 else 's'}"
