"""Code actions: the fixes of the findings in a range, a comment that silences each, and fixing the whole file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lsprotocol import types

from autohybrid.diagnostics.model import Applicability, Diagnostic, Edit, Fix
from autohybrid.lsp.diagnostics import to_diagnostic
from autohybrid.lsp.documents import Documents
from autohybrid.lsp.fix_all import fix_all, line_edits
from autohybrid.lsp.project import Project
from autohybrid.lsp.suppressing import suppressing_edit
from autohybrid.transform.fixes import complete

FIX_ALL = "source.fixAll.autohybrid"
KINDS = [types.CodeActionKind.QuickFix, FIX_ALL]


class Actions:
    """Makes code actions. `versioned`: the client takes edits that name the version they are meant for."""

    def __init__(self, project: Project, documents: Documents, *, versioned: bool) -> None:
        self._project = project
        self._documents = documents
        self._versioned = versioned

    def find(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        """The actions for a range, as far as the client asks for their kind."""
        uri, only = params.text_document.uri, params.context.only
        actions: list[types.CodeAction] = []
        if is_wanted(types.CodeActionKind.QuickFix, only):
            findings = list(self._findings_in(uri, params.range))
            for finding in complete(findings, self._project.text, self._project.parsed):
                actions.extend(self._fixes(finding))
            actions.extend(action for finding in findings for action in self._suppressions(finding))
        if is_wanted(FIX_ALL, only) and self._is_plain_file(uri):
            actions.extend(self._fix_all(uri, is_automatic=bool(only)))
        return actions

    def resolve(self, action: types.CodeAction) -> types.CodeAction:
        """Fill in the edit of an action that was offered without one."""
        if action.kind == FIX_ALL and action.edit is None and isinstance(action.data, str):
            action.edit = self._fix_all_edit(action.data)
        return action

    def _is_plain_file(self, uri: str) -> bool:
        return self._documents.uris_of(self._documents.path_of(uri)) == [uri]

    def _findings_in(self, uri: str, wanted: types.Range) -> Iterator[Diagnostic]:
        path = self._documents.path_of(uri)
        first, last = self._documents.place(uri, wanted.start), self._documents.place(uri, wanted.end)
        for finding in self._project.check(path).shown:
            span = finding.span
            if (span.line, span.column) <= last and first <= (span.end_line, span.end_column):
                yield finding

    def _fixes(self, finding: Diagnostic) -> Iterator[types.CodeAction]:
        usable = [
            fix
            for fix in finding.fixes
            if fix.applicability is not Applicability.DISPLAY and self._documents.can_write(fix)
        ]
        for at, fix in enumerate(usable):
            is_safe = fix.applicability is Applicability.SAFE
            title = f"{finding.code}: {fix.message}" + ("" if is_safe else " (may change what the code does)")
            yield self._action(title, finding, fix.edits, is_preferred=is_safe and at == 0)

    def _suppressions(self, finding: Diagnostic) -> Iterator[types.CodeAction]:
        edit = suppressing_edit(finding, self._documents.lines_of(finding.span.path))
        if edit is not None:
            yield self._action(f"{finding.code}: ignore on this line with a comment", finding, (edit,))

    def _action(
        self, title: str, finding: Diagnostic, edits: Sequence[Edit], *, is_preferred: bool = False
    ) -> types.CodeAction:
        return types.CodeAction(
            title,
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[to_diagnostic(finding, self._documents, None)],
            is_preferred=is_preferred,
            edit=self.to_edit(Fix(title, tuple(edits))),
        )

    def _fix_all(self, uri: str, *, is_automatic: bool) -> Iterator[types.CodeAction]:
        """One action for the file; its edit comes at once where the client applies it unseen (on saving)."""
        action = types.CodeAction("autohybrid: fix all that is safe", kind=FIX_ALL, data=uri)
        if is_automatic:
            action.edit = self._fix_all_edit(uri)
            if action.edit is None:
                return
        yield action

    def _fix_all_edit(self, uri: str) -> types.WorkspaceEdit | None:
        path = self._documents.path_of(uri)
        before = self._project.text(path)
        after = fix_all(self._project, path)
        edits = line_edits(before, after, self._documents.encoding)
        return self._workspace_edit({uri: edits}) if edits else None

    def to_edit(self, fix: Fix) -> types.WorkspaceEdit:
        """The edits of a fix, which may lie in several documents."""
        by_uri: dict[str, list[types.TextEdit]] = {}
        for edit in fix.edits:
            place = self._documents.locate(edit.span)
            end = self._documents.lines_of(edit.span.path).line_end
            text = edit.content if end == "\n" else edit.content.replace("\n", end)
            by_uri.setdefault(place.uri, []).append(types.TextEdit(place.range, text))
        return self._workspace_edit(by_uri)

    def _workspace_edit(self, by_uri: dict[str, list[types.TextEdit]]) -> types.WorkspaceEdit:
        if not self._versioned:
            return types.WorkspaceEdit(changes=by_uri)
        return types.WorkspaceEdit(
            document_changes=[
                types.TextDocumentEdit(
                    types.OptionalVersionedTextDocumentIdentifier(uri, self._documents.version_of(uri)), list(edits)
                )
                for uri, edits in by_uri.items()
            ]
        )


def is_wanted(kind: str, only: Sequence[str] | None) -> bool:
    """Whether a client that asks for the kinds `only`, or for any, wants `kind`: a kind covers those below it.

    >>> is_wanted("source.fixAll.autohybrid", ["source.fixAll"]), is_wanted("quickfix", ["source"])
    (True, False)
    """
    return only is None or any(kind == asked or kind.startswith(f"{asked}.") for asked in only)
