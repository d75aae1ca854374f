"""calibrate_entropy: the range of numbers that 8-bit integers lose least of, chosen from a histogram.

Every range that is symmetric about the middle bin is tried. The numbers outside it are counted in its outer bins, the
bins are merged into as many as there are integers and spread again over those that were not empty. The range with the
least Kullback-Leibler divergence between the two distributions is the answer. The arithmetic is that of MXNet 1.9.1,
sums in float32 one after the other included: neighbouring ranges often differ by less than its rounding.
"""

from __future__ import annotations

from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import Dtypes, OpDef, Sample, Shapes
from autohybrid.tensor.shapes import unify

_EPS = 1e-4


def _infer_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    hist, edges = ins
    if hist is not None and -1 not in hist:
        if len(hist) != 1 or hist[0] % 2 == 0:
            raise MXNetError(f"`hist` must have one axis and an odd number of bins, got shape {hist}")
        if not 1 <= attrs.num_quantized_bins <= hist[0]:
            raise MXNetError(
                f"`num_quantized_bins` must be from 1 to the {hist[0]} bins, got {attrs.num_quantized_bins}"
            )
        edges = unify(edges, (hist[0] + 1,))
    return [hist, edges], [(1,), (1,)]


def _infer_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    if any(dtype is not None and not dtype.startswith("float") for dtype in ins):
        raise MXNetError(f"`hist` and `hist_edges` must be of dtype float32, got {ins}")
    return [dtype or "float32" for dtype in ins], ["float32", "float32"]


def _total(xp: Any, values: Any) -> Any:
    """The sum in float32, one number after the other."""
    return xp.cumsum(values, dtype="float32")[-1] if values.size else xp.float32(0)


def _spread(xp: Any, attrs: Attrs, inner: Any, counted: Any) -> Any:
    """`inner` merged into the quantized bins, each of which is spread over its bins that are not empty."""
    bins, size = attrs.num_quantized_bins, len(inner)
    owner = xp.minimum(xp.arange(size) // (size // bins), bins - 1)
    sums = xp.bincount(owner, weights=inner, minlength=bins).astype("float32")
    full = xp.bincount(owner, weights=(inner != 0), minlength=bins).astype("float32")
    share = xp.where(full != 0, sums / xp.maximum(full, 1), 0).astype("float32")
    return xp.where(counted != 0, share[owner], xp.float32(0))


def _smoothed(xp: Any, values: Any) -> Any:
    """`values` with empty bins at `_EPS`, which the others give; None where they cannot."""
    empty = values == 0
    count = int(empty.sum().item())
    if count == len(values) or _EPS * count >= len(values) - count:
        return None
    taken = xp.float32(_EPS) * xp.float32(count) / xp.float32(len(values) - count)
    return xp.where(empty, xp.float32(_EPS), values - taken)


def _divergence(xp: Any, counted: Any, quantized: Any) -> Any:
    if xp.minimum(counted, quantized).min().item() <= 0:
        raise MXNetError("bins of `hist` hold less than 0.0001 after smoothing; give counts")
    p, q = counted / _total(xp, counted), quantized / _total(xp, quantized)
    return _total(xp, p * xp.log(p / q))


def _calibrate(xp: Any, attrs: Attrs, hist: Any, edges: Any) -> Any:
    hist, edges, middle = hist.astype("float32"), edges.astype("float32"), len(hist) // 2
    first = attrs.num_quantized_bins // 2
    best, threshold = float(xp.finfo("float32").max), edges[middle + first + 1 : middle + first + 2]
    for half in range(first, middle + 1):
        start, stop = middle - half, middle + half + 1
        counted = hist[start:stop].copy()
        counted[0] = _total(xp, hist[: start + 1])
        counted[-1] = _total(xp, xp.concatenate([hist[stop - 1 : stop], hist[stop:]]))
        inner = xp.trunc(hist[start:stop]).astype("float64")
        inner[0] = 0
        quantized = _smoothed(xp, _spread(xp, attrs, inner, counted))
        if quantized is None:
            continue
        divergence = _divergence(xp, _smoothed(xp, counted), quantized).item()
        if divergence < best:
            threshold, best = edges[stop : stop + 1], divergence
    return threshold.copy(), xp.full(1, best, dtype="float32")


OPERATORS: tuple[OpDef, ...] = (
    OpDef(
        "_contrib_calibrate_entropy",
        _calibrate,
        inputs=("hist", "hist_edges"),
        attrs=(Attr("num_quantized_bins", "int", 255),),
        outputs=("threshold", "divergence"),
        infer_shape=_infer_shape,
        infer_dtype=_infer_dtype,
        doc="""The upper end of the symmetric range over which 8-bit integers lose least of what was counted in `hist`,
        and the divergence that is left.

        `hist` (n,) counts in bins between the n + 1 `hist_edges`; n is odd.""",
        samples=(
            Sample(((7,), (8,)), {"num_quantized_bins": 3}, values={0: [1, 4, 9, 20, 7, 5, 2], 1: list(range(8))}),
            Sample(((6,), (7,)), {"num_quantized_bins": 3}, error="MXNetError"),
        ),
    ),
)
