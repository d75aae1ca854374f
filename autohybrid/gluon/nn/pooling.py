"""Pooling layers. Layouts name the axes: N batch, C channels, D, H, W space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autohybrid.gluon.hybrid_block import HybridBlock
from autohybrid.gluon.nn.convolution import Ints, as_tuple, check_layout, checked_tuple

__all__ = [
    "AvgPool1D", "AvgPool2D", "AvgPool3D", "GlobalAvgPool1D", "GlobalAvgPool2D", "GlobalAvgPool3D", "GlobalMaxPool1D",
    "GlobalMaxPool2D", "GlobalMaxPool3D", "MaxPool1D", "MaxPool2D", "MaxPool3D",
]  # fmt: skip

_LAYOUTS = {1: ("NCW", "NWC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}


class _Pooling(HybridBlock):
    """A pooling of any rank; `pool_size` is a tuple and gives the rank."""

    def __init__(
        self,
        pool_size: Sequence[int],
        strides: Ints | None,
        padding: Ints,
        ceil_mode: bool,
        global_pool: bool,
        pool_type: str,
        layout: str,
        count_include_pad: bool | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        rank = len(pool_size)
        self._kwargs = {
            "kernel": pool_size, "stride": as_tuple(pool_size if strides is None else strides, rank),
            "pad": as_tuple(padding, rank), "global_pool": global_pool, "pool_type": pool_type, "layout": layout,
            "pooling_convention": "full" if ceil_mode else "valid",
        }  # fmt: skip
        if count_include_pad is not None:
            self._kwargs["count_include_pad"] = count_include_pad

    def _alias(self) -> str:
        return "pool"

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return F.Pooling(x, name="fwd", **self._kwargs)

    def __repr__(self) -> str:
        kwargs = self._kwargs
        return (
            f"{type(self).__name__}(size={kwargs['kernel']}, stride={kwargs['stride']}, padding={kwargs['pad']}, "
            f"ceil_mode={kwargs['pooling_convention'] == 'full'}, global_pool={kwargs['global_pool']}, "
            f"pool_type={kwargs['pool_type']}, layout={kwargs['layout']})"
        )


def _checked_layout(layer: HybridBlock, layout: str | None, rank: int) -> str:
    known = _LAYOUTS[rank]
    check_layout(type(layer).__name__, layout := layout or known[0], known)
    return layout


class _MaxPool(_Pooling):
    _rank: int

    def __init__(
        self,
        pool_size: Ints = 2,
        strides: Ints | None = None,
        padding: Ints = 0,
        layout: str | None = None,
        ceil_mode: bool = False,
        **kwargs: Any,
    ) -> None:
        layout = _checked_layout(self, layout, self._rank)
        size = checked_tuple(pool_size, self._rank, "pool_size")
        super().__init__(size, strides, padding, ceil_mode, False, "max", layout, **kwargs)


class _GlobalPool(_Pooling):
    _rank: int
    _kind: str

    def __init__(self, layout: str | None = None, **kwargs: Any) -> None:
        layout = _checked_layout(self, layout, self._rank)
        super().__init__((1,) * self._rank, None, 0, True, True, self._kind, layout, **kwargs)


class MaxPool1D(_MaxPool):
    """Maxima of windows of `(N, C, W)`. `strides` defaults to `pool_size`; `ceil_mode` keeps a last partial window."""

    _rank = 1


class MaxPool2D(_MaxPool):
    """Maxima of windows of `(N, C, H, W)`."""

    _rank = 2


class MaxPool3D(_Pooling):
    """Maxima of windows of `(N, C, D, H, W)`."""

    def __init__(
        self,
        pool_size: Ints = (2, 2, 2),
        strides: Ints | None = None,
        padding: Ints = 0,
        ceil_mode: bool = False,
        layout: str = "NCDHW",
        **kwargs: Any,
    ) -> None:
        layout = _checked_layout(self, layout, 3)
        size = checked_tuple(pool_size, 3, "pool_size")
        super().__init__(size, strides, padding, ceil_mode, False, "max", layout, **kwargs)


class AvgPool1D(_Pooling):
    """Means of windows of `(N, C, W)`. `count_include_pad` counts the padding as zeros."""

    def __init__(
        self,
        pool_size: Ints = 2,
        strides: Ints | None = None,
        padding: Ints = 0,
        layout: str = "NCW",
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        **kwargs: Any,
    ) -> None:
        layout = _checked_layout(self, layout, 1)
        size = checked_tuple(pool_size, 1, "pool_size")
        super().__init__(size, strides, padding, ceil_mode, False, "avg", layout, count_include_pad, **kwargs)


class _AvgPool(_Pooling):
    _rank: int

    def __init__(
        self,
        pool_size: Ints = 2,
        strides: Ints | None = None,
        padding: Ints = 0,
        ceil_mode: bool = False,
        layout: str | None = None,
        count_include_pad: bool = True,
        **kwargs: Any,
    ) -> None:
        layout = _checked_layout(self, layout, self._rank)
        size = checked_tuple(pool_size, self._rank, "pool_size")
        super().__init__(size, strides, padding, ceil_mode, False, "avg", layout, count_include_pad, **kwargs)


class AvgPool2D(_AvgPool):
    """Means of windows of `(N, C, H, W)`."""

    _rank = 2


class AvgPool3D(_AvgPool):
    """Means of windows of `(N, C, D, H, W)`."""

    _rank = 3


class GlobalMaxPool1D(_GlobalPool):
    """The maximum over W; the axis stays, with extent 1."""

    _rank, _kind = 1, "max"


class GlobalMaxPool2D(_GlobalPool):
    """The maximum over H and W; both axes stay, with extent 1."""

    _rank, _kind = 2, "max"


class GlobalMaxPool3D(_GlobalPool):
    """The maximum over D, H and W; the axes stay, with extent 1."""

    _rank, _kind = 3, "max"


class GlobalAvgPool1D(_GlobalPool):
    """The mean over W; the axis stays, with extent 1."""

    _rank, _kind = 1, "avg"


class GlobalAvgPool2D(_GlobalPool):
    """The mean over H and W; both axes stay, with extent 1."""

    _rank, _kind = 2, "avg"


class GlobalAvgPool3D(_GlobalPool):
    """The mean over D, H and W; the axes stay, with extent 1."""

    _rank, _kind = 3, "avg"
