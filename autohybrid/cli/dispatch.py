"""From arguments to a command: finds the module of the command, parses its flags, runs it under the guard."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from types import ModuleType

from autohybrid.cli.guard import Guard
from autohybrid.cli.parser import Parser
from autohybrid.config import SettingsError, closest

_PACKAGE = "autohybrid.cli.commands"
_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "commands")


def command_names() -> list[str]:
    """The names of the commands: the files in the folder `commands`."""
    return sorted(
        entry.removesuffix(".py").replace("_", "-")
        for entry in os.listdir(_FOLDER)
        if entry.endswith(".py") and not entry.startswith("_")
    )


def load_command(name: str) -> ModuleType:
    """The module of a command. Only this one is imported."""
    return import_module(f"{_PACKAGE}.{name.replace('-', '_')}")


def make_parser(name: str, module: ModuleType) -> Parser:
    """The parser of one command."""
    parser = Parser(prog=f"autohybrid {name}", description=module.__doc__)
    module.add_arguments(parser)
    return parser


def dispatch(arguments: list[str]) -> int:
    """Run the command that `arguments` name; returns the exit code."""
    guard = Guard()
    with guard:
        guard.code = _run(arguments)
        sys.stdout.flush()
    return guard.code


def _run(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        if len(arguments) > 1 and arguments[0] == "help":
            return _run([arguments[1], "--help"])
        sys.stdout.write(_overview())
        return 0 if arguments else 2
    name = _resolve(arguments[0])
    module = load_command(name)
    # `run` hands arguments on to a script, so it must not read them all: it parses for itself.
    parse = getattr(module, "parse", Parser.parse)
    code: int = module.run(parse(make_parser(name, module), arguments[1:]))
    return code


def _resolve(word: str) -> str:
    """The name of the command that `word` is, or is an alias of. Raises SettingsError for anything else."""
    names = command_names()
    if word in names:
        return word
    aliases = {alias: name for name in names for alias in getattr(load_command(name), "ALIASES", ())}
    if word in aliases:
        return aliases[word]
    if word.startswith("-"):
        raise SettingsError(f"unknown option `{word}`{closest(word, ['--version', '--help'])}")
    hint = closest(word, [*names, *aliases])
    if not hint and os.path.exists(word):
        hint = f"; did you mean `autohybrid check {word}`?"
    raise SettingsError(f"unknown command `{word}`{hint or '; see `autohybrid --help`'}")


def _summary(name: str) -> str:
    """The first line of a command's docstring, read from the file: importing all commands would import everything."""
    path = os.path.join(_FOLDER, name.replace("-", "_") + ".py")
    with open(path, encoding="utf-8") as stream:
        return stream.readline().strip().strip('"')


def _overview() -> str:
    """The list of commands with their summaries."""
    lines = ["Check, run and compile Gluon models without MXNet.", "", "usage: autohybrid COMMAND ...", "", "commands:"]
    for name in command_names():
        lines.append(f"  {name:<14}{_summary(name)}")
    lines += [
        "",
        "options:",
        "  -V, --version  show the version",
        "  -h, --help     show this, or a command's own help",
    ]
    return "\n".join(lines) + "\n"
