"""The sum of matrix products whose factors are made one pair after the other, through the same buffers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from autohybrid.tensor.pieces import Empty


def sum_of_products(xp: Any, factors: Iterable[tuple[Any, Any]], total: Any, empty: Empty) -> None:
    """The sum of `left @ right` over all pairs into `total`, in their order; zeros where there is none.

    A pair is used up before the next one is asked for. `empty` makes the memory for the second product and later ones.
    """
    product: Any = None
    count = 0
    for left, right in factors:
        if count == 0:
            xp.matmul(left, right, out=total)
        else:
            if product is None:
                product = empty(total.shape, total.dtype)
            xp.matmul(left, right, out=product)
            xp.add(total, product, out=total)
        count += 1
    if count == 0:
        total[...] = 0
