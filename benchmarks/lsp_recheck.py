"""How long the language server takes for one changed file: in this process, and asked over stdio.

    python -m benchmarks.lsp_recheck SITE/gluoncv SITE/gluoncv2 [--stdio-files 50]

Every file with a `hybrid_forward` is changed once (a blank line at its top moves every position) and its findings are
made into the protocol's diagnostics. Printed are the median and the 95th percentile of CPU time in this process, and of
the time between an edit and the answer to a request for its findings, over stdio.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from autohybrid.lsp.diagnostics import by_document
from autohybrid.lsp.documents import Documents
from autohybrid.lsp.project import Project, keep_in_memory


def show(name: str, times: Sequence[float]) -> None:
    """One line of the table, in milliseconds."""
    ordered = sorted(times)
    middle, late = statistics.median(ordered) * 1e3, ordered[int(len(ordered) * 0.95)] * 1e3
    print(f"{name:<22}{middle:7.1f} ms median {late:7.1f} ms for 95 % of {len(ordered)} files")


def time_in_process(paths: Sequence[str]) -> list[str]:
    """Recheck every block file in this process; gives their paths."""
    started = time.process_time()
    project = Project(paths)
    documents = Documents(project.text)
    print(f"reading {len(project.paths)} files  {time.process_time() - started:6.2f} CPU s")
    started = time.process_time()
    for path in project.stale:
        project.run_stale(path)
    keep_in_memory()
    print(f"analysing them all once {time.process_time() - started:6.2f} CPU s")
    blocks = [path for path in project.paths if "hybrid_forward" in project.text(path)]
    times = []
    for path in blocks:
        text = "\n" + project.text(path)
        started = time.process_time()
        project.update(path, text)
        by_document(path, project.check(path).shown, documents, None)
        times.append(time.process_time() - started)
    show("recheck (CPU)", times)
    return blocks


async def time_over_stdio(folder: str, blocks: Sequence[str]) -> None:
    """The same through a real client, edit to answer."""
    client = LanguageClient("benchmark", "1")
    await client.start_io(sys.executable, "-m", "autohybrid", "lsp")
    asks = types.TextDocumentClientCapabilities(diagnostic=types.DiagnosticClientCapabilities())
    folders = [types.WorkspaceFolder(Path(folder).resolve().as_uri(), "project")]
    await client.initialize_async(
        types.InitializeParams(types.ClientCapabilities(text_document=asks), workspace_folders=folders)
    )
    client.initialized(types.InitializedParams())
    await client.workspace_diagnostic_async(types.WorkspaceDiagnosticParams([]))
    times = []
    for path in blocks:
        uri = Path(path).as_uri()
        text = Path(path).read_text(encoding="utf-8")
        item = types.TextDocumentItem(uri, types.LanguageKind.Python, 1, text)
        client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        request = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri))
        await client.text_document_diagnostic_async(request)
        start = types.Range(types.Position(0, 0), types.Position(0, 0))
        edit = types.DidChangeTextDocumentParams(
            types.VersionedTextDocumentIdentifier(2, uri), [types.TextDocumentContentChangePartial(start, "\n")]
        )
        began = time.perf_counter()
        client.text_document_did_change(edit)
        await client.text_document_diagnostic_async(request)
        times.append(time.perf_counter() - began)
    show("edit to answer", times)
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()


def main() -> None:
    """Read the command line and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--stdio-files", type=int, default=50)
    arguments = parser.parse_args()
    print(f"{os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}, Python {sys.version.split()[0]}")
    blocks = time_in_process(arguments.paths)
    inside = [path for path in blocks if path.startswith(str(Path(arguments.paths[0]).resolve()))]
    step = max(1, len(inside) // max(1, arguments.stdio_files))
    asyncio.run(time_over_stdio(arguments.paths[0], inside[::step]))


if __name__ == "__main__":
    main()
