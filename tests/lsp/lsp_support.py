"""What the tests of the language server share: a client of the real protocol that runs the real server over stdio."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient

ROOT = Path(__file__).resolve().parents[2]
PUSH = types.ClientCapabilities(
    text_document=types.TextDocumentClientCapabilities(
        publish_diagnostics=types.PublishDiagnosticsClientCapabilities(
            related_information=True, code_description_support=True
        )
    )
)
SHAPE = """import mxnet as mx
from mxnet.gluon import HybridBlock, nn


class Net(HybridBlock):
    def hybrid_forward(self, F, x):
        n = x.shape[0]
        return F.relu(x) + n
"""
CLEAN = SHAPE.replace("        n = x.shape[0]\n", "").replace(" + n", "")


def pull(**workspace: Any) -> types.ClientCapabilities:
    """A client that asks for diagnostics by itself."""
    return types.ClientCapabilities(
        text_document=types.TextDocumentClientCapabilities(diagnostic=types.DiagnosticClientCapabilities()),
        workspace=types.WorkspaceClientCapabilities(**workspace),
    )


class Editor:
    """A client with the few habits of an editor: open, type, wait for findings."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.client = LanguageClient("test-editor", "1")
        self.published: asyncio.Queue[types.PublishDiagnosticsParams] = asyncio.Queue()
        self.messages: list[str] = []
        self.registered: list[str] = []
        self.refreshed = 0
        self.capabilities = types.ServerCapabilities()
        self._listen()

    def _listen(self) -> None:
        @self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def on_publish(params: types.PublishDiagnosticsParams) -> None:
            self.published.put_nowait(params)

        @self.client.feature(types.WINDOW_SHOW_MESSAGE)
        def on_message(params: types.ShowMessageParams) -> None:
            self.messages.append(params.message)

        @self.client.feature(types.CLIENT_REGISTER_CAPABILITY)
        def on_register(params: types.RegistrationParams) -> None:
            self.registered.extend(item.method for item in params.registrations)

        @self.client.feature(types.WORKSPACE_DIAGNOSTIC_REFRESH)
        def on_refresh(params: None) -> None:
            self.refreshed += 1

    async def start(self, capabilities: types.ClientCapabilities, options: object = None) -> None:
        """Start the server as an editor does, and shake hands."""
        variables = {**os.environ, "PYTHONPATH": str(ROOT)}
        await self.client.start_io(sys.executable, "-m", "autohybrid", "lsp", env=variables, cwd=str(self.folder))
        result = await self.client.initialize_async(
            types.InitializeParams(
                capabilities,
                process_id=os.getpid(),
                workspace_folders=[types.WorkspaceFolder(self.folder.as_uri(), "project")],
                initialization_options=options,
            )
        )
        self.capabilities = result.capabilities
        self.client.initialized(types.InitializedParams())

    async def stop(self) -> int | None:
        """End the server; its exit code."""
        await self.client.shutdown_async(None)
        self.client.exit(None)
        server = self.client._server
        assert server is not None
        code = await asyncio.wait_for(server.wait(), 20)
        await self.client.stop()
        return code

    def uri(self, name: str) -> str:
        """The address of a file of the project."""
        return (self.folder / name).as_uri()

    def identifier(self, name: str) -> types.TextDocumentIdentifier:
        """The file in a request."""
        return types.TextDocumentIdentifier(self.uri(name))

    def open(self, name: str, text: str | None = None, uri: str | None = None) -> None:
        """Open a file, with the text of the disk unless another one is given."""
        content = (self.folder / name).read_text(encoding="utf-8") if text is None else text
        item = types.TextDocumentItem(uri or self.uri(name), types.LanguageKind.Python, 1, content)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def change(self, name: str, version: int, *changes: types.TextDocumentContentChangeEvent) -> None:
        """Edit an open file."""
        identifier = types.VersionedTextDocumentIdentifier(version, self.uri(name))
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, list(changes)))

    def replace(self, name: str, version: int, text: str) -> None:
        """Give an open file another text."""
        self.change(name, version, types.TextDocumentContentChangeWholeDocument(text))

    async def next_findings(self, name: str, version: int | None = None) -> list[types.Diagnostic]:
        """The findings that are sent next for a file (and a version of it)."""
        while True:
            params = await asyncio.wait_for(self.published.get(), 20)
            if params.uri == self.uri(name) and version in (None, params.version):
                return list(params.diagnostics)

    async def pull(self, name: str, previous: str | None = None) -> Any:
        """Ask for the findings of a file."""
        params = types.DocumentDiagnosticParams(self.identifier(name), previous_result_id=previous)
        return await self.client.text_document_diagnostic_async(params)

    async def actions(self, name: str, line: int, *only: str) -> list[types.CodeAction]:
        """The code actions on a 0-based line."""
        place = types.Range(types.Position(line, 0), types.Position(line, 999))
        context = types.CodeActionContext([], only=list(only) or None)
        params = types.CodeActionParams(self.identifier(name), place, context)
        found = await self.client.text_document_code_action_async(params)
        return [item for item in found or [] if isinstance(item, types.CodeAction)]


def converse(
    folder: Path,
    talk: Callable[[Editor], Awaitable[None]],
    capabilities: types.ClientCapabilities = PUSH,
    options: object = None,
) -> Editor:
    """Run a conversation with a fresh server in `folder`; the server must end well."""

    async def whole() -> Editor:
        editor = Editor(folder)
        await editor.start(capabilities, options)
        await talk(editor)
        assert await editor.stop() == 0
        return editor

    return asyncio.run(asyncio.wait_for(whole(), 60))


def edited(text: str, edits: list[types.TextEdit]) -> str:
    """A text (of ASCII) after edits that do not overlap."""
    lines = text.splitlines(keepends=True)
    starts = [sum(len(line) for line in lines[:at]) for at in range(len(lines) + 1)]
    for edit in sorted(edits, key=lambda item: (item.range.start.line, item.range.start.character), reverse=True):
        start = starts[edit.range.start.line] + edit.range.start.character
        end = starts[edit.range.end.line] + edit.range.end.character
        text = text[:start] + edit.new_text + text[end:]
    return text
