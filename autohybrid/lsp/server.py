"""The handlers of the language server: each brings the project up to date, asks the module that knows, and answers."""

from __future__ import annotations

from typing import Any

from lsprotocol import types

from autohybrid.lsp.actions import KINDS, Actions
from autohybrid.lsp.diagnostics import by_document, result_id
from autohybrid.lsp.emitted import show_emitted
from autohybrid.lsp.hints import find_hints
from autohybrid.lsp.hover import find_hover
from autohybrid.lsp.lenses import SHOW_EMITTED, find_lenses
from autohybrid.lsp.options import read_options
from autohybrid.lsp.state import Server, folder_paths
from autohybrid.lsp.watching import on_watched_files, watch_files


def make_server() -> Server:
    """The server with all its handlers."""
    server = Server()
    for method, handler, options in _HANDLERS:
        server.feature(method, options)(handler)
    server.command(SHOW_EMITTED)(show_emitted)
    return server


def on_initialize(ls: Server, params: types.InitializeParams) -> None:
    """Take folders, encoding and options."""
    ls.start(folder_paths(list(params.workspace_folders or []), params.root_uri))
    ls.options, _ = read_options(params.initialization_options, ls.options)


def on_initialized(ls: Server, params: types.InitializedParams) -> None:
    """Read the project and ask to be told of changes on the disk."""
    ls.reload()
    watch_files(ls)


def on_shutdown(ls: Server, params: None) -> None:
    """Stop working."""
    ls.stop()


# -- documents --------------------------------------------------------------------------------------------------------
def on_open(ls: Server, params: types.DidOpenTextDocumentParams) -> None:
    """A document is open: its text counts from now on, and its findings are sent at once.

    Cells of notebooks come with their notebook; a client that opens them by themselves too is not followed.
    """
    if ls.documents.is_cell(params.text_document.uri):
        return
    ls.documents.open(params.text_document)
    if params.text_document.language_id == "python":
        ls.update(ls.documents.path_of(params.text_document.uri), params.text_document.text)
        ls.publish()


def on_change(ls: Server, params: types.DidChangeTextDocumentParams) -> None:
    """The text changed."""
    ls.documents.change(params.text_document, list(params.content_changes))
    ls.touch(ls.documents.path_of(params.text_document.uri))


def on_close(ls: Server, params: types.DidCloseTextDocumentParams) -> None:
    """The text on the disk counts again."""
    uri = params.text_document.uri
    ls.flush()
    path = ls.documents.path_of(uri)
    ls.documents.close(uri)
    ls.withdraw(uri)
    ls.take_from_disk(path)
    ls.publish()


def on_notebook_open(ls: Server, params: types.DidOpenNotebookDocumentParams) -> None:
    """A notebook is open: its code cells are one text."""
    for item in params.cell_text_documents:
        ls.documents.open(item)
    _take_cells(ls, params.notebook_document.uri)
    ls.flush()
    ls.publish()


def on_notebook_change(ls: Server, params: types.DidChangeNotebookDocumentParams) -> None:
    """Cells came, went or changed."""
    cells = params.change.cells
    structure = cells.structure if cells is not None else None
    for item in (structure.did_open or []) if structure is not None else []:
        ls.documents.open(item)
    for closed in (structure.did_close or []) if structure is not None else []:
        ls.documents.close(closed.uri)
        ls.withdraw(closed.uri)
    for text in (cells.text_content or []) if cells is not None else []:
        ls.documents.change(text.document, list(text.changes))
    _take_cells(ls, params.notebook_document.uri)


def on_notebook_close(ls: Server, params: types.DidCloseNotebookDocumentParams) -> None:
    """The notebook is no longer open."""
    path = ls.documents.path_of(params.notebook_document.uri)
    ls.documents.close_notebook(params.notebook_document.uri)
    ls.project.remove(path)
    for cell in params.cell_text_documents:
        ls.documents.close(cell.uri)
        ls.withdraw(cell.uri)


def _take_cells(ls: Server, uri: str) -> None:
    """Join the code cells of a notebook, in the order that the client gives them."""
    notebook = ls.workspace.get_notebook_document(notebook_uri=uri)
    cells = notebook.cells if notebook is not None else []
    path = ls.documents.set_notebook(uri, [cell.document for cell in cells if cell.kind == types.NotebookCellKind.Code])
    ls.touch(path)


