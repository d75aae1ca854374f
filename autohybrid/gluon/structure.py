"""Nested arguments and results as a flat list and a format, and back.

A format is 0 for one tensor, -1 for None, n > 1 for a Symbol with n outputs, a list for a list or tuple, and `Fixed`
for any other Python value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from autohybrid.context import Context
from autohybrid.gluon.deferred import DeferredTensor
from autohybrid.tensor.array import NDArray


@dataclass(frozen=True, slots=True)
class Fixed:
    """A Python value among the arguments, which a graph holds as a constant."""

    value: Any


Format = int | list[Any] | Fixed


def is_symbol(value: Any) -> bool:
    """Whether `value` is a Symbol; does not load the symbolic half of the package."""
    return hasattr(type(value), "list_arguments")


def flatten(value: Any, owner: str, fixed: bool = False) -> tuple[list[Any], Format]:
    """The tensors inside `value` in order, and its format.

    Raises ValueError for what is neither tensor, None nor list, unless `fixed` values are welcome. `owner` names the
    value in the message ("input of dense0").
    """
    if value is None:
        return [None], -1
    if isinstance(value, (NDArray, DeferredTensor)):
        return [value], 0
    if is_symbol(value):
        count = len(value.list_outputs())
        return [value], count if count > 1 else 0
    if not isinstance(value, (list, tuple)):
        if fixed:
            return [], Fixed(value)
        raise ValueError(
            f"the {owner} must be an array, None, or a (nested) list of them once the block is a graph, "
            f"but {value!r} of type {type(value).__name__} was given"
        )
    flat: list[Any] = []
    formats: list[Any] = []
    for item in value:
        inner, form = flatten(item, owner, fixed)
        flat += inner
        formats.append(form)
    return flat, formats


def regroup(flat: Sequence[Any], form: Format) -> Any:
    """`flat` in the structure that `form` describes. Raises ValueError when the numbers do not fit."""
    iterator = iter(flat)
    try:
        return _take(iterator, form)
    except StopIteration:
        raise ValueError(f"{len(flat)} tensors do not fill the structure {form}") from None


def _take(iterator: Iterator[Any], form: Format) -> Any:
    if isinstance(form, list):
        return [_take(iterator, inner) for inner in form]
    if isinstance(form, int) and form > 1:
        return [next(iterator) for _ in range(form)]
    return next(iterator)


def leaves(value: Any) -> Iterator[Any]:
    """Everything inside nested lists and tuples."""
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from leaves(item)
    else:
        yield value


def kinds_and_devices(args: Any) -> tuple[bool, bool, list[Context]]:
    """Whether symbols occur among `args`, whether arrays do, and the devices of the arrays, each once, in order."""
    symbols = arrays = False
    devices: list[Context] = []
    for value in leaves(args):
        if isinstance(value, (NDArray, DeferredTensor)):
            arrays = True
            if value._ctx not in devices:
                devices.append(value._ctx)
        elif is_symbol(value):
            symbols = True
    return symbols, arrays, devices


def settle(value: Any) -> Any:
    """`value` with parameters that were initialised during the call replaced by their arrays."""
    if isinstance(value, DeferredTensor):
        return value.array()
    if isinstance(value, list):
        return [settle(item) for item in value]
    if type(value) is tuple:
        return tuple([settle(item) for item in value])
    return value
