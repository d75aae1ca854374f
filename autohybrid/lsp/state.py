"""The server and its state: what is open, the project, the options, and what the client was told."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Generator
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method

from autohybrid.config import SettingsError
from autohybrid.lsp.diagnostics import Pages, by_document
from autohybrid.lsp.documents import Documents, to_path
from autohybrid.lsp.options import Options
from autohybrid.lsp.project import Project, keep_in_memory, make_project, read_text
from autohybrid.version import __version__

DEBOUNCE = 0.1  # seconds from the last keystroke to the findings that are sent unasked
_SLICE, _PAUSE = 0.02, 0.005  # seconds of analysis in the background, and of waiting for messages between them
_NOTEBOOKS = types.NotebookDocumentSyncOptions(
    [
        types.NotebookDocumentFilterWithNotebook(
            notebook="jupyter-notebook", cells=[types.NotebookCellLanguage(language="python")]
        )
    ]
)


class Protocol(LanguageServerProtocol):
    """The protocol without the library's own copy of the texts, whose lines also end at form feeds."""

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> Generator[Any, Any, None]:
        """Hand the edits on to our handler and do nothing else."""
        yield self.fm.features[types.TEXT_DOCUMENT_DID_CHANGE], (params,), None


class Server(LanguageServer):
    """The language server of autohybrid. Handlers are registered by `server.make_server`."""

    def __init__(self) -> None:
        super().__init__("autohybrid", __version__, notebook_document_sync=_NOTEBOOKS, protocol_cls=Protocol)
        self.options = Options()
        self.pages = Pages()
        self.documents = Documents(lambda path: self.project.text(path))
        self.project = Project([])
        self._folders: list[str] = []
        self._dirty: set[str] = set()
        self._told: dict[str, list[types.Diagnostic]] = {}
        self._pending: asyncio.Task[None] | None = None
        self._background: asyncio.Task[None] | None = None

    # -- what the client can do -------------------------------------------------------------------------------------
    def get_capability(self, *names: str) -> Any:
        """A capability of the client by its path, None where it says nothing."""
        value: Any = self.client_capabilities
        for name in names:
            value = getattr(value, name, None)
        return value

    @property
    def pulls(self) -> bool:
        """Whether the client asks for diagnostics by itself; then none are sent unasked."""
        return self.get_capability("text_document", "diagnostic") is not None

    @property
    def linked_pages(self) -> Pages | None:
        """The pages of the rules, for clients that show links."""
        linked = self.get_capability("text_document", "publish_diagnostics", "code_description_support")
        return self.pages if linked or self.pulls else None

    # -- the project ------------------------------------------------------------------------------------------------
    def start(self, folders: list[str]) -> None:
        """Take the workspace folders. Patterns are relative to the first, as for `check` run there."""
        self.documents.encoding = str(
            getattr(self.workspace.position_encoding, "value", self.workspace.position_encoding)
        )
        self._folders = folders
        if folders and os.path.isdir(folders[0]):
            os.chdir(folders[0])

    def reload(self) -> None:
        """Read the configuration and the files again; tell what is wrong with the configuration."""
        open_texts = {path: self.documents.text_of(path) or "" for path in self.documents.paths()}
        self._dirty.clear()
        self.project, wrong = make_project(self._folders, pedantic=self.options.pedantic, texts=open_texts)
        if wrong:
            self.complain(wrong)
        self.start_background()

    def set_folders(self, added: list[str], removed: list[str]) -> None:
        """Change the workspace folders and read everything again."""
        self._folders = [folder for folder in self._folders if folder not in removed] + added
        self.reload()

    def complain(self, message: str) -> None:
        """Show the user what is wrong."""
        self.window_show_message(types.ShowMessageParams(types.MessageType.Error, f"autohybrid: {message}"))

    def touch(self, path: str) -> None:
        """Note that the text of an open file changed; look at it once the typing pauses."""
        self._dirty.add(path)
        if self._pending is not None:
            self._pending.cancel()
        self._pending = asyncio.create_task(self._after_pause())

    async def _after_pause(self) -> None:
        await asyncio.sleep(DEBOUNCE)
        self.flush()
        self.publish()

    def flush(self) -> None:
        """Bring the project up to date with the open texts: before any question is answered."""
        while self._dirty:
            path = self._dirty.pop()
            text = self.documents.text_of(path)
            if text is not None:
                self.update(path, text)

    def update(self, path: str, text: str) -> None:
        """Take a new text of a file. Tells the user of a faulty configuration file beside it."""
        try:
            self.project.update(path, text)
        except SettingsError as error:
            self.complain(str(error))

    def take_from_disk(self, path: str) -> None:
        """Take the text of a file that is not open from the disk, or forget it where there is none."""
        if os.path.isfile(path):
            self.update(path, read_text(path))
        else:
            self.project.remove(path)

    # -- findings that are sent unasked -----------------------------------------------------------------------------
    def publish(self) -> None:
        """Send the findings of the open files that differ from what the client was told."""
        if self.pulls:
            return
        for path in list(self.documents.paths()):
            found = by_document(path, self.project.check(path).shown, self.documents, self.linked_pages)
            for uri, items in found.items():
                if self._told.get(uri) != items:
                    self._told[uri] = items
                    version = self.documents.version_of(uri)
                    self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, items, version))

    def withdraw(self, uri: str) -> None:
        """Take back what was said of a document that is closed."""
        if self._told.pop(uri, None):
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    # -- the rest of the project, in the background -----------------------------------------------------------------
    def start_background(self) -> None:
        """Analyse what has not been, one file after the other, whenever nothing else is to be done."""
        if self._background is not None:
            self._background.cancel()
        self._background = asyncio.create_task(self._run_in_background())

    async def run_stale(self) -> None:
        """Analyse what has not been, with pauses that let messages in: one takes several rounds of the loop to read."""
        project = self.project
        paused = time.monotonic()
        for path in project.stale:
            if time.monotonic() - paused > _SLICE:
                await asyncio.sleep(_PAUSE)
                paused = time.monotonic()
            project.run_stale(path)

    async def _run_in_background(self) -> None:
        await self.run_stale()
        keep_in_memory()
        self.publish()
        self.refresh()

    def refresh(self) -> None:
        """Ask the client to ask again, where it can be asked."""
        if self.pulls and self.get_capability("workspace", "diagnostics", "refresh_support"):
            self.workspace_diagnostic_refresh(None)
        if self.options.code_lens and self.get_capability("workspace", "code_lens", "refresh_support"):
            self.workspace_code_lens_refresh(None)
        if self.options.inlay_hints and self.get_capability("workspace", "inlay_hint", "refresh_support"):
            self.workspace_inlay_hint_refresh(None)

    def stop(self) -> None:
        """End what runs and remove what was written."""
        for task in (self._pending, self._background):
            if task is not None:
                task.cancel()
        self.pages.remove()


def folder_paths(folders: list[types.WorkspaceFolder] | None, root_uri: str | None) -> list[str]:
    """The paths of the workspace folders, or of the one root of older clients."""
    if folders:
        return [to_path(folder.uri) for folder in folders]
    return [to_path(root_uri)] if root_uri else []
