"""Print a completion script for bash, zsh or fish.

bash: eval "$(autohybrid completions bash)"; zsh: the same with zsh, after compinit;
fish: autohybrid completions fish | source
"""

from __future__ import annotations

import argparse

from autohybrid.cli.dispatch import command_names, load_command, make_parser
from autohybrid.cli.parser import Parser, one_of
from autohybrid.cli.terminal import write_out
from autohybrid.config import FORMATS

_VALUES = {"--output-format": FORMATS, "--color": ("auto", "always", "never")}


def add_arguments(parser: Parser) -> None:
    """The flags of `autohybrid completions`."""
    parser.add_argument("shell", metavar="SHELL", type=one_of("bash", "zsh", "fish"), help="bash, zsh or fish")


def run(arguments: argparse.Namespace) -> int:
    """Print the script of one shell."""
    flags = {name: _flags(name) for name in command_names()}
    make = {"bash": _bash, "zsh": _zsh, "fish": _fish}[arguments.shell]
    write_out(make(flags))
    return 0


def _flags(name: str) -> list[tuple[str, str]]:
    """The long flags of a command with the first sentence of their help."""
    parser = make_parser(name, load_command(name))
    return [
        (option, (action.help or "").split("(")[0].strip())
        for option, action in parser.options.items()
        if option.startswith("--")
    ]


def _bash(flags: dict[str, list[tuple[str, str]]]) -> str:
    cases = "\n".join(f'    {name}) words="{" ".join(flag for flag, _ in found)}" ;;' for name, found in flags.items())
    values = "\n".join(
        f'    {flag}) COMPREPLY=($(compgen -W "{" ".join(choices)}" -- "$current")); return ;;'
        for flag, choices in _VALUES.items()
    )
    return f"""_autohybrid() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{" ".join(flags)} --version --help" -- "$current")); return
  fi
  case "$previous" in
{values}
  esac
  case "${{COMP_WORDS[1]}}" in
{cases}
  esac
  if [[ "$current" == -* ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  else
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}}
complete -o filenames -F _autohybrid autohybrid
"""


def _zsh(flags: dict[str, list[tuple[str, str]]]) -> str:
    return "autoload -Uz bashcompinit && bashcompinit\n" + _bash(flags)


def _fish(flags: dict[str, list[tuple[str, str]]]) -> str:
    lines = [f"complete -c autohybrid -n __fish_use_subcommand -f -a '{' '.join(flags)}'"]
    for name, found in flags.items():
        for flag, text in found:
            quoted = text.replace("\\", "\\\\").replace("'", "\\'")
            choices = f" -x -a '{' '.join(_VALUES[flag])}'" if flag in _VALUES else ""
            lines.append(
                f"complete -c autohybrid -n '__fish_seen_subcommand_from {name}' -l {flag[2:]}{choices} -d '{quoted}'"
            )
    return "".join(line + "\n" for line in lines)
