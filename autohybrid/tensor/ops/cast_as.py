"""_cast_as: the dtype of another array, for gradients that must go back in the dtype of an input."""

from __future__ import annotations

from autohybrid.tensor.opdef import OpDef, Sample
from autohybrid.tensor.shapes import unify

OPERATORS = (
    OpDef(
        "_cast_as",
        lambda xp, attrs, data, like: data.astype(like.dtype),
        inputs=("data", "like"),
        infer_shape=lambda attrs, ins, outs: ([unify(ins[0], outs[0]), ins[1]], [unify(ins[0], outs[0])]),
        infer_dtype=lambda attrs, ins, outs: (ins, [ins[1]]),
        grad=lambda F, node, heads: [F._cast_as(heads[0], node.inputs[0]), None],
        doc="`data` in the dtype of `like`, whose shape and values do not matter.",
        samples=(Sample(((2, 3), (1,)), dtypes=("float32", "float32")),),
    ),
)
