"""Changes on the disk: files that other programs write, configuration, ignore rules."""

from __future__ import annotations

import os

from lsprotocol import types

from autohybrid.config import FILE_NAMES
from autohybrid.lsp.documents import to_path
from autohybrid.lsp.state import Server

_PATTERNS = ("**/*.{py,pyi}", "**/{pyproject,autohybrid,.autohybrid}.toml", "**/.gitignore")
# From so many changes on (another branch, say) everything is read again, lazily, rather than file by file.
_MANY = 20


def watch_files(ls: Server) -> None:
    """Ask the client to tell of changes on the disk, where it can be asked."""
    if not ls.get_capability("workspace", "did_change_watched_files", "dynamic_registration"):
        return
    watchers = [types.FileSystemWatcher(pattern) for pattern in _PATTERNS]
    options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
    registration = types.Registration("autohybrid-files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
    ls.client_register_capability(types.RegistrationParams([registration]))


def on_watched_files(ls: Server, params: types.DidChangeWatchedFilesParams) -> None:
    """Files changed on the disk. Open ones do not count: their text is the editor's."""
    paths = [to_path(change.uri) for change in params.changes]
    names = {os.path.basename(path) for path in paths}
    if len(paths) > _MANY or names & {*FILE_NAMES, ".gitignore"}:
        ls.reload()
        return
    for path in paths:
        if ls.documents.text_of(path) is None:
            ls.take_from_disk(path)
    ls.publish()
    ls.start_background()
