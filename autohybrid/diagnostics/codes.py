"""The families of codes. A code is `AH` and three digits; codes are permanent: retired, never used again."""

from __future__ import annotations

import re
from types import MappingProxyType

FAMILIES = MappingProxyType(
    {
        "AH0": "parsing and configuration",
        "AH1": "tensor attributes and indexing",
        "AH2": "values that leave the graph",
        "AH3": "side effects",
        "AH4": "control flow",
        "AH5": "imperative and graph differ",
        "AH6": "structure of blocks",
        "AH7": "operators and their arguments",
        "AH8": "export",
        "AH9": "suppressions and fallback",
    }
)

_CODE = re.compile(r"AH[0-9]{3}\Z")


def is_code(text: str) -> bool:
    """Whether `text` is a whole code such as `AH101`.

    >>> is_code("AH101"), is_code("AH1")
    (True, False)
    """
    return _CODE.match(text) is not None


def family_of(code: str) -> str:
    """The title of the family that `code` belongs to; empty for a foreign code."""
    return FAMILIES.get(code[:3], "")
