"""Options: what the client may set. Everything else is in pyproject.toml or autohybrid.toml, as for `check`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class Options:
    """`pedantic`: also show what is only possible, and infos. `code_lens`, `inlay_hints`: show them."""

    pedantic: bool = False
    code_lens: bool = True
    inlay_hints: bool = True


def read_options(given: object, base: Options) -> tuple[Options, list[str]]:
    """The options with those of the client laid over `base`, and what is wrong with them.

    Takes the object of `initializationOptions` or of a configuration change, whose keys may lie under `autohybrid` and
    are written `codeLens` or `code_lens`; None changes nothing.

    >>> read_options({"autohybrid": {"codeLens": False}}, Options())
    (Options(pedantic=False, code_lens=False, inlay_hints=True), [])
    """
    table = given.get("autohybrid", given) if isinstance(given, Mapping) else given
    if not isinstance(table, Mapping):
        return base, []
    values = {field.name: getattr(base, field.name) for field in fields(Options)}
    wrong: list[str] = []
    for key, value in table.items():
        name = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in str(key))
        if name in values and isinstance(value, bool):
            values[name] = value
        elif name in values:
            wrong.append(f"the option `{key}` must be true or false, not {value!r}")
    return Options(**values), wrong
