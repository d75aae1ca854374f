"""The operator records, one family a file. Each module offers `OPERATORS: tuple[OpDef, ...]`; nothing else registers.

`operators()` scans this folder (and the entry-point group `autohybrid.ops`) once and returns every name and alias.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType

from autohybrid.plugins import OPERATORS_GROUP, has_entry_points
from autohybrid.tensor.opdef import OpDef


@cache
def operators() -> Mapping[str, OpDef]:
    """Every operator by canonical name and by alias. Raises ValueError when two records claim one name."""
    table: dict[str, OpDef] = {}
    for op in _records():
        for name in (op.name, *op.aliases):
            if name in table:
                raise ValueError(f"operator name {name!r} is claimed by {table[name]!r} and {op!r}")
            table[name] = op
    return MappingProxyType(table)


def records() -> tuple[OpDef, ...]:
    """Every record once, sorted by canonical name."""
    return tuple(sorted(set(operators().values()), key=lambda op: op.name))


def get_operator(name: str) -> OpDef:
    """The record of a canonical name or alias. Raises KeyError."""
    return operators()[name]


def _records() -> Iterator[OpDef]:
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda m: m.name):
        yield from importlib.import_module(f"{__name__}.{module.name}").OPERATORS
    if has_entry_points(OPERATORS_GROUP):
        from importlib.metadata import entry_points

        for point in entry_points(group=OPERATORS_GROUP):
            yield from point.load()
