"""A counter that moves whenever something that a compiled graph was built from may have changed.

Setting an attribute of a block, attaching a hook, or giving a parameter another array moves it. Compiled calls compare
it with the value they last saw, and look closer only when it moved.
"""

from __future__ import annotations

from autohybrid.tensor.versions import changes


class _Epoch:
    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0

    def move(self) -> None:
        """Something may have changed."""
        self.value += 1
        changes.move()


epoch = _Epoch()
