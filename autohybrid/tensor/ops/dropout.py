"""Dropout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import GradNode, OpDef, Sample, Shape, Shapes
from autohybrid.tensor.shapes import normalize_axis, same_floating, unify


def _infer_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    if not 0 <= attrs.p <= 1:
        raise MXNetError(f"`p` is the probability of dropping an element and must lie in [0, 1], got {attrs.p}")
    data = unify(ins[0], outs[0])
    if data is None:
        return ins, outs
    shared = [normalize_axis(a, len(data), "axes") for a in attrs.axes]
    return [data], [data, tuple(1 if k in shared else n for k, n in enumerate(data))]


def _drops(attrs: Attrs, train: bool) -> bool:
    return attrs.p > 0 and (train or attrs.mode == "always")


def _kernel(xp: Any, attrs: Attrs, data: Any, *, train: bool, rng: Any) -> tuple[Any, Any]:
    shared = [a % data.ndim for a in attrs.axes]
    shape = tuple([1 if k in shared else n for k, n in enumerate(data.shape)])
    if not _drops(attrs, train):
        return data.copy(), xp.broadcast_to(xp.ones((), dtype=data.dtype), shape)
    keep = 1 - attrs.p
    if keep == 0:
        mask = xp.zeros(shape, dtype=data.dtype)
    else:
        mask = (rng.random(shape, dtype=xp.float32) < keep).astype(data.dtype)
        mask *= data.dtype.type(1 / keep)
    return data * mask, mask


def _grad(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    if not _drops(node.attrs, node.train):
        return heads[0]
    if node.attrs.axes:
        return F.broadcast_mul(heads[0], node.outputs[1])
    return heads[0] * node.outputs[1]


OPERATORS = (
    OpDef(
        "Dropout",
        _kernel,
        attrs=(
            Attr("p", "float", 0.5, low=0, high=1),
            Attr("mode", "enum", "training", ("always", "training")),
            Attr("axes", "shape", ()),
            Attr("cudnn_off", "bool?", False),
        ),
        outputs=("output", "mask"),
        visible=lambda attrs: 1,
        infer_shape=_infer_shape,
        infer_dtype=same_floating,
        grad=_grad,
        aliases=("_npx_dropout",),
        random=True,
        train_dependent=True,
        is_identity=lambda attrs, train: not _drops(attrs, train),
        doc="""Each element is 0 with probability `p`, else divided by 1 - p; in predict mode the data unchanged.

        `mode='always'` drops in predict mode too. The mask is shared along `axes`.""",
        samples=(
            Sample(((3, 4),)),
            Sample(((1,),), {"p": 0.0}),
            Sample(((3, 4, 5),), {"p": 0.3, "axes": (1,)}),
            Sample(((0, 3),)),
            Sample(((3,),), {"p": 1.5}, error="MXNetError"),
        ),
    ),
)
