"""Which files a run checks, and their text. Walks folders, honours ignore rules, decodes; analyses nothing."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from autohybrid.config import Settings, SettingsError, closest, find_settings
from autohybrid.diagnostics.globs import (
    PatternSet,
    is_ignored,
    make_pattern_set,
    read_gitignore,
    read_gitignores_above,
)

SUFFIXES = (".py", ".pyi", ".ipynb")
STDIN = "-"
_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file to check: `path` as findings show it, `absolute` for the disk, what `stat` said of it, and whether it was
    named outright, and not found in a folder."""

    path: str
    absolute: str
    mtime_ns: int = 0
    size: int = 0
    named: bool = True


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Why a file has no text: `reason` completes "this file ...", `line` and `column` say where if that is known.

    `kind` is one of access, binary, encoding, notebook.
    """

    reason: str
    kind: str
    line: int = 1
    column: int = 1


def unchanged(settings: Settings) -> Settings:
    """The overlay that changes nothing."""
    return settings


class SettingsTree:
    """The settings of each folder: the nearest configuration file's, or `fixed`; then `overlay` (flags) over them."""

    def __init__(self, fixed: Settings | None = None, overlay: Callable[[Settings], Settings] = unchanged) -> None:
        self._fixed = fixed
        self._overlay = overlay
        self._read: dict[str, Settings] = {}
        self._overlaid: dict[str, Settings] = {}

    def get(self, folder: str) -> Settings:
        """The settings for files in `folder` (absolute). Raises SettingsError for a faulty file."""
        found = self._overlaid.get(folder)
        if found is None:
            base = self._fixed if self._fixed is not None else find_settings(folder, self._read)
            found = self._overlaid[folder] = self._overlay(base)
        return found


def discover(paths: Sequence[str], tree: SettingsTree, force_exclude: bool = False) -> list[InputFile]:
    """The files to check, each once, sorted by path.

    A file named outright is always taken (with `force_exclude` only if nothing excludes it); folders are walked without
    following links to folders. Raises SettingsError for a path that does not exist.
    """
    cwd = os.getcwd()
    found: dict[str, InputFile] = {}
    for path in paths:
        absolute = os.path.abspath(path)
        if not os.path.exists(absolute):
            raise SettingsError(_missing(path))
        if force_exclude and _is_excluded_above(absolute, tree):
            continue
        named = not os.path.isdir(absolute)
        for entry in (absolute,) if named else _walk(absolute, tree):
            if entry not in found or (named and not found[entry].named):
                found[entry] = _to_input(entry, cwd, named)
    return sorted(found.values(), key=lambda item: item.path)


def show_path(absolute: str, cwd: str) -> str:
    """The path as people write it: relative to `cwd` when below it, with forward slashes."""
    if absolute.startswith(cwd.rstrip(os.sep) + os.sep):
        absolute = absolute[len(cwd.rstrip(os.sep)) + 1 :]
    return absolute.replace(os.sep, "/") if os.sep != "/" else absolute


def _to_input(absolute: str, cwd: str, named: bool) -> InputFile:
    try:
        status = os.stat(absolute)
    except OSError:
        return InputFile(show_path(absolute, cwd), absolute, named=named)
    return InputFile(show_path(absolute, cwd), absolute, status.st_mtime_ns, status.st_size, named)


def _missing(path: str) -> str:
    folder, name = os.path.split(path)
    try:
        siblings = os.listdir(folder or ".")
    except OSError:
        siblings = []
    hint = closest(name, siblings)
    return f"no such file or folder: `{path}`{hint}"


def _excludes(settings: Settings, folder: str) -> PatternSet:
    """The exclude patterns, relative to their configuration file when it lies above `folder`, else to `folder`."""
    root = settings.root
    base = root if root and (folder + os.sep).startswith(root.rstrip(os.sep) + os.sep) else folder
    return make_pattern_set(base, [*settings.exclude, *settings.extend_exclude])


