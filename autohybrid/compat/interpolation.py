"""The choice of OpenCV's interpolation that image code of other packages asks for by number."""

from __future__ import annotations

_AREA, _CUBIC, _BILINEAR = 3, 2, 1


def get_interp_method(interp: int, sizes: tuple[int, ...] = ()) -> int:
    """OpenCV's number of an interpolation: 9 chooses by `sizes` (old height, width, new height, width), 10 at random.

    Enlarging is cubic, shrinking by area, a mixture bilinear; without sizes 9 is cubic. Raises ValueError for a number
    that is none.
    """
    if interp == 9:
        if not sizes:
            return _CUBIC
        old_height, old_width, new_height, new_width = sizes
        if new_height > old_height and new_width > old_width:
            return _CUBIC
        if new_height < old_height and new_width < old_width:
            return _AREA
        return _BILINEAR
    if interp == 10:
        import random

        return random.randint(0, 4)
    if interp not in (0, 1, 2, 3, 4):
        raise ValueError(f"Unknown interp method {interp}")
    return interp
