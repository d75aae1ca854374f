"""Element-wise functions that networks bend their activations with: relu, sigmoid, softsign, hard_sigmoid, clip,
smooth_l1, and the small `contrib` ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.elementwise import in_floats, numeric_dtype
from autohybrid.tensor.opdef import GradNode, OpDef, Sample
from autohybrid.tensor.precision import narrow, widen
from autohybrid.tensor.shapes import same_floating
from autohybrid.tensor.special import logistic
from autohybrid.tensor.templates import elementwise_kernel, rectifier
from autohybrid.tensor.templates import logistic as logistic_template

_SHAPES: tuple[tuple[int, ...], ...] = ((1,), (2, 3), (3, 1, 5), (0, 2))


def _relu(xp: Any, attrs: Attrs, x: Any) -> Any:
    return xp.maximum(x, 0)


def _relu_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return F._backward_relu(heads[0], node.outputs[0])


def _sigmoid(xp: Any, attrs: Attrs, x: Any) -> Any:
    if x.dtype.kind == "f":
        return narrow(logistic(xp, *widen(xp, x)), x)
    return logistic(xp, x.astype("float64")).astype(x.dtype)


def _sigmoid_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    y = node.outputs[0]
    return heads[0] * (y * F._rminus_scalar(y, scalar=1.0))


def _softsign(xp: Any, x: Any) -> Any:
    return x / (xp.absolute(x) + 1)


def _softsign_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return heads[0] / F.square(F._plus_scalar(F.abs(node.inputs[0]), scalar=1.0))


def _hard_sigmoid(xp: Any, attrs: Attrs, x: Any) -> Any:
    return xp.clip(x * attrs.alpha + attrs.beta, 0, 1).astype(x.dtype, copy=False)


def _hard_sigmoid_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    y = node.outputs[0]
    inside = F._greater_scalar(y, scalar=0.0) * F._lesser_scalar(y, scalar=1.0)
    return F._mul_scalar(heads[0] * inside, scalar=node.attrs.alpha)


def _clip(xp: Any, attrs: Attrs, x: Any) -> Any:
    if x.dtype.kind == "f":
        return x.clip(attrs.a_min, attrs.a_max)
    return x.astype("float64").clip(attrs.a_min, attrs.a_max).astype(x.dtype)


def _clip_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    x, attrs = node.inputs[0], node.attrs
    inside = F._greater_equal_scalar(x, scalar=attrs.a_min) * F._lesser_equal_scalar(x, scalar=attrs.a_max)
    return heads[0] * inside


def _smooth_l1(xp: Any, attrs: Attrs, x: Any) -> Any:
    scalar = attrs.scalar if x.dtype.kind == "f" else int(attrs.scalar)  # MXNet computes in the dtype of the data
    if not scalar:
        return xp.zeros_like(x)
    square = scalar * scalar
    size = xp.absolute(x)
    return xp.where(size > 1 / square, size - 0.5 / square, x * x * (0.5 * square)).astype(x.dtype, copy=False)


def _smooth_l1_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    square = node.attrs.scalar * node.attrs.scalar
    return heads[0] * F.clip(F._mul_scalar(node.inputs[0], scalar=square), a_min=-1.0, a_max=1.0)


def _quadratic(xp: Any, attrs: Attrs, x: Any) -> Any:
    return ((attrs.a * x + attrs.b) * x + attrs.c).astype(x.dtype, copy=False)


def _quadratic_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    attrs = node.attrs
    return heads[0] * F._plus_scalar(F._mul_scalar(node.inputs[0], scalar=2 * attrs.a), scalar=attrs.b)


def _div_sqrt_dim(xp: Any, attrs: Attrs, x: Any) -> Any:
    root = math.sqrt(x.shape[-1])
    return (x / (root if x.dtype.kind == "f" else int(root))).astype(x.dtype, copy=False)


def _div_sqrt_dim_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return F._contrib_div_sqrt_dim(heads[0])


def _scaled_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return F._mul_scalar(heads[0], scalar=node.attrs.scalar, is_int=node.attrs.is_int)


def _copy(xp: Any, attrs: Attrs, x: Any) -> Any:
    return x.copy()


OPERATORS: tuple[OpDef, ...] = (
    OpDef(
        "relu",
        _relu,
        infer_dtype=numeric_dtype,
        grad=_relu_gradient,
        aliases=("_sparse_relu",),
        methods=("relu",),
        doc="max(x, 0), element by element; the gradient at 0 is 0.",
        fast=rectifier,
        samples=(*(Sample((s,)) for s in _SHAPES), Sample(((4,),), low=-3, high=3, dtypes=("int32",))),
    ),
    OpDef(
        "sigmoid",
        _sigmoid,
        infer_dtype=numeric_dtype,
        grad=_sigmoid_gradient,
        aliases=("_sparse_sigmoid",),
        methods=("sigmoid",),
        doc="1 / (1 + exp(-x)), element by element.",
        fast=logistic_template,
        samples=tuple(Sample((s,), low=-4, high=4) for s in _SHAPES),
    ),
    OpDef(
        "softsign",
        in_floats(_softsign),
        infer_dtype=numeric_dtype,
        grad=_softsign_gradient,
        methods=("softsign",),
        doc="x / (1 + |x|), element by element.",
        samples=tuple(Sample((s,), low=-3, high=3) for s in _SHAPES),
    ),
    OpDef(
        "hard_sigmoid",
        _hard_sigmoid,
        attrs=(Attr("alpha", "float", 0.2), Attr("beta", "float", 0.5)),
        infer_dtype=same_floating,
        grad=_hard_sigmoid_gradient,
        doc="alpha * x + beta, limited to [0, 1]; no gradient outside.",
        samples=(
            *(Sample((s,), low=-4, high=4) for s in _SHAPES),
            Sample(((5,),), {"alpha": 0.3, "beta": 0.4}, low=-4, high=4),
        ),
    ),
    OpDef(
        "clip",
        _clip,
        attrs=(Attr("a_min", "float"), Attr("a_max", "float")),
        infer_dtype=numeric_dtype,
        grad=_clip_gradient,
        fast=elementwise_kernel,
        aliases=("_npi_clip", "_sparse_clip"),
        methods=("clip",),
        doc="x limited to [a_min, a_max]; the gradient passes inside and at the bounds.",
        samples=(
            *(Sample((s,), {"a_min": -0.5, "a_max": 0.5}) for s in _SHAPES),
            Sample(((6,),), {"a_min": -2, "a_max": 2}, low=-5, high=5, dtypes=("int32",)),
            Sample(((6,),), {"a_min": -2}, error="MXNetError"),
        ),
    ),
    OpDef(
        "smooth_l1",
        _smooth_l1,
        attrs=(Attr("scalar", "float", 1.0),),
        infer_dtype=numeric_dtype,
        grad=_smooth_l1_gradient,
        aliases=("_npx_smooth_l1",),
        doc="With s = scalar: (s x)**2 / 2 where |x| < 1/s**2, else |x| - 1 / (2 s**2), element by element.",
        samples=(*(Sample((s,), {"scalar": 1.5}) for s in _SHAPES), Sample(((7,),), {"scalar": 1}, low=-3, high=3)),
    ),
    OpDef(
        "_contrib_quadratic",
        _quadratic,
        attrs=(Attr("a", "float", 0.0), Attr("b", "float", 0.0), Attr("c", "float", 0.0)),
        infer_dtype=numeric_dtype,
        grad=_quadratic_gradient,
        doc="a x**2 + b x + c, element by element.",
        samples=(
            Sample(((2, 3),)),
            Sample(((1,),), {"a": 1, "b": 2, "c": 3}),
            Sample(((0, 2),), {"a": 1}),
            Sample(((3, 5),), {"b": -1}),
        ),
    ),
    OpDef(
        "_contrib_div_sqrt_dim",
        _div_sqrt_dim,
        infer_dtype=numeric_dtype,
        grad=_div_sqrt_dim_gradient,
        doc="x divided by the square root of the length of its last axis.",
        samples=(Sample(((2, 3),)), Sample(((1,),)), Sample(((0, 2),)), Sample(((2, 3, 5),))),
    ),
    OpDef(
        "_contrib_gradientmultiplier",
        _copy,
        attrs=(Attr("scalar", "float", 1.0), Attr("is_int", "bool", True)),
        infer_dtype=numeric_dtype,
        grad=_scaled_gradient,
        doc="x itself; the gradient that flows back is multiplied by `scalar` (gradient reversal with -1).",
        samples=(Sample(((2, 3),)), Sample(((1,),), {"scalar": -0.5}, nograd=(0,)), Sample(((0, 2),))),
    ),
)
