"""Explain a rule, or list all of them.

A rule is given by code (AH101) or name (tensor-shape); a prefix (AH1) lists its rules.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from autohybrid.cli.parser import Parser, one_of
from autohybrid.cli.terminal import write_out
from autohybrid.diagnostics.codes import family_of
from autohybrid.diagnostics.rule import Rule
from autohybrid.diagnostics.rules import load_rules
from autohybrid.diagnostics.selection import matches, resolve_selector

ALIASES = ("explain",)


def add_arguments(parser: Parser) -> None:
    """The flags of `autohybrid rule`."""
    parser.add_argument("rule", nargs="?", metavar="CODE", help="a code, a name or a prefix")
    parser.add_argument("--all", action="store_true", help="explain every rule")
    parser.add_argument("--output-format", default="text", type=one_of("text", "json"), help="text or json")


def run(arguments: argparse.Namespace) -> int:
    """Print the explanation of one rule, or the list. Raises SettingsError for a rule that does not exist."""
    rules = load_rules()
    if arguments.rule:
        selector = resolve_selector(arguments.rule, {rule.code: rule.name for rule in rules}, "rule")
        rules = tuple(rule for rule in rules if matches(selector, rule.code))
    if arguments.output_format == "json":
        write_out(json.dumps([_to_object(rule) for rule in rules], indent=2, ensure_ascii=False) + "\n", machine=True)
    elif arguments.all or (arguments.rule and len(rules) == 1):
        write_out("\n".join(_explain(rule) for rule in rules))
    else:
        write_out(_list(rules))
    return 0


def _explain(rule: Rule) -> str:
    text = rule.doc.strip() or f"{rule.code} {rule.name}: {rule.summary}"
    return f"{text}\n\nFamily: {family_of(rule.code)}. Severity: {rule.severity.value}.\n"


def _list(rules: tuple[Rule, ...]) -> str:
    """The rules by family, in columns."""
    width = max((len(rule.name) for rule in rules), default=0)
    lines: list[str] = []
    family = ""
    for rule in rules:
        if family_of(rule.code) != family:
            family = family_of(rule.code)
            lines += ["", f"{rule.code[:3]}xx {family}"] if lines else [f"{rule.code[:3]}xx {family}"]
        lines.append(f"  {rule.code}  {rule.name:<{width}}  {rule.severity.value:<7}  {rule.summary}")
    return "".join(line + "\n" for line in lines)


def _to_object(rule: Rule) -> dict[str, Any]:
    return {
        "code": rule.code,
        "name": rule.name,
        "summary": rule.summary,
        "family": family_of(rule.code),
        "severity": rule.severity.value,
        "explanation": rule.doc.strip(),
    }
