"""Inlay hints: the shape of a tensor where it is given a name, as far as the analysis knows it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lsprotocol import types

from autohybrid.analysis.values import Tensor
from autohybrid.lsp.describe import to_shape
from autohybrid.lsp.documents import Documents
from autohybrid.lsp.project import Project
from autohybrid.spans import Span

_ASSIGNED = re.compile(r"^\s*(?P<name>[A-Za-z_]\w*)\s*=\s*$")


def find_hints(project: Project, documents: Documents, params: types.InlayHintParams) -> Iterator[types.InlayHint]:
    """A hint behind each `name` of `name = <tensor of known shape>` in the range."""
    uri = params.text_document.uri
    path = documents.path_of(uri)
    first, last = documents.place(uri, params.range.start)[0], documents.place(uri, params.range.end)[0]
    lines = documents.lines_of(path)
    for span, value in project.values(path).items():
        if not first <= span.line <= last or not isinstance(value, Tensor) or value.shape is None:
            continue
        target = _ASSIGNED.match(lines.line(span.line)[: span.column - 1])
        if target is None:
            continue
        column = target.end("name") + 1
        place = documents.locate(Span(path, span.line, column, span.line, column))
        if place.uri == uri:
            yield types.InlayHint(
                place.range.start,
                f": {to_shape(value.shape)}",
                kind=types.InlayHintKind.Type,
                tooltip="the shape as far as the analysis knows it; ? stands for a size that is not known",
            )
