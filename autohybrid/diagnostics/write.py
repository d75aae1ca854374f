"""Writing what the user asked to be written, with an error that names the path."""

from __future__ import annotations

from autohybrid.config import SettingsError


def write_text(path: str, text: str) -> None:
    """Write UTF-8 text whole or not at all. Raises SettingsError, naming the path, when that cannot be done."""
    from autohybrid.files import write_atomically

    try:
        write_atomically(path, text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise SettingsError(f"cannot write {path}: {error.strerror}") from None
