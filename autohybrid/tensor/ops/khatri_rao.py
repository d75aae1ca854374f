"""khatri_rao: the column-wise Kronecker product."""

from __future__ import annotations

from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import OpDef, Sample, Shapes
from autohybrid.tensor.shapes import require_known, unify_dim


def _kernel(xp: Any, attrs: Attrs, *matrices: Any) -> Any:
    result = matrices[0].copy()
    for matrix in matrices[1:]:
        result = (result[:, None, :] * matrix[None, :, :]).reshape(-1, matrix.shape[1])
    return result


def _infer(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    rows, columns = 1, -1
    require_known([f"arg{i}" for i in range(len(ins))], ins)
    for shape in ins:
        assert shape is not None
        if len(shape) != 2:
            raise MXNetError(f"every input must be a matrix, got shape {shape}")
        rows = -1 if -1 in (rows, shape[0]) else rows * shape[0]
        columns = unify_dim(columns, shape[1])
    return ins, [(rows, columns)]


OPERATORS: tuple[OpDef, ...] = (
    OpDef(
        "khatri_rao",
        _kernel,
        inputs=("args",),
        attrs=(Attr("num_args", "int"),),
        variadic="num_args",
        infer_shape=_infer,
        doc="The column-wise Kronecker product of matrices (n1, k), (n2, k)...: shape (n1 * n2 * ..., k).",
        samples=(
            Sample(((2, 3), (4, 3))),
            Sample(((2, 3), (1, 3), (5, 3))),
            Sample(((1, 1),)),
            Sample(((0, 2), (3, 2))),
            Sample(((2, 3), (2, 4)), error="MXNetError"),
        ),
    ),
)
