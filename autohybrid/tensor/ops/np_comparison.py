"""Comparisons of `mx.np`: of two arrays that broadcast together, or of an array and a number. The result is boolean.

Beside an integer array a number is truncated to an integer first, as everywhere in numpy mode of MXNet 1.9.1, unless
the call says `is_int=False`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attrs
from autohybrid.tensor.elementwise import SCALAR_ATTRS, with_scalar
from autohybrid.tensor.opdef import Dtypes, OpDef, Sample, zero_gradient
from autohybrid.tensor.shapes import broadcast, fixed_dtype

#: numpy's name -> how it reads, and the relation seen from the other side.
_RELATIONS = {
    "equal": "x == y",
    "not_equal": "x != y",
    "greater": "x > y",
    "greater_equal": "x >= y",
    "less": "x < y",
    "less_equal": "x <= y",
}


def _comparable(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    x, y = ins
    if x is not None and y is not None and x != y:
        raise MXNetError(f"the dtypes {x} and {y} differ, and are not promoted by a comparison; convert one")
    return [x or y, y or x], ["bool"]


def _pair(name: str, formula: str) -> OpDef:
    def kernel(xp: Any, attrs: Attrs, x: Any, y: Any) -> Any:
        return xp.asarray(getattr(xp, name)(x, y))

    return OpDef(
        f"_npi_{name}",
        kernel,
        inputs=("lhs", "rhs"),
        infer_shape=broadcast,
        infer_dtype=_comparable,
        grad=zero_gradient,
        doc=f"{formula}, for arrays that broadcast together: a boolean array.",
        samples=(
            *(Sample(pair) for pair in (((2, 3), (2, 3)), ((2, 1), (1, 3)), ((), (2,)), ((0, 3), (1, 3)))),
            Sample(((2, 3), (3,)), low=0, high=3, dtypes=("int32", "int32")),
            Sample(((2, 3), (2, 4)), error="MXNetError"),
            Sample(((2,), (2,)), dtypes=("float32", "float64"), error="MXNetError"),
        ),
    )


def _with_number(name: str, formula: str) -> OpDef:
    def kernel(xp: Any, attrs: Attrs, x: Any) -> Any:
        return xp.asarray(getattr(xp, name)(*with_scalar(x, attrs)))

    return OpDef(
        f"_npi_{name}_scalar",
        kernel,
        attrs=SCALAR_ATTRS,
        infer_dtype=fixed_dtype("bool"),
        grad=zero_gradient,
        doc=f"{formula} with a number y: a boolean array.",
        samples=(
            Sample(((2, 3),), {"scalar": 0.25}),
            Sample(((),)),
            Sample(((0, 3),), {"scalar": 2}),
            Sample(((5,),), {"scalar": 2}, low=0, high=4, dtypes=("int32",)),
            Sample(((2,),), {"scalar": "a"}, error="MXNetError"),
        ),
    )


def _records(build: Callable[[str, str], OpDef]) -> tuple[OpDef, ...]:
    return tuple(build(name, formula) for name, formula in _RELATIONS.items())


OPERATORS: tuple[OpDef, ...] = (*_records(_pair), *_records(_with_number))
