"""The label language of `einsum`: parsing, shapes, and the adjoint by one operand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from string import ascii_letters
from typing import Any

from autohybrid.errors import MXNetError


@dataclass(frozen=True, slots=True)
class Einsum:
    """Labels of every axis of every operand and of the result, without ellipses."""

    operands: tuple[str, ...]
    result: str

    @property
    def text(self) -> str:
        """The subscripts as numpy takes them."""
        return f"{','.join(self.operands)}->{self.result}"

    def extents(self, shapes: Sequence[tuple[int, ...]]) -> dict[str, int]:
        """The extent of each label; 1 gives way to others. Raises MXNetError where two contradict each other."""
        found: dict[str, int] = {}
        for labels, shape in zip(self.operands, shapes):
            for label, extent in zip(labels, shape):
                have = found.get(label, 1)
                if have not in (1, extent) and extent != 1:
                    if -1 not in (have, extent):
                        raise MXNetError(f"label {label!r} of {self.text!r} has extents {have} and {extent}")
                    extent = max(have, extent)
                found[label] = extent if have == 1 else max(have, extent)
        return found

    def shape(self, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
        """The shape of the result."""
        extents = self.extents(shapes)
        return tuple(extents[label] for label in self.result)

    def adjoint(self, xp: Any, place: int, head: Any, arrays: Sequence[Any]) -> Any:
        """The gradient by operand `place` for `head`, the gradient of the result."""
        labels, shape = self.operands[place], arrays[place].shape
        others = [(o, a) for k, (o, a) in enumerate(zip(self.operands, arrays)) if k != place]
        extents = self.extents([a.shape for a in arrays])
        distinct = "".join(dict.fromkeys(labels))
        elsewhere = set(self.result).union(*[set(o) for o, _ in others])
        alone = [label for label in distinct if label not in elsewhere]  # summed: every element counts alike
        known = "".join(label for label in distinct if label in elsewhere)
        terms = ",".join([self.result, *(o for o, _ in others)])
        found = xp.asarray(xp.einsum(f"{terms}->{known}", head, *(a for _, a in others), optimize=bool(others)))
        found = found.reshape(tuple(1 if label in alone else extents[label] for label in distinct))
        found = xp.broadcast_to(found, tuple(extents[label] for label in distinct)).astype(arrays[place].dtype)
        own = dict(zip(labels, shape))
        shrunk = tuple(i for i, label in enumerate(distinct) if own[label] == 1 != extents[label])
        if shrunk:  # an extent of 1 that was repeated
            found = found.sum(axis=shrunk, keepdims=True)
        if len(distinct) == len(labels):
            return found
        result = xp.zeros(shape, dtype=found.dtype)
        grids = xp.meshgrid(*[xp.arange(own[label]) for label in distinct], indexing="ij")
        result[tuple(grids[distinct.index(label)] for label in labels)] = found
        return result


@lru_cache(1024)
def parse_einsum(subscripts: str, ranks: tuple[int, ...]) -> Einsum:
    """The subscripts for operands of these ranks. Raises MXNetError saying what is wrong with them."""
    text = subscripts.replace(" ", "")
    left, arrow, right = text.partition("->")
    parts = left.split(",")
    if len(parts) != len(ranks):
        raise MXNetError(f"the subscripts {subscripts!r} are for {len(parts)} operands, there are {len(ranks)}")
    free = [letter for letter in ascii_letters if letter not in text]
    dots = max((rank - len(part.replace("...", "")) for part, rank in zip(parts, ranks) if "..." in part), default=0)
    if dots < 0:
        raise MXNetError(f"the subscripts {subscripts!r} have more labels than the operands have axes")
    filling = "".join(free[:dots])
    operands = [_filled(part, rank, filling, subscripts) for part, rank in zip(parts, ranks)]
    if arrow:
        result = right.replace("...", filling)
    else:
        joined = "".join(operands)
        result = filling + "".join(sorted(s for s in set(joined) if joined.count(s) == 1 and s not in filling))
    strange = [s for s in result if s not in "".join(operands)] or [s for s in result if result.count(s) > 1]
    if strange:
        raise MXNetError(f"label {strange[0]!r} of the result of {subscripts!r} is not that of one axis of an operand")
    return Einsum(tuple(operands), result)


def _filled(part: str, rank: int, filling: str, subscripts: str) -> str:
    labels = part
    if "..." in part:
        count = rank - len(part.replace("...", ""))
        labels = part.replace("...", filling[len(filling) - count :] if count else "")
    if len(labels) != rank or not all(s in ascii_letters for s in labels):
        raise MXNetError(
            f"the labels {part!r} of {subscripts!r} are for another number of axes than the operand's {rank}"
        )
    return labels
