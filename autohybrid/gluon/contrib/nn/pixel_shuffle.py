"""Pixel shuffles: channels become space, `(N, f * C, W)` to `(N, C, W * f)`, in one, two and three dimensions."""

from __future__ import annotations

from typing import Any

from autohybrid.gluon.hybrid_block import HybridBlock

__all__ = ["PixelShuffle1D", "PixelShuffle2D", "PixelShuffle3D"]


class PixelShuffle1D(HybridBlock):
    """`(N, f * C, W)` to `(N, C, W * f)`."""

    def __init__(self, factor: int) -> None:
        super().__init__()
        self._factor = int(factor)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        x = F.reshape(x, (0, -4, -1, self._factor, 0))  # (N, C, f, W)
        x = F.transpose(x, (0, 1, 3, 2))  # (N, C, W, f)
        return F.reshape(x, (0, 0, -3))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._factor})"


class PixelShuffle2D(HybridBlock):
    """`(N, f1 * f2 * C, H, W)` to `(N, C, H * f1, W * f2)`; one factor serves both."""

    def __init__(self, factor: Any) -> None:
        super().__init__()
        self._factors = _factors(factor, 2)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        f1, f2 = self._factors
        x = F.reshape(x, (0, -4, -1, f1 * f2, 0, 0))  # (N, C, f1 * f2, H, W)
        x = F.reshape(x, (0, 0, -4, f1, f2, 0, 0))  # (N, C, f1, f2, H, W)
        x = F.transpose(x, (0, 1, 4, 2, 5, 3))  # (N, C, H, f1, W, f2)
        return F.reshape(x, (0, 0, -3, -3))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._factors})"


class PixelShuffle3D(HybridBlock):
    """`(N, f1 * f2 * f3 * C, D, H, W)` to `(N, C, D * f1, H * f2, W * f3)`; one factor serves all."""

    def __init__(self, factor: Any) -> None:
        super().__init__()
        self._factors = _factors(factor, 3)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        # Axis after axis, because arrays of eight axes are beyond what transpose takes everywhere.
        f1, f2, f3 = self._factors
        x = F.reshape(x, (0, -4, -1, f1 * f2 * f3, 0, 0, 0))  # (N, C, f1 * f2 * f3, D, H, W)
        x = F.swapaxes(x, 2, 3)  # (N, C, D, f1 * f2 * f3, H, W)
        x = F.reshape(x, (0, 0, 0, -4, f1, f2 * f3, 0, 0))  # (N, C, D, f1, f2 * f3, H, W)
        x = F.reshape(x, (0, 0, -3, 0, 0, 0))  # (N, C, D * f1, f2 * f3, H, W)
        x = F.swapaxes(x, 3, 4)  # (N, C, D * f1, H, f2 * f3, W)
        x = F.reshape(x, (0, 0, 0, 0, -4, f2, f3, 0))  # (N, C, D * f1, H, f2, f3, W)
        x = F.reshape(x, (0, 0, 0, -3, 0, 0))  # (N, C, D * f1, H * f2, f3, W)
        x = F.swapaxes(x, 4, 5)  # (N, C, D * f1, H * f2, W, f3)
        return F.reshape(x, (0, 0, 0, 0, -3))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._factors})"


def _factors(factor: Any, rank: int) -> tuple[int, ...]:
    if not hasattr(factor, "__iter__"):
        return (int(factor),) * rank
    factors = tuple(int(f) for f in factor)
    if len(factors) != rank:
        raise AssertionError(f"{rank} factors are needed, not {len(factors)}")
    return factors
