"""Writing a text file whole or not at all."""

from __future__ import annotations

import os

from autohybrid.config import SettingsError


def write_text(path: str, text: str) -> None:
    """Write to a temporary file beside `path`, then rename it.

    Raises SettingsError, naming the path, when that cannot be done; the old file is then as it was.
    """
    import tempfile

    folder = os.path.dirname(os.path.abspath(path))
    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(dir=folder, prefix="." + os.path.basename(path), suffix=".tmp")
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace", newline="") as stream:
            stream.write(text)
        os.chmod(temporary, _mode_of(path))
        os.replace(temporary, path)
    except OSError as error:
        if temporary and os.path.exists(temporary):
            os.unlink(temporary)
        raise SettingsError(f"cannot write {path}: {error.strerror}") from None


def _mode_of(path: str) -> int:
    """The permissions of the file that is replaced, or those of a new one under the current mask."""
    try:
        return os.stat(path).st_mode & 0o7777
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
