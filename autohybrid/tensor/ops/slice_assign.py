"""Operators that give an array with a range replaced, the graph's form of `x[a:b] = value`: _slice_assign(_scalar)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import GradNode, OpDef, Sample, Shapes
from autohybrid.tensor.ops.slice import RANGE
from autohybrid.tensor.shapes import unify
from autohybrid.tensor.slicing import slice_key, sliced_shape


def _ranges(attrs: Attrs) -> dict[str, Any]:
    return {"begin": attrs.begin, "end": attrs.end, "step": attrs.step}


def _key(attrs: Attrs, shape: tuple[int, ...]) -> tuple[slice, ...]:
    return slice_key(attrs.begin, attrs.end, attrs.step, shape)


def _infer_assign(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    whole = unify(ins[0], outs[0])
    if whole is None:
        return ins, outs
    part = unify(ins[1], sliced_shape(attrs.begin, attrs.end, attrs.step, whole))
    return [whole, part], [whole]


def _assign(xp: Any, attrs: Attrs, data: Any, values: Any) -> Any:
    result = data.copy()
    result[_key(attrs, data.shape)] = values
    return result


def _grad_assign(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    ranges = _ranges(node.attrs)
    return [F._slice_assign_scalar(heads[0], scalar=0.0, **ranges), F.slice(heads[0], **ranges)]


def _infer_assign_scalar(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    whole = unify(ins[0], outs[0])
    if whole is not None:
        sliced_shape(attrs.begin, attrs.end, attrs.step, whole)
    return [whole], [whole]


def _assign_scalar(xp: Any, attrs: Attrs, data: Any) -> Any:
    result = data.copy()
    result[_key(attrs, data.shape)] = attrs.scalar
    return result


def _grad_assign_scalar(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return F._slice_assign_scalar(heads[0], scalar=0.0, **_ranges(node.attrs))


OPERATORS: tuple[OpDef, ...] = (
    OpDef(
        "_slice_assign",
        _assign,
        inputs=("lhs", "rhs"),
        attrs=RANGE,
        infer_shape=_infer_assign,
        grad=_grad_assign,
        aliases=("_crop_assign", "_npi_slice_assign"),
        doc="`lhs` with `lhs[begin:end:step]` replaced by `rhs`, which has that shape.",
        samples=(
            Sample(((3, 4), (2, 2)), {"begin": (0, 1), "end": (2, 3)}),
            Sample(((3, 4), (3, 2)), {"begin": (None, -1), "end": (None, None), "step": (1, -2)}),
            Sample(((1,), (1,)), {"begin": (0,), "end": (1,)}),
            Sample(((3, 4), (3, 4)), {"begin": (0,), "end": (1,)}, error="MXNetError"),
        ),
    ),
    OpDef(
        "_slice_assign_scalar",
        _assign_scalar,
        attrs=(Attr("scalar", "float", 0.0), *RANGE),
        infer_shape=_infer_assign_scalar,
        grad=_grad_assign_scalar,
        aliases=("_crop_assign_scalar", "_npi_slice_assign_scalar"),
        doc="`data` with `data[begin:end:step]` replaced by a number.",
        samples=(
            Sample(((3, 4),), {"scalar": 5.0, "begin": (0, 1), "end": (2, 3)}),
            Sample(((1,),), {"begin": (0,), "end": (1,)}),
            Sample(((3, 4),), {"scalar": 7, "begin": (-1, None), "end": (None, None), "step": (1, 2)}),
            Sample(((3,),), {"begin": (0, 0), "end": (1, 1)}, error="MXNetError"),
        ),
    ),
)
