"""_histogram: how many values fall into each bin."""

from __future__ import annotations

from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import Dtypes, OpDef, Sample, Shapes


def _active(attrs: Attrs) -> tuple[str, ...]:
    return ("data",) if attrs.bin_cnt is not None else ("data", "bins")


def _kernel(xp: Any, attrs: Attrs, data: Any, bins: Any = None) -> tuple[Any, Any]:
    flat = data.reshape(-1)
    if attrs.bin_cnt is None:
        edges, count = bins, bins.shape[0] - 1
        position = xp.searchsorted(edges, flat, side="right") - 1
        position = xp.where(flat == edges[-1], count - 1, position)  # the last bin holds its right edge
        inside = (position >= 0) & (position < count) & (flat <= edges[-1])
    else:
        (low, high), count = attrs.range, attrs.bin_cnt
        edges = xp.linspace(low, high, count + 1).astype(data.dtype)
        values = flat.astype("float64")
        inside = (values >= low) & (values <= high)
        position = xp.where(inside, (values - low) * (count / (high - low)), 0).astype("int64")
        position = _corrected(xp, flat, edges, xp.minimum(position, count - 1))
    counts = xp.bincount(xp.where(inside, position, 0), weights=inside.astype("float64"), minlength=count)
    return counts.astype("int64"), edges.copy()


def _corrected(xp: Any, flat: Any, edges: Any, position: Any) -> Any:
    """The bins by the edges as they are, one further at most: of integers the edges are whole numbers."""
    position = position - (flat < edges[position])
    return position + ((flat >= edges[position + 1]) & (position + 2 < edges.shape[0]))


def _infer_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    if attrs.bin_cnt is not None:
        if attrs.range is None or len(attrs.range) != 2 or attrs.range[0] >= attrs.range[1]:
            raise MXNetError(f"`range` must be (low, high) with low < high beside `bin_cnt`, got {attrs.range}")
        if attrs.bin_cnt < 1:
            raise MXNetError(f"`bin_cnt` must be positive, got {attrs.bin_cnt}")
        return ins, [(attrs.bin_cnt,), (attrs.bin_cnt + 1,)]
    bins = ins[1]
    if bins is None:
        return ins, [(-1,), (-1,)]
    if len(bins) != 1 or bins[0] in (0, 1):
        raise MXNetError(f"`bins` must be a vector of at least two edges, got shape {bins}")
    return ins, [(bins[0] - 1 if bins[0] > 0 else -1,), bins]


def _infer_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    if len(ins) == 2 and ins[0] is not None and ins[1] is not None and ins[0] != ins[1]:
        raise MXNetError(f"the dtypes {ins[0]} of `data` and {ins[1]} of `bins` differ; convert one with `astype`")
    return ins, ["int64", ins[0]]


OPERATORS: tuple[OpDef, ...] = (
    OpDef(
        "_histogram",
        _kernel,
        inputs=("data", "bins"),
        attrs=(Attr("bin_cnt", "int?", None), Attr("range", "floats?", None)),
        outputs=("output0", "output1"),
        active_inputs=_active,
        infer_shape=_infer_shape,
        infer_dtype=_infer_dtype,
        aliases=("_npi_histogram",),
        doc="The number of values in each bin (int64) and the edges of the bins: `bin_cnt` equal ones over `range`, or "
        "those whose edges `bins` lists in growing order. The last bin holds its right edge; values outside are "
        "left out.",
        samples=(
            Sample(((12,),), {"bin_cnt": 4, "range": (0, 4)}, low=0, high=4),
            Sample(((2, 3), (4,)), low=0, high=3, values={1: [0.0, 0.5, 1.0, 2.5]}),
            Sample(((0,),), {"bin_cnt": 3, "range": (0, 1)}),
            Sample(((3,),), {"bin_cnt": 3, "range": (1, 0)}, error="MXNetError"),
            Sample(((3,),), error="MXNetError"),
        ),
    ),
)
