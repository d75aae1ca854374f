"""Special functions, element by element: erf, erfinv, gamma, gammaln and, for their derivatives, polygamma.

The numerical work is in `tensor/special.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from autohybrid.tensor import special
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.elementwise import in_floats, numeric_dtype
from autohybrid.tensor.opdef import GradNode, OpDef, Sample


def _erf_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    bell = F.exp(F.negative(F.square(node.inputs[0])))
    return F._mul_scalar(heads[0] * bell, scalar=2 / math.sqrt(math.pi))


def _erfinv(xp: Any, attrs: Attrs, x: Any) -> Any:
    if x.dtype.kind == "f":
        return special.erfinv(xp, x)
    value = special.erfinv(xp, x)
    return xp.where(value != value, 0, value).astype(x.dtype)  # integers outside [-1, 1] give 0


def _erfinv_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return F._mul_scalar(heads[0] * F.exp(F.square(node.outputs[0])), scalar=0.5 * math.sqrt(math.pi))


def _gamma_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return heads[0] * (node.outputs[0] * F._polygamma(node.inputs[0], order=0))


def _gammaln_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return heads[0] * F._polygamma(node.inputs[0], order=0)


def _polygamma(xp: Any, attrs: Attrs, x: Any) -> Any:
    return special.polygamma(xp, x, attrs.order).astype(x.dtype, copy=False)


def _polygamma_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return heads[0] * F._polygamma(node.inputs[0], order=node.attrs.order + 1)


def _record(
    name: str,
    kernel: Callable[..., Any],
    gradient: Any,
    aliases: tuple[str, ...],
    low: float,
    high: float,
    doc: str,
) -> OpDef:
    return OpDef(
        name,
        kernel,
        infer_dtype=numeric_dtype,
        grad=gradient,
        aliases=aliases,
        doc=doc,
        samples=tuple(Sample((shape,), low=low, high=high) for shape in ((1,), (2, 3), (3, 1, 5), (0, 2))),
    )


OPERATORS: tuple[OpDef, ...] = (
    _record(
        "erf", in_floats(special.erf), _erf_gradient, ("_npx_erf",), -2, 2, "The error function, element by element."
    ),
    _record(
        "erfinv",
        _erfinv,
        _erfinv_gradient,
        ("_npx_erfinv",),
        -0.9,
        0.9,
        "The inverse of the error function, element by element: infinite at -1 and 1, NaN outside.",
    ),
    _record(
        "gamma",
        in_floats(special.gamma),
        _gamma_gradient,
        ("_npx_gamma", "_sparse_gamma"),
        0.5,
        4,
        "The gamma function, element by element.",
    ),
    _record(
        "gammaln",
        in_floats(special.gammaln),
        _gammaln_gradient,
        ("_npx_gammaln", "_sparse_gammaln"),
        0.5,
        5,
        "The logarithm of the absolute gamma function, element by element.",
    ),
    OpDef(
        "_polygamma",
        _polygamma,
        attrs=(Attr("order", "int", 0),),
        infer_dtype=numeric_dtype,
        grad=_polygamma_gradient,
        doc="The derivative of order `order` + 1 of `gammaln`: digamma for 0, trigamma for 1.",
        samples=tuple(
            Sample((shape,), {"order": order}, low=0.5, high=3)
            for shape, order in (((1,), 0), ((2, 3), 1), ((0, 2), 0), ((3,), 2))
        ),
    ),
)
