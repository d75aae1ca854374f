"""Integer functions of `mx.np`, of two arrays or with a number: bitwise and, or, xor, and the least common multiple."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attrs
from autohybrid.tensor.elementwise import SCALAR_ATTRS, wrapped
from autohybrid.tensor.opdef import Dtypes, OpDef, Sample, zero_gradient
from autohybrid.tensor.shapes import broadcast, same_dtype

_FUNCTIONS = {
    "bitwise_and": "The bits that both x and y have",
    "bitwise_or": "The bits that x or y has",
    "bitwise_xor": "The bits that exactly one of x and y has",
    "lcm": "The least common multiple of x and y",
}


def _whole(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    ins, outs = same_dtype(attrs, ins, outs)
    if ins[0] is not None and ins[0].startswith("float"):
        raise MXNetError(f"only integer and boolean dtypes are supported, got {ins[0]}; convert with `astype('int32')`")
    return ins, outs


def _compute(name: str) -> Callable[[Any, Any, Any], Any]:
    def compute(xp: Any, x: Any, y: Any) -> Any:
        if name == "lcm" and x.dtype.kind == "b":  # numpy has no lcm of booleans; of 0 and 1 it is their product
            return xp.logical_and(x, y)
        return getattr(xp, name)(x, y)

    return compute


def _pair(name: str, doc: str) -> OpDef:
    compute = _compute(name)
    return OpDef(
        f"_npi_{name}",
        lambda xp, attrs, x, y: xp.asarray(compute(xp, x, y)),
        inputs=("lhs", "rhs"),
        infer_shape=broadcast,
        infer_dtype=_whole,
        grad=zero_gradient,
        doc=f"{doc}, for integer arrays that broadcast together.",
        samples=(
            Sample(((2, 3), (3,)), low=1, high=20, dtypes=("int32", "int32")),
            Sample(((), (2,)), low=1, high=20, dtypes=("int64", "int64")),
            Sample(((0, 3), (1, 3)), low=1, high=5, dtypes=("uint8", "uint8")),
            Sample(((2, 3), (2, 3)), error="MXNetError"),
        ),
    )


def _with_number(name: str, doc: str) -> OpDef:
    compute = _compute(name)

    def kernel(xp: Any, attrs: Attrs, x: Any) -> Any:
        number = bool(attrs.scalar) if x.dtype.kind == "b" else wrapped(int(attrs.scalar), x.dtype)
        return xp.asarray(compute(xp, x, xp.asarray(number, dtype=x.dtype)))

    return OpDef(
        f"_npi_{name}_scalar",
        kernel,
        attrs=SCALAR_ATTRS,
        infer_dtype=_whole,
        grad=zero_gradient,
        doc=f"{doc}, where y is a number.",
        samples=(
            Sample(((2, 3),), {"scalar": 6}, low=1, high=20, dtypes=("int32",)),
            Sample(((),), {"scalar": 4}, low=1, high=20, dtypes=("int64",)),
            Sample(((2, 3),), {"scalar": 2}, error="MXNetError"),
        ),
    )


OPERATORS: tuple[OpDef, ...] = (
    *(_pair(name, doc) for name, doc in _FUNCTIONS.items()),
    *(_with_number(name, doc) for name, doc in _FUNCTIONS.items()),
)
