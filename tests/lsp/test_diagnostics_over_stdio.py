"""Findings reach an editor: sent unasked, asked for, for a file, for the workspace, after edits and changes on disk."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

pytest.importorskip("pygls", reason="the language server needs pygls: pip install 'autohybrid[lsp]'")

from lsp_support import CLEAN, PUSH, SHAPE, Editor, converse, pull
from lsprotocol import types

HELPER = "def rows(t):\n    return t.shape[0]\n"
CALLER = SHAPE.replace("x.shape[0]", "rows(x)").replace("import mxnet as mx", "from helper import rows")


def codes(items: list[types.Diagnostic]) -> list[object]:
    return [item.code for item in items]


def test_a_finding_is_sent_with_its_trail_and_the_page_of_its_rule(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(SHAPE)

    async def talk(editor: Editor) -> None:
        editor.open("net.py")
        (item,) = await editor.next_findings("net.py", 1)
        assert (item.code, item.source, item.severity) == ("AH101", "autohybrid", types.DiagnosticSeverity.Error)
        assert (item.range.start, item.range.end) == (types.Position(6, 12), types.Position(6, 19))
        assert "`x` is a tensor" in item.message and "help: " in item.message
        (step,) = item.related_information or []
        assert step.location.uri == editor.uri("net.py") and step.location.range.start.line == 5
        assert "is an input" in step.message
        assert item.code_description is not None
        page = Path(item.code_description.href.removeprefix("file://"))
        assert page.read_text().startswith("# AH101 tensor-shape")
        pages.append(page)

    pages: list[Path] = []
    converse(tmp_path, talk)
    assert not pages[0].exists()


def test_findings_follow_the_text_and_versions_are_not_mixed_up(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(CLEAN)

    async def talk(editor: Editor) -> None:
        editor.open("net.py")
        assert await editor.next_findings("net.py") == []
        for version in range(2, 12):
            editor.replace("net.py", version, SHAPE if version % 2 else "\n" * version + SHAPE)
        items = await editor.next_findings("net.py")
        assert codes(items) == ["AH101"] and items[0].range.start.line == 6
        assert editor.published.empty()

    converse(tmp_path, talk)


def test_incremental_edits_are_applied_where_the_client_means(tmp_path: Path) -> None:
    text = SHAPE.replace("        n = ", "        s = '\f\U0001f600\u2028é'; n = ")
    (tmp_path / "net.py").write_text(text)

    async def talk(editor: Editor) -> None:
        editor.open("net.py")
        (item,) = await editor.next_findings("net.py")
        line = text.split("\n")[6]
        before = len(line[: line.index("x.shape")].encode("utf-16-le")) // 2
        assert item.range.start == types.Position(6, before)
        place = types.Range(types.Position(6, before + 2), types.Position(6, before + 7))
        editor.change("net.py", 2, types.TextDocumentContentChangePartial(place, "ndim  "))
        (item,) = await editor.next_findings("net.py", 2)
        assert "`ndim`" in item.message

    converse(tmp_path, talk)


@pytest.mark.parametrize(
    ("encoding", "units"),
    [
        (types.PositionEncodingKind.Utf8, lambda text: len(text.encode())),
        (types.PositionEncodingKind.Utf16, lambda text: len(text.encode("utf-16-le")) // 2),
        (types.PositionEncodingKind.Utf32, len),
    ],
)
def test_columns_are_in_the_encoding_the_client_prefers(
    tmp_path: Path, encoding: types.PositionEncodingKind, units: object
) -> None:
    text = SHAPE.replace("        n = ", "        s = 'é\U0001f600'; n = ")
    capabilities = types.ClientCapabilities(
        text_document=PUSH.text_document, general=types.GeneralClientCapabilities(position_encodings=[encoding])
    )

    async def talk(editor: Editor) -> None:
        assert editor.capabilities.position_encoding == encoding
        editor.open("net.py", text)
        (item,) = await editor.next_findings("net.py")
        line = text.split("\n")[6]
        assert callable(units)
        assert item.range.start.character == units(line[: line.index("x.shape")])

    converse(tmp_path, talk, capabilities)


def test_a_finding_in_a_helper_follows_its_caller(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text(HELPER)
    (tmp_path / "net.py").write_text(CALLER)

    async def talk(editor: Editor) -> None:
        editor.open("helper.py")
        while not (items := await editor.next_findings("helper.py")):
            pass
        (item,) = items
        assert item.range.start == types.Position(1, 11)
        assert {step.location.uri for step in item.related_information or []} == {
            editor.uri("net.py"),
        }
        editor.open("net.py")
        assert await editor.next_findings("net.py") == []
        editor.replace("net.py", 2, CLEAN)
        assert await editor.next_findings("helper.py") == []

    converse(tmp_path, talk)


def test_a_client_may_ask_and_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(SHAPE)

    async def talk(editor: Editor) -> None:
        editor.open("net.py")
        report = await editor.pull("net.py")
        assert report.kind == "full" and codes(report.items) == ["AH101"]
        again = await editor.pull("net.py", report.result_id)
        assert again.kind == "unchanged" and again.result_id == report.result_id
        editor.replace("net.py", 2, CLEAN)
        after = await editor.pull("net.py", report.result_id)
        assert after.kind == "full" and not after.items
        assert editor.published.empty()

    editor = converse(tmp_path, talk, pull())
    assert editor.capabilities.diagnostic_provider is not None


def test_the_whole_workspace_can_be_asked_for(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(CALLER)
    (tmp_path / "helper.py").write_text(HELPER)
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "net.py").write_text(SHAPE)

    async def talk(editor: Editor) -> None:
        async def ask(previous: list[types.PreviousResultId]) -> dict[str, types.WorkspaceDocumentDiagnosticReport]:
            params = types.WorkspaceDiagnosticParams(previous)
            report = await editor.client.workspace_diagnostic_async(params)
            return {item.uri: item for item in report.items}

        (report,) = (await ask([])).values()
        assert report.uri == editor.uri("helper.py") and isinstance(report, types.WorkspaceFullDocumentDiagnosticReport)
        assert codes(list(report.items)) == ["AH101"] and report.result_id is not None
        previous = [types.PreviousResultId(report.uri, report.result_id)]
        (again,) = (await ask(previous)).values()
        assert again.kind == "unchanged"
        editor.open("net.py")
        editor.replace("net.py", 2, CLEAN)
        (after,) = (await ask(previous)).values()
        assert isinstance(after, types.WorkspaceFullDocumentDiagnosticReport) and not after.items

    converse(tmp_path, talk, pull())


def test_settings_comments_and_the_baseline_count(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.autohybrid]\nignore = ["AH101"]\n')
    (tmp_path / "net.py").write_text(SHAPE)
    text = SHAPE.replace("n = x.shape[0]", "n = x.shape[0]  # autohybrid: ignore[AH1]")
    watching = types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True)
    capabilities = types.ClientCapabilities(
        text_document=PUSH.text_document, workspace=types.WorkspaceClientCapabilities(did_change_watched_files=watching)
    )

    async def talk(editor: Editor) -> None:
        editor.open("net.py")
        assert await editor.next_findings("net.py") == []
        editor.replace("net.py", 2, text)
        (tmp_path / "pyproject.toml").write_text("")
        event = types.FileEvent(editor.uri("pyproject.toml"), types.FileChangeType.Changed)
        editor.replace("net.py", 3, SHAPE)
        editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
        assert codes(await editor.next_findings("net.py")) == ["AH101"]
        editor.replace("net.py", 4, text)
        assert await editor.next_findings("net.py", 4) == []
        assert types.WORKSPACE_DID_CHANGE_WATCHED_FILES in editor.registered

    converse(tmp_path, talk, capabilities)


def test_a_faulty_configuration_is_told_and_the_files_are_checked(tmp_path: Path) -> None:
    (tmp_path / "autohybrid.toml").write_text('selct = ["AH1"]\n')
    (tmp_path / "net.py").write_text(SHAPE)

    async def talk(editor: Editor) -> None:
        editor.open("net.py")
        assert codes(await editor.next_findings("net.py")) == ["AH101"]
        assert ["did you mean `select`" in message for message in editor.messages] == [True]

    converse(tmp_path, talk)


def test_files_that_other_programs_write_are_read(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("def rows(t):\n    return 1\n")
    (tmp_path / "net.py").write_text(CALLER)

    async def talk(editor: Editor) -> None:
        def tell(kind: types.FileChangeType, name: str = "helper.py") -> None:
            event = types.FileEvent(editor.uri(name), kind)
            editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))

        editor.open("net.py")
        assert await editor.next_findings("net.py") == []
        (tmp_path / "helper.py").write_text("def rows(t):\n    return t\n\n\n" + SHAPE)
        (tmp_path / "helper.py").unlink()
        tell(types.FileChangeType.Deleted)
        (tmp_path / "base.py").write_text(SHAPE)
        tell(types.FileChangeType.Created, "base.py")
        editor.open("base.py")
        assert codes(await editor.next_findings("base.py")) == ["AH101"]

    converse(tmp_path, talk)


def test_options_of_the_client_are_taken(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(SHAPE)

    async def talk(editor: Editor) -> None:
        editor.open("net.py")
        await editor.next_findings("net.py")
        request = types.CodeLensParams(editor.identifier("net.py"))
        assert await editor.client.text_document_code_lens_async(request) in ([], ())
        change = types.DidChangeConfigurationParams({"autohybrid": {"codeLens": True, "pedantic": "yes"}})
        editor.client.workspace_did_change_configuration(change)
        assert await editor.client.text_document_code_lens_async(request)
        assert any("`pedantic` must be true or false" in message for message in editor.messages)

    converse(tmp_path, talk, options={"codeLens": False})


def test_a_client_that_asks_is_told_when_to_ask_again(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(SHAPE)

    async def talk(editor: Editor) -> None:
        for _ in range(100):
            if editor.refreshed:
                return
            await asyncio.sleep(0.05)
        raise AssertionError("the client was not told")

    converse(tmp_path, talk, pull(diagnostics=types.DiagnosticWorkspaceClientCapabilities(refresh_support=True)))


def test_a_notebook_is_one_text_and_findings_lie_in_its_cells(tmp_path: Path) -> None:
    path = tmp_path / "book.ipynb"
    path.write_text(json.dumps({"cells": [], "nbformat": 4, "nbformat_minor": 5, "metadata": {}}))
    head, _, body = SHAPE.partition("\n\n\n")
    cells = {"a": "%pip install x\n" + head, "b": body}
    capabilities = types.ClientCapabilities(
        text_document=PUSH.text_document,
        notebook_document=types.NotebookDocumentClientCapabilities(types.NotebookDocumentSyncClientCapabilities()),
    )

    async def talk(editor: Editor) -> None:
        def cell(name: str) -> str:
            return f"vscode-notebook-cell:{path}#{name}"

        kinds = [types.NotebookCell(types.NotebookCellKind.Code, cell(name)) for name in cells]
        document = types.NotebookDocument(path.as_uri(), "jupyter-notebook", 1, kinds)
        texts = [types.TextDocumentItem(cell(name), types.LanguageKind.Python, 1, text) for name, text in cells.items()]
        editor.client.notebook_document_did_open(types.DidOpenNotebookDocumentParams(document, texts))
        found: dict[str, list[types.Diagnostic]] = {}
        while len(found) < 2:
            params = await asyncio.wait_for(editor.published.get(), 20)
            found[params.uri] = list(params.diagnostics)
        assert found[cell("a")] == []
        (item,) = found[cell("b")]
        assert item.code == "AH101" and item.range.start == types.Position(2, 12)
        edit = types.TextDocumentContentChangePartial(types.Range(types.Position(0, 0), types.Position(0, 0)), "\n")
        change = types.NotebookDocumentChangeEvent(
            cells=types.NotebookDocumentCellChanges(
                text_content=[
                    types.NotebookDocumentCellContentChanges(
                        types.VersionedTextDocumentIdentifier(2, cell("b")), [edit]
                    )
                ]
            )
        )
        identifier = types.VersionedNotebookDocumentIdentifier(2, path.as_uri())
        editor.client.notebook_document_did_change(types.DidChangeNotebookDocumentParams(identifier, change))
        params = await asyncio.wait_for(editor.published.get(), 20)
        assert params.uri == cell("b") and params.diagnostics[0].range.start == types.Position(3, 12)

    converse(tmp_path, talk, capabilities)
