"""What an editor is answered: code actions, hover, lenses, hints, the emitted function."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

pytest.importorskip("pygls", reason="the language server needs pygls: pip install 'autohybrid[lsp]'")

from lsp_support import CLEAN, PUSH, SHAPE, Editor, converse, edited
from lsprotocol import types

NOTHING = """import mxnet as mx
from mxnet.gluon import HybridBlock, nn


class Net(HybridBlock):
    def hybrid_forward(self, F, x, y):
        if y == None:
            y = x
        if x == None:
            return y
        return F.relu(x)
"""
LAYERS = """from mxnet.gluon import HybridBlock, nn


class Net(HybridBlock):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(3)
        self.scale = self.params.get("scale", shape=(2, 0))

    def hybrid_forward(self, F, x, scale):
        y = self.fc(x)
        z = scale * scale
        return y + z
"""


def plain(edit: types.WorkspaceEdit | None, uri: str) -> list[types.TextEdit]:
    assert edit is not None and edit.changes is not None
    return list(edit.changes[uri])


def versioned(**more: object) -> types.ClientCapabilities:
    edits = types.WorkspaceEditClientCapabilities(document_changes=True)
    workspace = types.WorkspaceClientCapabilities(workspace_edit=edits)
    return types.ClientCapabilities(text_document=PUSH.text_document, workspace=workspace)


def test_a_comment_that_silences_is_offered_and_works(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(SHAPE)

    async def talk(editor: Editor) -> None:
        editor.open("net.py")
        action = next(item for item in await editor.actions("net.py", 6) if "comment" in item.title)
        assert action.kind == types.CodeActionKind.QuickFix
        assert [item.code for item in action.diagnostics or []] == ["AH101"]
        text = edited(SHAPE, plain(action.edit, editor.uri("net.py")))
        assert "n = x.shape[0]  # autohybrid: ignore[AH101]\n" in text
        editor.replace("net.py", 2, text)
        assert await editor.next_findings("net.py", 2) == []
        assert await editor.actions("net.py", 6, "quickfix") in ([], ())

    converse(tmp_path, talk)


def test_a_fix_names_the_version_it_is_meant_for(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(NOTHING)

    async def talk(editor: Editor) -> None:
        editor.open("net.py")
        editor.replace("net.py", 7, NOTHING)
        action = next(item for item in await editor.actions("net.py", 8, "quickfix") if "comment" not in item.title)
        assert action.title.startswith("AH") and action.edit is not None
        (change,) = action.edit.document_changes or []
        assert isinstance(change, types.TextDocumentEdit)
        assert (change.text_document.uri, change.text_document.version) == (editor.uri("net.py"), 7)
        edits = [edit for edit in change.edits if isinstance(edit, types.TextEdit)]
        assert "        if x is None:\n" in edited(NOTHING, edits)

    converse(tmp_path, talk, versioned())


def test_fixing_all_repairs_the_file_and_leaves_the_project_alone(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(NOTHING)
    uri = (tmp_path / "net.py").as_uri()

    async def talk(editor: Editor) -> None:
        editor.open("net.py")
        before = await editor.next_findings("net.py")
        (action,) = await editor.actions("net.py", 0, "source.fixAll")
        text = edited(NOTHING, plain(action.edit, uri))
        assert "== None" not in text
        offered = [item for item in await editor.actions("net.py", 8) if item.kind == "source.fixAll.autohybrid"]
        resolved = await editor.client.code_action_resolve_async(offered[0])
        assert edited(NOTHING, plain(resolved.edit, uri)) == text
        editor.replace("net.py", 2, "\n" + NOTHING)
        assert len(await editor.next_findings("net.py", 2)) == len(before)
        editor.replace("net.py", 3, text)
        left = await editor.next_findings("net.py", 3)
        assert len(left) < len(before)
        assert await editor.actions("net.py", 0, "source.fixAll") in ([], ())
        assert await editor.actions("net.py", 8, "source.organizeImports") in ([], ())

    converse(tmp_path, talk)


async def hover(editor: Editor, name: str, line: int, character: int) -> str:
    params = types.HoverParams(editor.identifier(name), types.Position(line, character))
    found = await editor.client.text_document_hover_async(params)
    if found is None:
        return ""
    assert isinstance(found.contents, types.MarkupContent)
    return found.contents.value


def test_hover_explains_a_finding_and_tells_values(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(SHAPE)
    (tmp_path / "layers.py").write_text(LAYERS)

    async def talk(editor: Editor) -> None:
        editor.open("net.py")
        editor.open("layers.py")
        text = await hover(editor, "net.py", 6, 14)
        for part in ("**AH101** `tensor-shape`", "`x` is an input", "**Help:**", "**Why a graph cannot express it:**"):
            assert part in text
        assert "block `Dense`" in await hover(editor, "layers.py", 10, 17)
        text = await hover(editor, "layers.py", 10, 20)
        assert text.startswith("```python\nx\n```\ntensor\n") and "is an input of `hybrid_forward` (line 10)" in text
        assert "tensor of shape (2, ?)" in await hover(editor, "layers.py", 11, 14)
        assert await hover(editor, "layers.py", 1, 0) == ""

    converse(tmp_path, talk)


def test_a_lens_says_whether_a_block_can_be_hybridized(tmp_path: Path) -> None:
    silenced = CLEAN.replace("class Net", "class Quiet").replace(
        "F.relu(x)", "x[x.shape[0]]  # autohybrid: ignore[ALL]"
    )
    text = (
        SHAPE + "\n\n" + CLEAN.partition("\n\n\n")[2].replace("Net", "Good") + "\n\n" + silenced.partition("\n\n\n")[2]
    )
    (tmp_path / "net.py").write_text(text)

    async def talk(editor: Editor) -> None:
        editor.open("net.py")
        found = await editor.client.text_document_code_lens_async(types.CodeLensParams(editor.identifier("net.py")))
        commands = [(lens.range.start.line, lens.command) for lens in found or []]
        states = [(line, command.title) for line, command in commands if command is not None and not command.command]
        lines = text.split("\n")
        assert [lines[line] for line, _ in states] == [
            f"class {name}(HybridBlock):" for name in ("Net", "Good", "Quiet")
        ]
        assert [title for _, title in states][:2] == ["1 finding", "hybridizable"]
        assert states[2][1].endswith("ignored")
        show = next(command for _, command in commands if command is not None and command.command)
        params = types.ExecuteCommandParams(show.command, show.arguments)
        emitted = await editor.client.workspace_execute_command_async(params)
        assert "# net.py:6" in emitted and "def hybrid_forward" in emitted

    converse(tmp_path, talk)


def test_known_shapes_are_shown_behind_names(tmp_path: Path) -> None:
    (tmp_path / "layers.py").write_text(LAYERS)

    async def talk(editor: Editor) -> None:
        editor.open("layers.py")
        whole = types.Range(types.Position(0, 0), types.Position(99, 0))
        found = await editor.client.text_document_inlay_hint_async(
            types.InlayHintParams(editor.identifier("layers.py"), whole)
        )
        hints = [(hint.position, hint.label) for hint in found or []]
        assert hints == [(types.Position(9, 40), ": (2, ?)"), (types.Position(11, 9), ": (2, ?)")]

    converse(tmp_path, talk)


def test_questions_see_the_text_as_it_is_typed(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(CLEAN)

    async def talk(editor: Editor) -> None:
        editor.open("net.py")
        editor.replace("net.py", 2, SHAPE)
        assert "AH101" in await hover(editor, "net.py", 6, 14)
        editor.replace("net.py", 3, "def f(:\n")
        assert "AH000" in await hover(editor, "net.py", 0, 6)
        await asyncio.sleep(0)

    converse(tmp_path, talk)


def test_a_fix_in_a_notebook_lands_in_its_cell_and_off_the_lines_of_ipython(tmp_path: Path) -> None:
    path = tmp_path / "book.ipynb"
    path.write_text('{"cells": [], "nbformat": 4, "nbformat_minor": 5, "metadata": {}}')
    net = "class Net(HybridBlock):\n    def hybrid_forward(self, F, x):\n"
    texts = [
        "import mxnet as mx\nfrom mxnet.gluon import HybridBlock",
        f"{net}        return F.relu(x)[1:]",
        f"{net}        if x.stype == 'csr':\n            !ls\n            x = x * 2\n        return x",
    ]
    cells = [f"vscode-notebook-cell:{path}#{number}" for number in range(len(texts))]
    capabilities = types.ClientCapabilities(
        text_document=PUSH.text_document,
        notebook_document=types.NotebookDocumentClientCapabilities(types.NotebookDocumentSyncClientCapabilities()),
    )

    async def actions_in(editor: Editor, cell: str) -> list[types.CodeAction]:
        everything = types.Range(types.Position(2, 0), types.Position(2, 20))
        context = types.CodeActionContext([], only=[types.CodeActionKind.QuickFix])
        params = types.CodeActionParams(types.TextDocumentIdentifier(cell), everything, context)
        answer = await editor.client.text_document_code_action_async(params)
        return [item for item in answer or [] if isinstance(item, types.CodeAction) and "ignore" not in item.title]

    async def talk(editor: Editor) -> None:
        kinds = [types.NotebookCell(types.NotebookCellKind.Code, cell) for cell in cells]
        document = types.NotebookDocument(path.as_uri(), "jupyter-notebook", 1, kinds)
        items = [types.TextDocumentItem(cell, types.LanguageKind.Python, 1, text) for cell, text in zip(cells, texts)]
        editor.client.notebook_document_did_open(types.DidOpenNotebookDocumentParams(document, items))
        (action,) = await actions_in(editor, cells[1])
        assert action.edit is not None and action.edit.changes is not None
        (edit,) = action.edit.changes[cells[1]]
        assert edit.range == types.Range(types.Position(2, 15), types.Position(2, 28))
        assert edit.new_text == "F.slice_axis(F.relu(x), axis=0, begin=1, end=None)"
        assert await actions_in(editor, cells[2]) == []

    converse(tmp_path, talk, capabilities)
