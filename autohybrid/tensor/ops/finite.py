"""all_finite and multi_all_finite: whether gradients hold neither infinities nor NaN, asked before an update."""

from __future__ import annotations

from typing import Any

from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import OpDef, Sample, Shapes
from autohybrid.tensor.shapes import fixed_dtype

_INIT = Attr("init_output", "bool", True, doc="False: with `out=`, an earlier 0 in it stays 0")


def _all_finite(xp: Any, attrs: Attrs, *arrays: Any) -> Any:
    result = xp.isfinite(arrays[0]).all()
    for array in arrays[1:]:
        result = result & xp.isfinite(array).all()
    return result.astype("float32").reshape(1)


def _join(attrs: Attrs) -> str | None:
    return None if attrs.init_output else "broadcast_minimum"


def _one(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    return ins, [(1,)]


OPERATORS: tuple[OpDef, ...] = (
    OpDef(
        "all_finite",
        _all_finite,
        attrs=(_INIT,),
        infer_shape=_one,
        infer_dtype=fixed_dtype("float32"),
        out_join=_join,
        doc="1 when every element is finite, else 0; shape (1,), float32.",
        samples=(
            Sample(((2, 3),)),
            Sample(((1,),), values={0: [float("nan")]}),
            Sample(((0, 2),)),
            Sample(((3, 5),), {"init_output": False}),
        ),
    ),
    OpDef(
        "multi_all_finite",
        _all_finite,
        attrs=(Attr("num_arrays", "int", 1), _INIT),
        variadic="num_arrays",
        active_inputs=lambda attrs: tuple(f"array_{i}" for i in range(attrs.num_arrays)),
        infer_shape=_one,
        infer_dtype=fixed_dtype("float32"),
        out_join=_join,
        doc="1 when every element of all `num_arrays` arrays is finite, else 0; shape (1,), float32.",
        samples=(
            Sample(((2, 3), (4,)), {"num_arrays": 2}),
            Sample(((1,),), values={0: [float("inf")]}),
            Sample(((0, 2), (1,)), {"num_arrays": 2}),
            Sample(((2, 3), (4,)), error="MXNetError"),
        ),
    ),
)
