"""Settings: every key a configuration file may hold, with type, default and meaning, and the reading of such files.

One table (`KEYS`) is the source of the parser's checks, of the JSON schema and of `autohybrid config`. Command-line
flags are laid over the result by the caller; this module knows nothing of them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

FORMATS = (
    "full", "concise", "grouped", "json", "json-lines", "github", "gitlab", "junit", "sarif", "html",
)  # fmt: skip
SEVERITIES = ("error", "warning", "info")
BASELINE_NAME = ".autohybrid-baseline.json"
FILE_NAMES = ("autohybrid.toml", ".autohybrid.toml", "pyproject.toml")
DEFAULT_EXCLUDE = (
    ".bzr", ".direnv", ".eggs", ".git", ".hg", ".ipynb_checkpoints", ".mypy_cache", ".nox", ".pyenv", ".pytest_cache",
    ".ruff_cache", ".svn", ".tox", ".venv", "__pycache__", "__pypackages__", "_build", "build", "dist",
    "node_modules", "site-packages", "venv", ".autohybrid_cache",
)  # fmt: skip


class SettingsError(ValueError):
    """A setting, flag or path that cannot be used; the message says what, where and the nearest right spelling.

    Fails:     `[tool.autohybrid] selct = ["AH1"]`
    Repaired:  `[tool.autohybrid] select = ["AH1"]`
    """


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run does. Field names are the keys with `-` written `_`.

    `source` is the file the settings came from and `root` its folder, to which patterns and paths in it are relative.
    """

    select: tuple[str, ...] = ("ALL",)
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    exclude: tuple[str, ...] = DEFAULT_EXCLUDE
    extend_exclude: tuple[str, ...] = ()
    respect_gitignore: bool = True
    target_mxnet: str = "1.9"
    output_format: str = "auto"
    fix: bool = False
    unsafe_fixes: bool = False
    baseline: str = ""
    cache_dir: str = ""
    jobs: int = 0
    tensor_names: tuple[str, ...] = ()
    block_bases: tuple[str, ...] = ()
    hybrid_methods: tuple[str, ...] = ("hybrid_forward", "forward")
    assume_static: tuple[str, ...] = ()
    severity: tuple[tuple[str, str], ...] = ()
    preview: bool = False
    root: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class Key:
    """One key: how its value is read, what the JSON schema says of it, and one sentence for people."""

    name: str
    read: Callable[[Any], Any]
    schema: Mapping[str, Any]
    doc: str

    @property
    def field(self) -> str:
        """The field of `Settings` that holds it."""
        return self.name.replace("-", "_")


def _strings(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise SettingsError("a list of strings")
    return tuple(value)


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise SettingsError("a string")
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise SettingsError("true or false")
    return value


def _jobs(value: Any) -> int:
    if value == "auto":
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise SettingsError('a whole number of at least 1, or "auto"')
    return value


def _one_of(*choices: str) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if value not in choices:
            raise SettingsError("one of " + ", ".join(f'"{choice}"' for choice in choices))
        return str(value)

    return read


def _code_lists(value: Any) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not isinstance(value, dict):
        raise SettingsError('a table of patterns, each with a list of codes: {"tests/**" = ["AH3"]}')
    return tuple((str(pattern), _strings(codes)) for pattern, codes in value.items())


def _severities(value: Any) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, dict) or not all(level in SEVERITIES for level in value.values()):
        raise SettingsError('a table of codes, each "error", "warning" or "info": {AH104 = "warning"}')
    return tuple((str(code), level) for code, level in value.items())


_STRINGS: Mapping[str, Any] = {"type": "array", "items": {"type": "string"}}
_BOOLEAN: Mapping[str, Any] = {"type": "boolean"}
_STRING: Mapping[str, Any] = {"type": "string"}

KEYS: tuple[Key, ...] = (
    Key("select", _strings, _STRINGS, "Codes or prefixes (AH1, AH104, ALL) of the rules to run."),
    Key("ignore", _strings, _STRINGS, "Codes or prefixes to leave out; the longer prefix of select and ignore wins."),
    Key("extend-select", _strings, _STRINGS, "Codes or prefixes to run in addition to select."),
    Key(
        "per-file-ignores",
        _code_lists,
        {"type": "object", "additionalProperties": dict(_STRINGS)},
        "Glob patterns of files, each with codes that are not reported there.",
    ),
    Key("exclude", _strings, _STRINGS, "Glob patterns of files and folders to skip; replaces the built-in list."),
    Key("extend-exclude", _strings, _STRINGS, "Glob patterns to skip besides exclude."),
    Key("respect-gitignore", _flag, _BOOLEAN, "Skip what .gitignore files ignore (default true)."),
    Key(
        "target-mxnet",
        _one_of("1.6", "1.7", "1.8", "1.9"),
        {"enum": ["1.6", "1.7", "1.8", "1.9"]},
        "The MXNet version whose behaviour the rules describe.",
    ),
    Key(
        "output-format",
        _one_of("auto", *FORMATS),
        {"enum": ["auto", *FORMATS]},
        "How findings are printed; auto is full on a terminal and concise elsewhere.",
    ),
    Key("fix", _flag, _BOOLEAN, "Apply safe fixes."),
    Key("unsafe-fixes", _flag, _BOOLEAN, "Also apply fixes that may change behaviour."),
    Key("baseline", _string, _STRING, "File of known findings that are not reported."),
    Key("cache-dir", _string, _STRING, "Folder of the cache (default .autohybrid_cache beside the configuration)."),
    Key(
        "jobs",
        _jobs,
        {"oneOf": [{"type": "integer", "minimum": 1}, {"enum": ["auto"]}]},
        "Number of worker processes, or auto.",
    ),
    Key("tensor-names", _strings, _STRINGS, "Names of parameters that are tensors in plain helper functions."),
    Key("block-bases", _strings, _STRINGS, "Dotted names of further base classes that make a class a HybridBlock."),
    Key("hybrid-methods", _strings, _STRINGS, "Names of the methods that become a graph."),
    Key("assume-static", _strings, _STRINGS, "Names of parameters of hybrid methods that are never tensors."),
    Key(
        "severity",
        _severities,
        {"type": "object", "additionalProperties": {"enum": list(SEVERITIES)}},
        "Codes or prefixes, each with the severity to report it as.",
    ),
    Key("preview", _flag, _BOOLEAN, "Run rules that are still in preview."),
)
EXTEND = "extend"
# A pyproject.toml without either of these has no table of ours and need not be parsed.
_MAY_CONFIGURE = re.compile(
    rb"tool[\"'\s]*\.[\"'\s]*autohybrid|\[\s*[\"']?tool[\"']?\s*\]|^\s*[\"']?tool[\"']?\s*[.=]", re.M
)


