"""Lowered texts kept by the digest of their source, in memory and on disk: LibCST is needed once for each function.

A text also depends on which of the names it calls are functions of the user's; those answers are kept with it and asked
again. On disk a text is one small JSON file in the user's cache folder, written under a temporary name and renamed, so
that several processes can write at once; a file that cannot be read counts as absent.

`AUTOHYBRID_CACHE_DIR` names another folder; `AUTOHYBRID_CACHE=0` switches the files off.
"""

from __future__ import annotations

import json
import os
from hashlib import blake2b
from pathlib import Path
from typing import Any

from autohybrid.files import write_atomically
from autohybrid.transform.lowered_text import LoweredText, OwnNames
from autohybrid.version import __version__

#: Changes whenever the lowering of some source changes.
_FORMAT = 5
_memory: dict[str, list[tuple[dict[str, bool], LoweredText]]] = {}


def lowered_text(source: str, namespace_position: int | None, own: OwnNames) -> LoweredText:
    """The lowered form of a function's source, from the cache where it is there."""
    key = blake2b(f"{__version__}\0{_FORMAT}\0{namespace_position}\0{source}".encode(), digest_size=16).hexdigest()
    for answers, text in _memory.get(key, ()):
        if own.agrees(answers):
            return text
    found = _read(key)
    if found is None or not own.agrees(found[0]):
        from autohybrid.transform.lower_source import lower_source

        text = lower_source(source, namespace_position, own)
        found = (dict(own.answers), text)
        _write(key, *found)
    _memory.setdefault(key, []).append(found)
    return found[1]


def _folder() -> Path | None:
    if os.environ.get("AUTOHYBRID_CACHE", "1").lower() in ("0", "no", "off", "false"):
        return None
    named = os.environ.get("AUTOHYBRID_CACHE_DIR")
    if named:
        return Path(named) / "lowered"
    base = os.environ.get("XDG_CACHE_HOME") or (Path.home() / ".cache")
    return Path(base) / "autohybrid" / "lowered"


def _read(key: str) -> tuple[dict[str, bool], LoweredText] | None:
    folder = _folder()
    if folder is None:
        return None
    try:
        data: Any = json.loads((folder / f"{key}.json").read_text("utf-8"))
        places = tuple((tuple(a), tuple(b)) for a, b in data["places"])
        return dict(data["own"]), LoweredText(data["text"], data["name"], places)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write(key: str, answers: dict[str, bool], text: LoweredText) -> None:
    folder = _folder()
    if folder is None:
        return
    data = {"own": answers, "text": text.text, "name": text.name, "places": text.places}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / f"{key}.json", json.dumps(data, separators=(",", ":")).encode(), durable=False)
    except OSError:
        return  # a cache that cannot be written (read-only home, full disk) only costs time
