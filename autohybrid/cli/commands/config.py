"""Show the settings that apply to a folder, the keys a configuration file may hold, or their JSON schema."""

from __future__ import annotations

import argparse
import json
import os

from autohybrid.cli.overlay import add_settings_arguments, read_tree
from autohybrid.cli.parser import Parser
from autohybrid.cli.terminal import get_width, write_out
from autohybrid.config import KEYS, SettingsError, closest, json_schema, to_table
from autohybrid.diagnostics.render.style import wrap


def add_arguments(parser: Parser) -> None:
    """The flags of `autohybrid config`."""
    parser.add_argument("key", nargs="?", metavar="KEY", help="show only this key, and what it means")
    parser.add_argument("--schema", action="store_true", help="print the JSON schema of the configuration table")
    parser.add_argument("--list", action="store_true", help="list the keys and what they mean")
    add_settings_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print what was asked for. Raises SettingsError for an unknown key or a faulty configuration file."""
    if arguments.schema:
        write_out(json.dumps(json_schema(), indent=2) + "\n", machine=True)
        return 0
    docs = {key.name: key.doc for key in KEYS}
    if arguments.list:
        write_out("".join(_describe(name, doc) for name, doc in docs.items()))
        return 0
    settings = read_tree(arguments).get(os.getcwd())
    table = to_table(settings)
    if arguments.key is not None:
        if arguments.key not in table:
            raise SettingsError(f"unknown key `{arguments.key}`{closest(arguments.key, list(table))}")
        write_out(_describe(arguments.key, docs[arguments.key]))
        table = {arguments.key: table[arguments.key]}
    else:
        write_out(f"# from {settings.source or 'the built-in defaults'}\n")
    write_out("".join(f"{name} = {_to_toml(value)}\n" for name, value in table.items()))
    return 0


def _describe(name: str, doc: str) -> str:
    return f"# {name}\n" + "".join(f"#   {line}\n" for line in wrap(doc, get_width() - 4))


def _to_toml(value: object) -> str:
    """The value as TOML; JSON is the same for everything but tables."""
    if isinstance(value, dict):
        inner = ", ".join(f"{json.dumps(key)} = {_to_toml(item)}" for key, item in value.items())
        return f"{{{inner}}}"
    return json.dumps(value, ensure_ascii=False)
