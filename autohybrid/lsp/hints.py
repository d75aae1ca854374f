"""Inlay hints: the shape of a tensor where it gets its name, as far as the analysis knows it."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from lsprotocol import types

from autohybrid.analysis.values import Tensor, Value
from autohybrid.lsp.describe import to_shape
from autohybrid.lsp.documents import Documents
from autohybrid.lsp.positions import Lines
from autohybrid.lsp.project import Project
from autohybrid.spans import Span

_ASSIGNED = re.compile(r"^\s*(?P<name>[A-Za-z_]\w*)\s*=\s*$")
_TOOLTIP = "the shape as far as the analysis knows it; ? stands for a size that is not known"


def find_hints(project: Project, documents: Documents, params: types.InlayHintParams) -> list[types.InlayHint]:
    """A hint behind each parameter of a method and each `name` of `name = ...` whose shape is known, in the range."""
    uri = params.text_document.uri
    path = documents.path_of(uri)
    first, last = documents.place(uri, params.range.start)[0], documents.place(uri, params.range.end)[0]
    hints: list[types.InlayHint] = []
    for (line, column), shape in sorted(known_shapes(project.values(path), documents.lines_of(path), path).items()):
        place = documents.locate(Span(path, line, column, line, column))
        if first <= line <= last and place.uri == uri:
            kind = types.InlayHintKind.Type
            hints.append(types.InlayHint(place.range.start, f": {to_shape(shape)}", kind=kind, tooltip=_TOOLTIP))
    return hints


def known_shapes(
    values: Mapping[Span, Value], lines: Lines, path: str
) -> dict[tuple[int, int], tuple[int | None, ...]]:
    """The shapes that are known, by line and column of the end of the name that they belong to."""
    found: dict[tuple[int, int], tuple[int | None, ...]] = {}
    for span, value in values.items():
        if not isinstance(value, Tensor) or value.shape is None:
            continue
        target = _ASSIGNED.match(lines.line(span.line)[: span.column - 1])
        if target is not None:
            found[span.line, target.end("name") + 1] = value.shape
        origin = value.origin
        if origin is not None and isinstance(origin.node, ast.arg) and origin.module.file.path == path:
            place = origin.module.text.span(origin.node)
            found[place.line, place.column + len(origin.node.arg)] = value.shape
    return found
