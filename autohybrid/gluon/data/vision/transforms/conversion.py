"""Transforms that convert: Compose, Cast, ToTensor, Normalize."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from autohybrid.gluon.hybrid_block import HybridBlock
from autohybrid.gluon.nn import HybridSequential
from autohybrid.gluon.nn import Sequential as PlainSequential
from autohybrid.numpy_semantics import is_np_array


class Compose(PlainSequential):
    """One transform after the other; neighbours that are HybridBlocks become one hybridized block."""

    def __init__(self, transforms: Sequence[Any]) -> None:
        super().__init__()
        for is_hybrid, group in groupby(transforms, lambda transform: isinstance(transform, HybridBlock)):
            members = list(group)
            if is_hybrid and len(members) > 1:
                joined = HybridSequential()
                joined.add(*members)
                joined.hybridize()
                members = [joined]
            self.add(*members)


class Cast(HybridBlock):
    """To another dtype."""

    def __init__(self, dtype: str = "float32") -> None:
        super().__init__()
        self._dtype = dtype

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return F.npx.cast(x, dtype=self._dtype) if is_np_array() else F.cast(x, dtype=self._dtype)


class ToTensor(HybridBlock):
    """An image (height, width, channels) of 0 to 255 becomes float32 (channels, height, width) of 0 to 1."""

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return F.npx.image.to_tensor(x) if is_np_array() else F.image.to_tensor(x)


class Normalize(HybridBlock):
    """`(x - mean) / std` by channel, for images (channels, height, width) or batches of them."""

    def __init__(self, mean: Any = 0.0, std: Any = 1.0) -> None:
        super().__init__()
        self._mean = mean
        self._std = std

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        if is_np_array():
            return F.npx.image.normalize(x, mean=self._mean, std=self._std)
        return F.image.normalize(x, mean=self._mean, std=self._std)
