"""Matrix products with a matrix that is known ahead of the calls, for code templates: `y = x @ weight.T`.

BLAS reads a packed (width, units) weight faster than a transposed one. Where there are few rows, or a short width, one
call over tiles that are small enough for its kernels without packing is faster still: x is seen as blocks of `rows`,
the weight is stored as blocks of `columns`. The rules come from measurements of OpenBLAS on processors with AVX-512.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

#: Up to this width, tiles are faster for any number of rows.
_SHORT = 512
#: With this many rows, they are for any width.
_FEW_ROWS = 32
#: OpenBLAS multiplies without packing up to this many multiplications.
_SMALL_PRODUCT = 600_000
#: With more rows than this, what BLAS saves by a packed weight is lost among the products.
_MANY_ROWS = 512


@dataclass(frozen=True, slots=True)
class Tiles:
    """Blocks of a product: `rows` of x by `columns` of the weight."""

    rows: int
    columns: int

    def parts(self, rows: int) -> list[tuple[int, int, int]]:
        """x of so many rows in one or two parts: first row, number of blocks, rows of a block."""
        whole = rows - rows % self.rows
        found = [(0, whole // self.rows, self.rows), (whole, 1, rows - whole)]
        return [part for part in found if part[1] and part[2]]


def choose_tiles(rows: int, width: int, units: int) -> Tiles | None:
    """The tiles for x of (rows, width) by a weight of (units, width); None where one product is faster."""
    if rows < 8 or units % 32 or (rows > _FEW_ROWS and width > _SHORT):
        return None
    tiles = Tiles(8 if rows < 16 else 16, 64 if units % 64 == 0 else 32)
    return None if tiles.rows * tiles.columns * width > _SMALL_PRODUCT else tiles


def transposed(weight: Any) -> Any:
    """A (units, width) weight as (width, units)."""
    return weight.T.copy()


def transposed_view(weight: Any) -> Any:
    """The same over the same memory."""
    return weight.T


def tiled(weight: Any, columns: int) -> Any:
    """A (units, width) weight as blocks (units / columns, 1, width, columns)."""
    units, width = weight.shape
    blocks = weight.reshape(units // columns, columns, width)
    return blocks.transpose(0, 2, 1).copy()[:, None]


def product_lines(
    call: Any, x: str, weight: int, rows: int, width: int, units: int, out: str, is_fresh: bool
) -> list[str]:
    """Lines that compute `x @ weight.T` of (rows, units), in C order; `x` is (rows, width).

    They write into the array `out`, or make it where it `is_fresh`. `weight` is the position of the input. In exact
    calls, and where the weight is not known ahead, it is the product that the kernel computes.
    """
    tiles = None if call.exact or not call.is_prepared(weight) else choose_tiles(rows, width, units)
    if tiles is None:
        known = transposed_view if call.exact or rows == 1 or rows >= _MANY_ROWS else transposed
        right = call.prepared("packed", known, [weight], (width, units)) or f"{call.inputs[weight]}.T"
        return [f"{out} = {x}.dot({right})" if is_fresh else f"{x}.dot({right}, {out})"]
    blocks = units // tiles.columns
    packed = call.prepared("packed", tiled, [weight], (blocks, 1, width, tiles.columns), tiles.columns)
    lines = [f"{out} = {call.empty((rows, units))}"] if is_fresh else []
    for start, count, size in tiles.parts(rows):
        part = "" if count * size == rows else f"[{start}:{start + count * size}]"
        result = f"{out}{part}.reshape({count}, {size}, {blocks}, {tiles.columns})"
        if rows > units:  # a few rows by all blocks of the weight, which stay in the cache
            operands = f"{x}{part}.reshape({count}, 1, {size}, {width}), {packed}[:, 0]"
            lines.append(f"{call.function('matmul')}({operands}, out={result}.transpose(0, 2, 1, 3))")
        else:  # all rows by one block of it
            operands = f"{x}{part}.reshape({count}, {size}, {width}), {packed}"
            lines.append(f"{call.function('matmul')}({operands}, out={result}.transpose(2, 0, 1, 3))")
    return lines
