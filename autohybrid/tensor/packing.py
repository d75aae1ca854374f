"""Matrix products with a matrix that is known ahead of the calls, for code templates: `y = x @ weight.T`.

BLAS reads a packed (width, units) weight faster than a transposed one. Where there are few rows, or a short width, one
call over tiles that are small enough for its kernels without packing is faster still: x is seen as blocks of `rows`,
the weight is stored as blocks of `columns`. The rules come from measurements of OpenBLAS on processors with AVX-512.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

#: OpenBLAS multiplies without packing up to this many multiplications; beyond, tiles do not pay.
_SMALL_PRODUCT = 1_000_000
#: With more rows than this, what BLAS saves by a packed weight is lost among the products.
_MANY_ROWS = 512


@dataclass(frozen=True, slots=True)
class Tiles:
    """Blocks of a product: `rows` of x by `columns` of the weight."""

    rows: int
    columns: int


def choose_tiles(rows: int, width: int, units: int) -> Tiles | None:
    """The tiles for x of (rows, width) by a weight of (units, width); None where one product is faster."""
    if rows < 8 or (rows > 32 and width > 256):
        return None
    tiles = Tiles(8 if rows == 8 else 16, 64 if width <= 256 else 32)
    if rows % tiles.rows or units % tiles.columns or tiles.rows * tiles.columns * width > _SMALL_PRODUCT * 3 // 5:
        return None
    return tiles


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


def product_lines(call: Any, x: str, weight: int, rows: int, width: int, units: int, out: str) -> list[str]:
    """Lines that write `x @ weight.T` into the array `out` of (rows, units), in C order; `x` is (rows, width).

    `weight` is the position of the input. In exact calls, and where the weight is not known ahead, it is the product
    that the kernel computes.
    """
    if call.exact or not call.is_prepared(weight):
        return [f"{x}.dot({call.inputs[weight]}.T, {out})"]
    if rows == 1 or rows >= _MANY_ROWS:
        return [f"{x}.dot({call.prepared('flipped', transposed_view, [weight], (width, units))}, {out})"]
    tiles = choose_tiles(rows, width, units)
    if tiles is None:
        return [f"{x}.dot({call.prepared('packed', transposed, [weight], (width, units))}, {out})"]
    blocks, parts = rows // tiles.rows, units // tiles.columns
    packed = call.prepared("packed", tiled, [weight], (parts, 1, width, tiles.columns), tiles.columns)
    left = f"{x}.reshape({blocks}, {tiles.rows}, {width})"  # all rows by one block, which stays in the cache
    result = f"{out}.reshape({blocks}, {tiles.rows}, {parts}, {tiles.columns}).transpose(2, 0, 1, 3)"
    return [f"{call.function('matmul')}({left}, {packed}, out={result})"]
