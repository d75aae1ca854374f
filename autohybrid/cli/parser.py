"""The argument parser: argparse without abbreviations, with the nearest right spelling in its errors."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NoReturn

from autohybrid.cli.terminal import get_width
from autohybrid.config import SettingsError, closest


class Parser(argparse.ArgumentParser):
    """Raises SettingsError instead of leaving the process; the guard makes that exit code 2."""

    def __init__(self, **options: Any) -> None:
        # argparse makes a formatter for every flag; with a width given it need not import shutil for it.
        formatter = partial(argparse.RawDescriptionHelpFormatter, width=get_width() - 2)
        super().__init__(allow_abbrev=False, formatter_class=formatter, **options)

    @property
    def options(self) -> dict[str, argparse.Action]:
        """Every flag with what it does."""
        return self._option_string_actions

    def parse(self, arguments: Sequence[str]) -> argparse.Namespace:
        """The parsed arguments; flags and paths may be mixed, what follows `--` are paths.

        Raises SettingsError for an unknown option.
        """
        arguments = list(arguments)
        at = arguments.index("--") if "--" in arguments else len(arguments)
        parsed, unknown = self.parse_known_intermixed_args(arguments[:at])
        if arguments[at + 1 :]:
            if "paths" not in parsed:
                self.error(f"unexpected argument `{arguments[at + 1]}`")
            parsed.paths.extend(arguments[at + 1 :])
        if unknown:
            flag = unknown[0].split("=", 1)[0]
            hint = closest(flag, list(self.options)) if flag.startswith("-") else ""
            self.error(f"unknown option `{flag}`{hint}" if flag.startswith("-") else f"unexpected argument `{flag}`")
        return parsed

    def error(self, message: str) -> NoReturn:
        """Raise the message, with where to read on."""
        raise SettingsError(f"{message} (see `{self.prog} --help`)")


def word_list(text: str) -> list[str]:
    """The words of a list with commas: `AH1,AH204`."""
    return [word for word in (part.strip() for part in text.split(",")) if word]


def jobs(text: str) -> int:
    """An argument type: a number of processes, 0 for `auto`."""
    if text == "auto":
        return 0
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"`{text}` is no number of processes: a whole number of at least 1, or auto")
    return int(text)


def one_of(*choices: str) -> Callable[[str], str]:
    """An argument type that takes one of `choices` and names the nearest one otherwise."""

    def read(text: str) -> str:
        if text not in choices:
            hint = closest(text, choices) or "; choose from " + ", ".join(choices)
            raise argparse.ArgumentTypeError(f"`{text}` is not known{hint}")
        return text

    return read