def closest(word: str, choices: Sequence[str]) -> str:
    """`; did you mean "x"?` for the nearest of `choices`, or nothing."""
    import difflib

    found = difflib.get_close_matches(word, choices, n=1, cutoff=0.6)
    return f"; did you mean `{found[0]}`?" if found else ""


def to_settings(table: Mapping[str, Any], base: Settings, source: str) -> Settings:
    """`base` with the keys of one configuration table laid over it.

    Raises SettingsError for an unknown key or a value of the wrong type; `source` names the file in the message.
    """
    known = {key.name: key for key in KEYS}
    changes: dict[str, Any] = {}
    for name, value in table.items():
        if name == EXTEND:
            continue
        key = known.get(name)
        if key is None:
            raise SettingsError(f"{source}: unknown key `{name}`{closest(name, [*known, EXTEND])}")
        try:
            changes[key.field] = key.read(value)
        except SettingsError as error:
            raise SettingsError(f"{source}: `{name}` must be {error}, not {value!r}") from None
    return replace(base, **changes)


def read_settings(path: str, chain: tuple[str, ...] = ()) -> Settings | None:
    """The settings of one file, following `extend`; None for a pyproject.toml without `[tool.autohybrid]`.

    Raises SettingsError when the file cannot be read, is not TOML, or extends itself.
    """
    path = os.path.abspath(path)
    table = _read_table(path)
    if table is None:
        return None
    root = os.path.dirname(path)
    base = Settings()
    if EXTEND in table:
        target = os.path.normpath(os.path.join(root, os.path.expanduser(_string(table[EXTEND]))))
        if target in (*chain, path):
            raise SettingsError(f"{path}: `extend` leads back to {target}")
        extended = read_settings(target, (*chain, path))
        if extended is None:
            raise SettingsError(f"{path}: `extend` names {target}, which has no [tool.autohybrid]")
        base = extended
    return replace(to_settings(table, base, path), root=root, source=path)


def _read_table(path: str) -> Mapping[str, Any] | None:
    is_shared = os.path.basename(path) == "pyproject.toml"
    try:
        with open(path, "rb") as stream:
            data = stream.read()
    except OSError as error:
        raise SettingsError(f"cannot read {path}: {error.strerror}") from None
    if is_shared and not _MAY_CONFIGURE.search(data):
        return None
    import tomllib

    try:
        document = tomllib.loads(data.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} is not valid TOML: {error}") from None
    if not is_shared:
        return document
    tool = document.get("tool", {})
    table = tool.get("autohybrid") if isinstance(tool, dict) else None
    return table if isinstance(table, dict) else None


def find_settings(folder: str, cache: dict[str, Settings]) -> Settings:
    """The settings of the nearest configuration file at or above `folder`; `cache` remembers folders already asked."""
    folder = os.path.abspath(folder)
    if folder in cache:
        return cache[folder]
    found: Settings | None = None
    for name in FILE_NAMES:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            found = read_settings(path)
            if found is not None:
                break
    if found is None:
        parent = os.path.dirname(folder)
        found = Settings() if parent == folder else find_settings(parent, cache)
    cache[folder] = found
    return found


def to_table(settings: Settings) -> dict[str, Any]:
    """The settings as the table a configuration file would hold, in the order of `KEYS`."""
    table: dict[str, Any] = {}
    for key in KEYS:
        value = getattr(settings, key.field)
        if key.name in ("per-file-ignores", "severity"):
            value = {name: list(item) if isinstance(item, tuple) else item for name, item in value}
        elif isinstance(value, tuple):
            value = list(value)
        elif key.name == "jobs" and value == 0:
            value = "auto"
        table[key.name] = value
    return table


def json_schema() -> dict[str, Any]:
    """The JSON schema (draft 7) of the configuration table."""
    defaults = to_table(Settings())
    properties: dict[str, Any] = {
        EXTEND: {"type": "string", "description": "Configuration file whose values this one starts from."}
    }
    for key in KEYS:
        properties[key.name] = {**key.schema, "description": key.doc, "default": defaults[key.name]}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "autohybrid",
        "description": "The [tool.autohybrid] table of pyproject.toml, or autohybrid.toml.",
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
    }


def digest_text(settings: Settings) -> str:
    """The settings that change what the analysis finds, as text for a cache key."""
    analysed = ("target_mxnet", "tensor_names", "block_bases", "hybrid_methods", "assume_static", "preview")
    return repr([(item.name, getattr(settings, item.name)) for item in fields(settings) if item.name in analysed])
