"""record: frozen, slotted dataclasses for what is made by the hundred thousand.

Python's frozen dataclasses set every field through `object.__setattr__`, which makes an object four times as dear. Of a
record, assignments are refused by the checker of types alone. In all else, equality, hash, `replace` and patterns,
records are what `@dataclass(frozen=True, slots=True)` makes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[T]) -> type[T]:
    """Make a class a record: slotted, equal and hashed by its fields, not to be assigned to."""
    return dataclass(slots=True, unsafe_hash=True)(cls)
