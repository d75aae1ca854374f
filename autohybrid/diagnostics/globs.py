"""Glob patterns as .gitignore means them, and the .gitignore files themselves. Owns matching, not walking.

Semantics: gitignore(5). A pattern with an inner or leading `/` is anchored at its folder, another one matches a name at
any depth; `**` spans folders; a trailing `/` matches folders only; `!` takes a match back; the last match decides.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Pattern:
    """One compiled line. `expression` is matched against the path relative to the folder of the pattern."""

    expression: re.Pattern[str]
    folders_only: bool
    negated: bool


def to_pattern(line: str) -> Pattern | None:
    """The pattern of one .gitignore line, or None for a blank line or a comment."""
    text = line.rstrip("\r\n")
    if not text.endswith("\\ "):
        text = text.rstrip(" ")
    if not text or text.startswith("#"):
        return None
    negated = text.startswith("!")
    text = text[1:] if negated else text
    text = text[1:] if text.startswith(("\\#", "\\!")) else text
    folders_only = text.endswith("/")
    body = text.strip("/") if folders_only else text.lstrip("/")
    if not body:
        return None
    anchored = "/" in text.rstrip("/")
    prefix = "" if anchored else r"(?:.*/)?"
    try:
        return Pattern(re.compile(prefix + translate(body) + r"\Z", re.DOTALL), folders_only, negated)
    except re.error:
        return None


@lru_cache(maxsize=1024)
def translate(glob: str) -> str:
    """The regular expression of one glob: `*` and `?` stay within a folder, `**` does not."""
    out: list[str] = []
    at = 0
    while at < len(glob):
        char = glob[at]
        if glob.startswith("**/", at) and (at == 0 or glob[at - 1] == "/"):
            out.append(r"(?:[^/]+/)*")
            at += 3
        elif glob.startswith("**", at) and (at == 0 or glob[at - 1] == "/") and at + 2 == len(glob):
            out.append(r".+")
            at += 2
        elif char == "*":
            out.append(r"[^/]*")
            at += 1
        elif char == "?":
            out.append(r"[^/]")
            at += 1
        elif char == "[" and (end := glob.find("]", at + 2)) > 0:
            inner = glob[at + 1 : end].replace("\\", "\\\\")
            inner = "^" + inner[1:] if inner[0] in "!^" else inner
            out.append(f"(?!/)[{inner}]")
            at = end + 1
        elif char == "\\" and at + 1 < len(glob):
            out.append(re.escape(glob[at + 1]))
            at += 2
        else:
            out.append(re.escape(char))
            at += 1
    return "".join(out)


@dataclass(frozen=True, slots=True)
class PatternSet:
    """The patterns of one folder, in the order written; the last one that matches decides."""

    folder: str
    patterns: tuple[Pattern, ...]

    def find_verdict(self, path: str, is_folder: bool) -> bool | None:
        """True: ignored; False: taken back by `!`; None: nothing here matches. `path` is absolute."""
        if not path.startswith(self.folder + os.sep):
            return None
        relative = path[len(self.folder) + 1 :]
        if os.sep != "/":
            relative = relative.replace(os.sep, "/")
        for pattern in reversed(self.patterns):
            if (is_folder or not pattern.folders_only) and pattern.expression.match(relative):
                return not pattern.negated
        return None

    def ignores_way_to(self, folder: str) -> bool:
        """Whether `folder`, or a folder above it, is ignored by this set."""
        while folder.startswith(self.folder + os.sep):
            if self.find_verdict(folder, True):
                return True
            folder = os.path.dirname(folder)
        return False


def make_pattern_set(folder: str, lines: tuple[str, ...] | list[str]) -> PatternSet:
    """Patterns written in a configuration file (or .gitignore) that lies in `folder`."""
    return PatternSet(folder.rstrip(os.sep), tuple(p for p in map(to_pattern, lines) if p is not None))


def read_gitignore(folder: str) -> PatternSet | None:
    """The patterns of `folder`/.gitignore, or None when there is none that can be read."""
    try:
        with open(os.path.join(folder, ".gitignore"), encoding="utf-8", errors="replace") as stream:
            lines = stream.read().splitlines()
    except OSError:
        return None
    return make_pattern_set(folder, lines)


def read_gitignores_above(folder: str) -> tuple[PatternSet, ...]:
    """The .gitignore files from the root of the enclosing git repository down to, not including, `folder`."""
    above: list[PatternSet] = []
    current = folder
    while not os.path.exists(os.path.join(current, ".git")):
        parent = os.path.dirname(current)
        if parent == current:
            return ()
        current = parent
        found = read_gitignore(current)
        if found is not None:
            above.append(found)
    return tuple(reversed(above))


def is_ignored(sets: tuple[PatternSet, ...], path: str, is_folder: bool) -> bool:
    """Whether the innermost set that has a verdict on `path` ignores it."""
    for patterns in reversed(sets):
        verdict = patterns.find_verdict(path, is_folder)
        if verdict is not None:
            return verdict
    return False
