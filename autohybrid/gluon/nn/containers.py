"""Sequential and HybridSequential: layers one after the other."""

from __future__ import annotations

import warnings
from typing import Any

from autohybrid.gluon.block import Block
from autohybrid.gluon.hybrid_block import HybridBlock

__all__ = ["HybridSequential", "Sequential"]


class _Stack(Block):
    """What both stacks share: adding, indexing, slicing (a slice shares the layers), length and repr."""

    def add(self, *blocks: Block) -> None:
        """Append layers."""
        for block in blocks:
            self.register_child(block)

    def __repr__(self) -> str:
        lines = []
        for key, block in self._children.items():
            inner = repr(block).replace("\n", "\n  ")
            lines.append(f"  ({key}): {inner}")
        return f"{type(self).__name__}(\n" + "\n".join(lines) + "\n)"

    def __getitem__(self, key: Any) -> Any:
        layers = list(self._children.values())[key]
        if not isinstance(layers, list):
            return layers
        stack = type(self)(prefix=self._prefix)
        with stack.name_scope():
            stack.add(*layers)
        return stack

    def __len__(self) -> int:
        return len(self._children)


class Sequential(_Stack):
    """Layers one after the other, of any kind.

    >>> net = nn.Sequential()
    >>> net.add(nn.Dense(10, activation='relu'), nn.Dense(20))
    """

    def forward(self, x: Any) -> Any:
        for block in self._children.values():
            x = block(x)
        return x

    def hybridize(self, active: bool = True, **kwargs: Any) -> None:
        """Hybridize the children, each for itself."""
        if self._children and all(isinstance(child, HybridBlock) for child in self._children.values()):
            warnings.warn(
                f"all children of Sequential `{self.name}` are HybridBlocks; as a HybridSequential it would become one "
                "graph",
                stacklevel=2,
            )
        super().hybridize(active, **kwargs)


class HybridSequential(_Stack, HybridBlock):
    """Layers one after the other, all of them HybridBlocks; becomes one graph.

    >>> net = nn.HybridSequential()
    >>> net.add(nn.Dense(10, activation='relu'), nn.Dense(20))
    """

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        for block in self._children.values():
            x = block(x)
        return x
