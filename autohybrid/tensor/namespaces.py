"""Where an operator name appears for users: `_contrib_box_nms` is `contrib.box_nms`, `_plus` is `_internal._plus`.

One rule for nd and sym (and for the linter), following MXNet 1.9.1's generated modules.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from autohybrid.tensor.opdef import OpDef
from autohybrid.tensor.ops import operators

#: Name prefix -> public sub-namespace.
PREFIXES: tuple[tuple[str, str], ...] = (
    ("_contrib_", "contrib"),
    ("_linalg_", "linalg"),
    ("_image_", "image"),
    ("_sparse_", "sparse"),
    ("_random_", "random"),
    ("_npx_", "npx"),
    ("_npi_", "np"),
    ("_np_", "np"),
)
SUBMODULES: tuple[str, ...] = ("contrib", "linalg", "image", "sparse", "random", "npx", "np", "_internal")


def public_place(name: str) -> tuple[str, str]:
    """The sub-namespace ('' for the top) and the spelling there of an operator name or alias."""
    for prefix, namespace in PREFIXES:
        if name.startswith(prefix):
            return namespace, name[len(prefix) :]
    return ("_internal", name) if name.startswith("_") else ("", name)


@cache
def public_names() -> Mapping[str, Mapping[str, str]]:
    """Sub-namespace -> spelling -> registered name. `_internal` also lists names with a prefix of their own."""
    table: dict[str, dict[str, str]] = {namespace: {} for namespace in ("", *SUBMODULES)}
    for name in operators():
        namespace, spelling = public_place(name)
        table[namespace][spelling] = name
        if name.startswith("_"):
            table["_internal"][name] = name
    return MappingProxyType(table)


def find_public(namespace: str, spelling: str) -> tuple[OpDef, str] | None:
    """The record behind `nd.<namespace>.<spelling>` and the registered name it was found under."""
    name = public_names()[namespace].get(spelling)
    return None if name is None else (operators()[name], name)


def name_hint(registered: str) -> str:
    """The prefix MXNet's NameManager counts for a node made by this function: `Convolution` -> `convolution`."""
    for prefix, _ in PREFIXES:
        if registered.startswith(prefix):
            return registered[len(prefix) :].lower()
    return registered.lower()
