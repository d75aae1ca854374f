"""The command behind the lens: the functions that hybridize() emits for a class, as a page of Python."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from lsprotocol import types

from autohybrid.errors import MXNetError
from autohybrid.lsp.state import Server
from autohybrid.transform.emitted import emitted_methods


async def show_emitted(ls: Server, uri: str, class_name: str) -> str:
    """The emitted functions of a class in an open or saved file; shown by the client too, where it can be asked to."""
    ls.flush()
    path = ls.documents.path_of(uri)
    try:
        text = to_emitted(ls.project.text(path), path, class_name)
    except (SyntaxError, MXNetError) as error:
        ls.complain(str(error))
        return ""
    if ls.get_capability("window", "show_document", "support"):
        page = ls.pages.write(f"{class_name}.py", text)
        await ls.window_show_document_async(types.ShowDocumentParams(page, take_focus=True))
    return text


def to_emitted(text: str, path: str, class_name: str) -> str:
    """The emitted functions for a class in `text`, each under a comment that says where it comes from.

    Raises SyntaxError and MXNetError as `emitted_methods` does.
    """
    with tempfile.TemporaryDirectory(prefix="autohybrid-") as folder:
        copy = Path(folder, os.path.basename(path))
        copy.write_text(text, encoding="utf-8")
        methods = emitted_methods(str(copy), class_name.rpartition(".")[2])
    return "\n\n".join(f"# {os.path.basename(path)}:{method.line}\n{method.emitted}" for method in methods) + "\n"