def _walk(top: str, tree: SettingsTree) -> Iterator[str]:
    """Every Python file and notebook below `top`, which itself is never excluded, and every folder that is closed."""
    # Rules that ignore `top` itself are overruled by its being asked for, and then hold for nothing below it either.
    above = tuple(patterns for patterns in read_gitignores_above(top) if not patterns.ignores_way_to(top))
    stack: list[tuple[str, tuple[PatternSet, ...]]] = [(top, above)]
    compiled: dict[str, PatternSet] = {}
    while stack:
        folder, ignores = stack.pop()
        settings = tree.get(folder)
        excludes = compiled.get(settings.source)
        if excludes is None:
            excludes = compiled[settings.source] = _excludes(settings, top)
        found = read_gitignore(folder)
        if found is not None:
            ignores = (*ignores, found)
        active = ignores if settings.respect_gitignore else ()
        try:
            entries = list(os.scandir(folder))
        except FileNotFoundError:
            continue  # removed since its parent was listed
        except OSError:
            yield folder  # reading it will say why
            continue
        for entry in entries:
            is_folder = entry.is_dir(follow_symlinks=False)
            if not is_folder and not entry.name.endswith(SUFFIXES):
                continue
            if excludes.find_verdict(entry.path, is_folder) or is_ignored(active, entry.path, is_folder):
                continue
            if is_folder:
                stack.append((entry.path, ignores))
            elif entry.is_file():
                yield entry.path


def _is_excluded_above(absolute: str, tree: SettingsTree) -> bool:
    """Whether the file, or a folder it lies in, is excluded by the settings that govern it."""
    settings = tree.get(absolute if os.path.isdir(absolute) else os.path.dirname(absolute))
    excludes = _excludes(settings, os.getcwd())
    root = excludes.folder
    ignores = read_gitignores_above(absolute) if settings.respect_gitignore else ()
    current, is_folder = absolute, os.path.isdir(absolute)
    while current.startswith(root + os.sep):
        if excludes.find_verdict(current, is_folder) or is_ignored(ignores, current, is_folder):
            return True
        current, is_folder = os.path.dirname(current), True
    return False


def read_bytes(absolute: str) -> bytes | Unreadable:
    """The bytes of a file, or why there are none."""
    try:
        with open(absolute, "rb") as stream:
            return stream.read()
    except OSError as error:
        if os.path.isdir(absolute):
            return Unreadable("is a folder that cannot be listed", "access")
        return Unreadable(f"cannot be read: {(error.strerror or str(error)).lower()}", "access")


def decode(data: bytes) -> str | Unreadable:
    """The text of Python source: UTF-8, or what its coding comment (PEP 263) names. Line ends are kept."""
    if b"\0" in data:
        return Unreadable(
            "holds binary data (a null byte), not Python source", "binary", *_place(data, data.index(b"\0"))
        )
    text = data[3:] if data.startswith(b"\xef\xbb\xbf") else data
    encoding = _find_encoding(text)
    try:
        return text.decode(encoding)
    except UnicodeDecodeError as error:
        what = "is not UTF-8 and names no other encoding" if encoding == "utf-8" else f"is not {encoding} as it says"
        return Unreadable(
            f"{what}: byte 0x{text[error.start]:02x} cannot be decoded", "encoding", *_place(text, error.start)
        )
    except (LookupError, UnicodeError):
        return Unreadable(f"names an encoding that is no text encoding, `{encoding}`", "encoding")


def encode_like(text: str, original: bytes) -> bytes:
    """The bytes of an edited text in the encoding of the original, with its byte order mark if it has one.

    Raises UnicodeEncodeError when that encoding has no bytes for a character of the text.
    """
    mark = b"\xef\xbb\xbf"
    has_mark = original.startswith(mark)
    encoding = _find_encoding(original[3:] if has_mark else original)
    return (mark if has_mark else b"") + text.encode(encoding)


def split_lines(text: str) -> list[str]:
    """Lines as Python counts them: split at \\n, \\r\\n and \\r only (str.splitlines also splits at form feeds)."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _find_encoding(data: bytes) -> str:
    for line in data.split(b"\n", 2)[:2]:
        match = _COOKIE.match(line)
        if match:
            return match.group(1).decode("ascii", "replace")
        if line.strip() and not line.lstrip().startswith(b"#"):
            break
    return "utf-8"


def _place(data: bytes, offset: int) -> tuple[int, int]:
    """1-based line and column of a byte, as far as the bytes before it can be read."""
    start = data.rfind(b"\n", 0, offset) + 1
    return data.count(b"\n", 0, offset) + 1, len(data[start:offset].decode("utf-8", "replace")) + 1
