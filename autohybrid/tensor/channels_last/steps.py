"""Cutting the positions of an output into steps: whole images together, or some rows of one image."""

from __future__ import annotations

from typing import NamedTuple


class Step(NamedTuple):
    """The images and rows that one step computes."""

    images: slice
    rows: slice

    @property
    def extents(self) -> tuple[int, int]:
        """How many images and rows these are."""
        return self.images.stop - self.images.start, self.rows.stop - self.rows.start


def make_steps(images: int, rows: int, wanted: int) -> tuple[Step, ...]:
    """Steps of about `wanted` rows each; the first is the largest."""
    if 5 * wanted >= 4 * rows:
        together = even_part(images, max(1, wanted // rows))
        return tuple(Step(slice(i, min(images, i + together)), slice(0, rows)) for i in range(0, images, together))
    part = even_part(rows, max(1, wanted))
    return tuple(
        Step(slice(i, i + 1), slice(r, min(rows, r + part))) for i in range(images) for r in range(0, rows, part)
    )


def even_part(count: int, wanted: int) -> int:
    """About `wanted` of `count`: a number that divides it where one is near, so that all parts are alike."""
    if 5 * wanted >= 4 * count:
        return count
    return next((n for n in range(wanted, wanted // 2, -1) if count % n == 0), -(-count // -(-count // wanted)))


def even_cuts(count: int, parts: int, unit: int) -> tuple[int, ...] | None:
    """Where `parts` parts of `count` begin and end, each a multiple of `unit` but the last; None for too few."""
    units = -(-count // unit)
    if units < parts:
        return None
    return (*[units * i // parts * unit for i in range(parts)], count)
