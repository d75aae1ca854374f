"""New sources for cells of a notebook, written into its JSON: every byte outside the changed lines stays."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from json.decoder import scanstring  # type: ignore[attr-defined]

_BLANK = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder(strict=False)


def rewrite_cells(text: str, sources: Mapping[int, str]) -> str:
    """The text of a notebook with other sources for some cells, by number (1-based, all cells counted).

    Raises ValueError where the text is not the JSON of a notebook.
    """
    parts: list[str] = []
    at = 0
    for number, (start, end) in enumerate(_source_places(text), start=1):
        if number in sources:
            parts += [text[at:start], _rewritten(text[start:end], sources[number])]
            at = end
    return "".join([*parts, text[at:]])


def _source_places(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of the value that holds the source of each cell (of no width where a cell has none)."""
    document = dict(_members(text, _skip(text, 0)))
    if "cells" in document:
        lists = [document["cells"][0]]
    else:
        sheets = _elements(text, document["worksheets"][0])
        lists = [dict(_members(text, start))["cells"][0] for start, _ in sheets]
    for start in lists:
        for cell, end in _elements(text, start):
            members = dict(_members(text, cell))
            yield members.get("source") or members.get("input") or (end, end)


def _members(text: str, at: int) -> Iterator[tuple[str, tuple[int, int]]]:
    """Name and place of the value of each member of the object at an offset."""
    at = _skip(text, at + 1)
    while text[at] != "}":
        name, at = scanstring(text, at + 1, False)
        start = _skip(text, _skip(text, at) + 1)
        end = _DECODER.raw_decode(text, start)[1]
        yield name, (start, end)
        at = _skip(text, end)
        at = _skip(text, at + 1) if text[at] == "," else at


def _elements(text: str, at: int) -> Iterator[tuple[int, int]]:
    """Place of each element of the array at an offset."""
    at = _skip(text, at + 1)
    while text[at] != "]":
        end = _DECODER.raw_decode(text, at)[1]
        yield at, end
        at = _skip(text, end)
        at = _skip(text, at + 1) if text[at] == "," else at


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return at if found is None else found.end()


def _rewritten(raw: str, source: str) -> str:
    """The JSON of a new source in the way of the old: one string, or a list of lines whose equal lines stay."""
    is_ascii = "\\u" in raw
    if not raw.startswith("["):
        return json.dumps(source, ensure_ascii=is_ascii)
    places = list(_elements(raw, 0))
    tokens = [raw[start:end] for start, end in places]
    old = [json.loads(token, strict=False) for token in tokens]
    new = re.findall(r"[^\n]*\n|[^\n]+", source)
    if old and not str(old[-1]).endswith("\n") and new:
        new[-1] = new[-1].removesuffix("\n")
    written: list[str] = []
    for tag, first, last, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        written += (
            tokens[first:last] if tag == "equal" else [json.dumps(x, ensure_ascii=is_ascii) for x in new[start:end]]
        )
    if not places or not written:
        return "[]" if not written else json.dumps(new, ensure_ascii=is_ascii)
    between = raw[places[0][1] : places[1][0]] if len(places) > 1 else f",{raw[1 : places[0][0]]}"
    return raw[: places[0][0]] + between.join(written) + raw[places[-1][1] :]
