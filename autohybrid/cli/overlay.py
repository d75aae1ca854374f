"""The flags shared by commands that read settings, and how they are laid over the configuration files."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from autohybrid.cli.parser import Parser, one_of, word_list
from autohybrid.config import FORMATS, Settings, SettingsError, closest, read_settings
from autohybrid.diagnostics.files import SettingsTree, unchanged

FORMAT_VARIABLE = "AUTOHYBRID_OUTPUT_FORMAT"


def add_settings_arguments(parser: Parser) -> None:
    """`--config` and `--isolated`."""
    group = parser.add_argument_group("configuration")
    group.add_argument("--config", metavar="FILE", help="use this configuration file and no other")
    group.add_argument("--isolated", action="store_true", help="ignore all configuration files")


def add_selection_arguments(parser: Parser) -> None:
    """`--select` and its kin."""
    group = parser.add_argument_group("rules")

    def codes(flag: str, text: str) -> None:
        group.add_argument(flag, metavar="CODES", type=word_list, action="append", help=text)

    codes("--select", "run only these: codes, prefixes (AH1), names, or ALL; with commas")
    codes("--ignore", "leave these out; the longer prefix of --select and --ignore wins")
    codes("--extend-select", "run these besides the ones that the configuration selects")
    group.add_argument(
        "--per-file-ignores",
        metavar="GLOB:CODES",
        type=_pattern_and_codes,
        action="append",
        help="leave codes out in matching files: 'tests/**:AH3,AH5'",
    )
    group.add_argument("--pedantic", action="store_true", help="also report what is only possible, and infos")


def _pattern_and_codes(text: str) -> tuple[str, tuple[str, ...]]:
    pattern, colon, codes = text.rpartition(":")
    if not colon or not pattern or not word_list(codes):
        raise argparse.ArgumentTypeError(f"`{text}` is not GLOB:CODES, such as 'tests/**:AH3'")
    return pattern, tuple(word_list(codes))


def add_file_arguments(parser: Parser) -> None:
    """`--exclude` and its kin."""
    group = parser.add_argument_group("files")

    def globs(flag: str, text: str) -> None:
        group.add_argument(flag, metavar="GLOBS", type=word_list, action="append", help=text)

    globs("--exclude", "skip these instead of the built-in list; with commas")
    globs("--extend-exclude", "skip these too")
    group.add_argument("--force-exclude", action="store_true", help="skip even paths given on the command line")
    group.add_argument("--no-respect-gitignore", action="store_true", help="also take what .gitignore ignores")


def make_tree(arguments: Any) -> SettingsTree:
    """The settings of folders, under `--config` or `--isolated`, with the other flags laid over them."""
    return read_tree(arguments, _make_overlay(arguments))


def read_tree(arguments: Any, overlay: Callable[[Settings], Settings] = unchanged) -> SettingsTree:
    """The settings of folders under `--config` and `--isolated` alone, then `overlay`."""
    if arguments.isolated:
        return SettingsTree(Settings(root=os.getcwd()), overlay)
    if arguments.config:
        settings = read_settings(arguments.config)
        if settings is None:
            raise SettingsError(f"{arguments.config} has no [tool.autohybrid] table")
        return SettingsTree(replace(settings, root=os.getcwd()), overlay)
    return SettingsTree(None, overlay)


def _make_overlay(arguments: Any) -> Callable[[Settings], Settings]:
    select, ignore = _flat(arguments.select), _flat(arguments.ignore)
    exclude = _flat(arguments.exclude)

    def overlay(settings: Settings) -> Settings:
        return replace(
            settings,
            select=settings.select if select is None else select,
            ignore=settings.ignore if ignore is None else ignore,
            extend_select=(*settings.extend_select, *(_flat(arguments.extend_select) or ())),
            per_file_ignores=(*settings.per_file_ignores, *(arguments.per_file_ignores or ())),
            exclude=settings.exclude if exclude is None else exclude,
            extend_exclude=(*settings.extend_exclude, *(_flat(arguments.extend_exclude) or ())),
            respect_gitignore=settings.respect_gitignore and not arguments.no_respect_gitignore,
        )

    return overlay


def _flat(lists: list[list[str]] | None) -> tuple[str, ...] | None:
    return None if lists is None else tuple(word for words in lists for word in words)


def get_format(flag: str | None, settings: Settings) -> str:
    """The output format: the flag, else the environment, else the configuration."""
    if flag:
        return flag
    value = os.environ.get(FORMAT_VARIABLE, "")
    if value and value not in ("auto", *FORMATS):
        raise SettingsError(f"{FORMAT_VARIABLE} is `{value}`, which is no format{closest(value, FORMATS)}")
    return value or settings.output_format


format_type = one_of("auto", *FORMATS)