# -- questions --------------------------------------------------------------------------------------------------------
def on_diagnostic(ls: Server, params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
    """The findings of one document."""
    ls.flush()
    uri = params.text_document.uri
    items = _items_of(ls, ls.documents.path_of(uri)).get(uri, [])
    known = result_id(items)
    if params.previous_result_id == known:
        return types.RelatedUnchangedDocumentDiagnosticReport(known)
    return types.RelatedFullDocumentDiagnosticReport(items, result_id=known)


async def on_workspace_diagnostic(
    ls: Server, params: types.WorkspaceDiagnosticParams
) -> types.WorkspaceDiagnosticReport:
    """The findings of every file. The client may cancel it between two files."""
    ls.flush()
    previous = {item.uri: item.value for item in params.previous_result_ids}
    reports: list[types.WorkspaceDocumentDiagnosticReport] = []
    await ls.run_stale()
    for path in ls.project.paths:
        for uri, items in _items_of(ls, path).items():
            before, known = previous.pop(uri, None), result_id(items)
            version = ls.documents.version_of(uri)
            if before == known:
                reports.append(types.WorkspaceUnchangedDocumentDiagnosticReport(uri, known, version))
            elif items or before is not None:
                reports.append(types.WorkspaceFullDocumentDiagnosticReport(uri, items, version, result_id=known))
    for uri in previous:
        reports.append(types.WorkspaceFullDocumentDiagnosticReport(uri, [], result_id=result_id([])))
    return types.WorkspaceDiagnosticReport(reports)


def _items_of(ls: Server, path: str) -> dict[str, list[types.Diagnostic]]:
    return by_document(path, ls.project.check(path).shown, ls.documents, ls.linked_pages)


def on_code_action(ls: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
    """Fixes and comments for the findings in a range."""
    ls.flush()
    return _actions(ls).find(params)


def on_resolve(ls: Server, action: types.CodeAction) -> types.CodeAction:
    """The edit of an action that was offered without it."""
    ls.flush()
    return _actions(ls).resolve(action)


def _actions(ls: Server) -> Actions:
    versioned = bool(ls.get_capability("workspace", "workspace_edit", "document_changes"))
    return Actions(ls.project, ls.documents, versioned=versioned)


def on_hover(ls: Server, params: types.HoverParams) -> types.Hover | None:
    """The findings and the value under the cursor."""
    ls.flush()
    return find_hover(ls.project, ls.documents, params)


def on_code_lens(ls: Server, params: types.CodeLensParams) -> list[types.CodeLens]:
    """Whether each block can be hybridized."""
    ls.flush()
    return find_lenses(ls.project, ls.documents, params.text_document.uri) if ls.options.code_lens else []


def on_inlay_hint(ls: Server, params: types.InlayHintParams) -> list[types.InlayHint]:
    """The known shapes in a range."""
    ls.flush()
    return find_hints(ls.project, ls.documents, params) if ls.options.inlay_hints else []


# -- the workspace ----------------------------------------------------------------------------------------------------
def on_configuration(ls: Server, params: types.DidChangeConfigurationParams) -> None:
    """Other options: everything is looked at again."""
    ls.options, wrong = read_options(params.settings, ls.options)
    for message in wrong:
        ls.complain(message)
    ls.reload()


def on_folders(ls: Server, params: types.DidChangeWorkspaceFoldersParams) -> None:
    """Folders came or went."""
    event = params.event
    ls.set_folders(folder_paths(list(event.added), None), folder_paths(list(event.removed), None))


_HANDLERS: tuple[tuple[str, Any, Any], ...] = (
    (types.INITIALIZE, on_initialize, None),
    (types.INITIALIZED, on_initialized, None),
    (types.SHUTDOWN, on_shutdown, None),
    (types.TEXT_DOCUMENT_DID_OPEN, on_open, None),
    (types.TEXT_DOCUMENT_DID_CHANGE, on_change, None),
    (types.TEXT_DOCUMENT_DID_CLOSE, on_close, None),
    (types.NOTEBOOK_DOCUMENT_DID_OPEN, on_notebook_open, None),
    (types.NOTEBOOK_DOCUMENT_DID_CHANGE, on_notebook_change, None),
    (types.NOTEBOOK_DOCUMENT_DID_CLOSE, on_notebook_close, None),
    (
        types.TEXT_DOCUMENT_DIAGNOSTIC,
        on_diagnostic,
        types.DiagnosticOptions(inter_file_dependencies=True, workspace_diagnostics=True, identifier="autohybrid"),
    ),
    (types.WORKSPACE_DIAGNOSTIC, on_workspace_diagnostic, None),
    (
        types.TEXT_DOCUMENT_CODE_ACTION,
        on_code_action,
        types.CodeActionOptions(code_action_kinds=KINDS, resolve_provider=True),
    ),
    (types.CODE_ACTION_RESOLVE, on_resolve, None),
    (types.TEXT_DOCUMENT_HOVER, on_hover, None),
    (types.TEXT_DOCUMENT_CODE_LENS, on_code_lens, None),
    (types.TEXT_DOCUMENT_INLAY_HINT, on_inlay_hint, None),
    (types.WORKSPACE_DID_CHANGE_CONFIGURATION, on_configuration, None),
    (types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS, on_folders, None),
    (types.WORKSPACE_DID_CHANGE_WATCHED_FILES, on_watched_files, None),
)
