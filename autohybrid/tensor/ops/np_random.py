"""Operators behind `mx.np.random` and `mx.npx.random`: each parameter is a number or an array, and all broadcast.

Without `size` the result has the parameters' broadcast shape, with it that size (`*_n`: that size in front of the
broadcast shape). Where MXNet 1.9.1 differentiates the drawn numbers by location and scale, so does this.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import Dtypes, GradNode, OpDef, Sample, Shape, Shapes, zero_gradient
from autohybrid.tensor.ops.random_draw import compute_dtype
from autohybrid.tensor.shapes import broadcast_shape, fixed_dtype, unify

_CTX = Attr("ctx", "str", "", doc="the device; the current one by default")
_SIZE = Attr("size", "shape?", None, doc="extents of the result; those of the parameters by default")
_DTYPE = Attr("dtype", "dtype?", None, ("float16", "float32", "float64"), doc="float32 by default")


@dataclass(frozen=True, slots=True)
class _Law:
    """One distribution. `draw(xp, rng, shape, dtype, *parameters)`; `moves` says how the result follows the
    parameters: 'location and scale', 'scale', or '' when no gradient flows."""

    name: str
    parameters: tuple[str, ...]
    draw: Callable[..., Any]
    doc: str
    moves: str = ""
    typed: bool = False
    in_front: bool = False
    checks: tuple[tuple[int, str], ...] = ()


# -- how numbers are drawn ---------------------------------------------------------------------------------------------
def _uniform(xp: Any, rng: Any, shape: tuple[int, ...], dtype: str, low: Any, high: Any) -> Any:
    return rng.random(shape, dtype=dtype) * (high - low) + low


def _normal(xp: Any, rng: Any, shape: tuple[int, ...], dtype: str, loc: Any, scale: Any) -> Any:
    return rng.standard_normal(shape, dtype=dtype) * scale + loc


def _gamma(xp: Any, rng: Any, shape: tuple[int, ...], dtype: str, alpha: Any, scale: Any) -> Any:
    return rng.standard_gamma(alpha, shape, dtype=dtype) * scale


def _open_interval(rng: Any, shape: tuple[int, ...], dtype: str) -> Any:
    """Numbers above 0 and at most 1, which logarithms take."""
    return 1 - rng.random(shape, dtype=dtype)


def _exponential(xp: Any, rng: Any, shape: tuple[int, ...], dtype: str, scale: Any) -> Any:
    return rng.standard_exponential(shape, dtype=dtype) * scale


def _gumbel(xp: Any, rng: Any, shape: tuple[int, ...], dtype: str, loc: Any, scale: Any) -> Any:
    return loc - scale * xp.log(rng.standard_exponential(shape, dtype=dtype))


def _logistic(xp: Any, rng: Any, shape: tuple[int, ...], dtype: str, loc: Any, scale: Any) -> Any:
    share = _open_interval(rng, shape, "float64")
    return loc + scale * (xp.log(share) - xp.log1p(-xp.minimum(share, 1 - 1e-16)))


def _rayleigh(xp: Any, rng: Any, shape: tuple[int, ...], dtype: str, scale: Any) -> Any:
    return scale * xp.sqrt(2 * rng.standard_exponential(shape, dtype=dtype))


def _weibull(xp: Any, rng: Any, shape: tuple[int, ...], dtype: str, a: Any) -> Any:
    return rng.standard_exponential(shape, dtype=dtype) ** (1 / a)


def _pareto(xp: Any, rng: Any, shape: tuple[int, ...], dtype: str, a: Any) -> Any:
    return xp.expm1(rng.standard_exponential(shape, dtype=dtype) / a)


def _power(xp: Any, rng: Any, shape: tuple[int, ...], dtype: str, a: Any) -> Any:
    return _open_interval(rng, shape, dtype) ** (1 / a)


_LAWS = (
    _Law("uniform", ("low", "high"), _uniform, "evenly from `low` to `high`", "ends", typed=True),
    _Law("normal", ("loc", "scale"), _normal, "normally, by mean and standard deviation", "location and scale",
         typed=True, checks=((1, "at least 0"),)),
    _Law("uniform_n", ("low", "high"), _uniform, "evenly from `low` to `high`", "ends", typed=True, in_front=True),
    _Law("normal_n", ("loc", "scale"), _normal, "normally, by mean and standard deviation", "location and scale",
         typed=True, in_front=True, checks=((1, "at least 0"),)),
    _Law("gamma", ("shape", "scale"), _gamma, "from the gamma distribution", typed=True,
         checks=((0, "above 0"), (1, "above 0"))),
    _Law("exponential", ("scale",), _exponential, "exponentially, by mean", "scale", checks=((0, "at least 0"),)),
    _Law("gumbel", ("loc", "scale"), _gumbel, "from the Gumbel distribution", "location and scale",
         checks=((1, "at least 0"),)),
    _Law("logistic", ("loc", "scale"), _logistic, "from the logistic distribution", "location and scale",
         checks=((1, "at least 0"),)),
    _Law("rayleigh", ("scale",), _rayleigh, "from the Rayleigh distribution", "scale", checks=((0, "at least 0"),)),
    _Law("weibull", ("a",), _weibull, "from the Weibull distribution", checks=((0, "above 0"),)),
    _Law("pareto", ("a",), _pareto, "from the Pareto distribution, moved to begin at 0", checks=((0, "above 0"),)),
    _Law("powerd", ("a",), _power, "from 0 to 1 with density a * x**(a - 1)", checks=((0, "above 0"),)),
)  # fmt: skip


# -- records -----------------------------------------------------------------------------------------------------------
def _inputs(law: _Law) -> Callable[[Attrs], tuple[str, ...]]:
    def active(attrs: Attrs) -> tuple[str, ...]:
        count = sum(getattr(attrs, name) is None for name in law.parameters)
        return tuple(f"input{i + 1}" for i in range(count))

    return active


def _values(law: _Law, attrs: Attrs, arrays: Sequence[Any]) -> list[Any]:
    """Every parameter, the arrays standing where no number was given."""
    rest = iter(arrays)
    return [next(rest) if getattr(attrs, name) is None else getattr(attrs, name) for name in law.parameters]


def _drawn_shape(law: _Law, attrs: Attrs, shapes: Sequence[Shape]) -> Shape:
    spread: Shape = ()
    for shape in shapes:
        spread = broadcast_shape(spread, shape)
    if attrs.size is None:
        return spread
    if law.in_front:
        return None if spread is None else (*attrs.size, *spread)
    if spread is not None and broadcast_shape(spread, attrs.size) != attrs.size:
        raise MXNetError(f"parameters of shape {spread} do not broadcast to `size` {attrs.size}")
    return attrs.size  # type: ignore[no-any-return]


def _check(law: _Law, values: Sequence[Any]) -> None:
    for place, words in law.checks:
        value = values[place]
        # Arrays are not looked at, which would wait for the device: wrong elements give NaN.
        if isinstance(value, float) and not (value > 0 if words == "above 0" else value >= 0):
            raise MXNetError(f"`{law.parameters[place]}` of the {law.name} distribution must be {words}")


def _record(law: _Law) -> OpDef:
    def infer(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
        return ins, [unify(_drawn_shape(law, attrs, ins), out) for out in outs]

    def kernel(xp: Any, attrs: Attrs, *arrays: Any, rng: Any) -> Any:
        dtype = (getattr(attrs, "dtype", None) or "float32") if law.typed else "float32"
        values = _values(law, attrs, arrays)
        _check(law, values)
        shape = _drawn_shape(law, attrs, [a.shape for a in arrays])
        assert shape is not None
        return xp.asarray(law.draw(xp, rng, shape, compute_dtype(dtype), *values)).astype(dtype, copy=False)

    def gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
        found = [F._unbroadcast(F._cast_as(slope, x), x) for slope, x in _slopes(F, law, node, heads[0])]
        return found if len(found) > 1 else found[0]

    numbers = tuple(Attr(name, "float?", None) for name in law.parameters)
    arrays = tuple((2,) for _ in law.parameters)
    given = dict.fromkeys(law.parameters, 0.8)
    untested = tuple(range(len(arrays)))
    wrong = {**given, law.parameters[law.checks[0][0]]: -1.0} if law.checks else {}
    return OpDef(
        f"_npi_{law.name}", kernel, inputs=tuple(f"input{i + 1}" for i in range(len(law.parameters))),
        active_inputs=_inputs(law), attrs=(*numbers, _SIZE, _CTX, *((_DTYPE,) if law.typed else ())),
        infer_shape=infer, infer_dtype=_typed_dtype if law.typed else fixed_dtype("float32"),
        grad=gradient if law.moves else zero_gradient, random=True,
        doc=f"Numbers drawn {law.doc}. A parameter that is not given as a number is an array, in order.",
        samples=(
            Sample(attrs={**given, "size": (2, 3)}), Sample(attrs=given),
            Sample(arrays, low=0.4, high=0.9, nograd=untested),
            Sample(arrays, {"size": (3, 2)}, low=0.4, high=0.9, nograd=untested),
            *((Sample(attrs=wrong, error="MXNetError"),) if wrong else ()),
        ),
    )  # fmt: skip


def _slopes(F: Any, law: _Law, node: GradNode, head: Any) -> list[tuple[Any, Any]]:
    """For every array parameter the head times the derivative of the drawn numbers by it, and the parameter."""
    values = _values(law, node.attrs, node.inputs)
    out = node.outputs[0]
    if law.moves == "scale":
        slopes = [F._npi_true_divide(F._npi_multiply(head, out), values[0])] if node.inputs else []
    else:
        first, second = values
        distance = _less(F, out, first)
        width = _less(F, second, first) if law.moves == "ends" else second
        share = _over(F, distance, width)
        by_first = _less_one(F, head, share) if law.moves == "ends" else head
        slopes = [by_first, F._npi_multiply(head, share)]
        slopes = [s for s, name in zip(slopes, law.parameters) if getattr(node.attrs, name) is None]
    return list(zip(slopes, node.inputs))


def _less(F: Any, x: Any, y: Any) -> Any:
    if isinstance(y, float):
        return x - y if isinstance(x, float) else F._npi_subtract_scalar(x, scalar=y)
    return F._npi_rsubtract_scalar(y, scalar=x) if isinstance(x, float) else F._npi_subtract(x, y)


def _over(F: Any, x: Any, y: Any) -> Any:
    return F._npi_true_divide_scalar(x, scalar=y) if isinstance(y, float) else F._npi_true_divide(x, y)


def _less_one(F: Any, head: Any, share: Any) -> Any:
    return F._npi_multiply(head, F._npi_rsubtract_scalar(share, scalar=1.0))


def _typed_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    return ins, [attrs.dtype or "float32"]


# -- bernoulli, choice, multinomial ------------------------------------------------------------------------------------
def _bernoulli_inputs(attrs: Attrs) -> tuple[str, ...]:
    return ("input1",) if attrs.prob is None and attrs.logit is None else ()


def _infer_bernoulli(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    shape = (ins[0] if ins else ()) if attrs.size is None else attrs.size
    return ins, [unify(shape, outs[0])]


def _bernoulli(xp: Any, attrs: Attrs, *arrays: Any, rng: Any) -> Any:
    number = attrs.logit if attrs.is_logit else attrs.prob
    value = arrays[0].astype("float64") if arrays else xp.asarray(number)
    share = 1 / (1 + xp.exp(-value)) if attrs.is_logit else value
    shape = value.shape if attrs.size is None else attrs.size
    return xp.asarray(rng.random(shape, dtype="float64") < share).astype(attrs.dtype)


_BERNOULLI_TYPES = ("float32", "float64", "float16", "bool", "uint8", "int32", "int64")


def _choice_inputs(attrs: Attrs) -> tuple[str, ...]:
    count = (attrs.a is None) + attrs.weighted
    return tuple(f"input{i + 1}" for i in range(count))


def _infer_choice(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    return ins, [unify(attrs.size or (), outs[0])]


def _choice(xp: Any, attrs: Attrs, *arrays: Any, rng: Any) -> Any:
    """Positions from 0 to a - 1; where a is an array, its elements are taken by the caller."""
    rest = list(arrays)
    extent = rest.pop(0).shape[0] if attrs.a is None else attrs.a
    size = attrs.size or ()
    count = prod(size)
    if not attrs.replace and count > extent:
        raise MXNetError(f"{count} different ones cannot be chosen out of {extent} (replace=False)")
    if rest:
        weights = rest[0].astype("float64")
        if weights.shape != (extent,):
            raise MXNetError(f"`p` must have {extent} probabilities, got shape {weights.shape}")
        if attrs.replace:
            limits = xp.cumsum(weights)
            found = xp.searchsorted(limits, rng.random(count, dtype="float64") * limits[-1], side="right")
            found = xp.minimum(found, extent - 1)
        else:  # the first of exponential clocks that run at these rates
            clocks = rng.standard_exponential(extent, dtype="float64") / xp.maximum(weights, 1e-300)
            found = xp.argsort(clocks)[:count]
    elif attrs.replace:
        found = rng.integers(0, extent, count)
    else:
        found = xp.argsort(rng.random(extent, dtype="float64"))[:count]
    return xp.asarray(found).astype("int64").reshape(size)


def _infer_multinomial(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    classes = (len(attrs.pvals),) if attrs.pvals is not None else ins[0]
    return ins, [None if classes is None else unify((*(attrs.size or ()), *classes), outs[0])]


def _multinomial(xp: Any, attrs: Attrs, *arrays: Any, rng: Any) -> Any:
    shares = arrays[0].astype("float64") if arrays else xp.asarray(attrs.pvals, dtype="float64")
    if shares.ndim != 1 or shares.sum().item() > 1 + 1e-5 or (shares < 0).any().item():
        raise MXNetError("`pvals` must be a vector of probabilities that sum to at most 1")
    size = attrs.size or ()
    limits = xp.cumsum(shares)
    points = rng.random((prod(size), attrs.n), dtype="float64")
    classes = xp.minimum(xp.searchsorted(limits, points, side="right"), len(shares) - 1)
    found = (classes[..., None] == xp.arange(len(shares))).sum(axis=1)
    return found.astype("int64").reshape((*size, len(shares)))


OPERATORS: tuple[OpDef, ...] = (
    *map(_record, _LAWS),
    OpDef(
        "_npi_bernoulli", _bernoulli, inputs=("input1",), active_inputs=_bernoulli_inputs,
        attrs=(Attr("prob", "float?", None), Attr("logit", "float?", None), _SIZE, _CTX,
               Attr("dtype", "dtype", "float32", _BERNOULLI_TYPES), Attr("is_logit", "bool", False)),
        infer_shape=_infer_bernoulli, infer_dtype=lambda attrs, ins, outs: (ins, [attrs.dtype]), grad=zero_gradient,
        random=True, doc="Ones with a probability, or with the logistic function of a logit, else zeros.",
        samples=(Sample(attrs={"prob": 0.3, "size": (2, 3)}), Sample(((4,),), {"is_logit": True})),
    ),
    OpDef(
        "_npi_choice", _choice, inputs=("input1", "input2"), active_inputs=_choice_inputs,
        attrs=(Attr("a", "int?", None, doc="how many there are; else the first input's extent"), _SIZE, _CTX,
               Attr("replace", "bool", True, doc="whether one may come twice"), Attr("weighted", "bool", False)),
        infer_shape=_infer_choice, infer_dtype=fixed_dtype("int64"), grad=zero_gradient, random=True,
        doc="Positions chosen at random, by weights or evenly.",
        samples=(Sample(attrs={"a": 5, "size": (3,)}), Sample(attrs={"a": 3, "size": (3,), "replace": False}),
                 Sample(((3,),), {"a": 3, "size": (2,), "weighted": True}, low=0.2, high=1),
                 Sample(attrs={"a": 2, "size": (3,), "replace": False}, error="MXNetError")),
    ),
    OpDef(
        "_npi_multinomial", _multinomial, inputs=("a",),
        active_inputs=lambda attrs: () if attrs.pvals is not None else ("a",),
        attrs=(Attr("n", "int", doc="how many experiments"), Attr("pvals", "floats?", None, doc="probabilities"),
               _SIZE),
        infer_shape=_infer_multinomial, infer_dtype=fixed_dtype("int64"), grad=zero_gradient, random=True,
        doc="How often each of several outcomes came, in `n` experiments.",
        samples=(Sample(attrs={"n": 5, "pvals": (0.2, 0.8)}),
                 Sample(((3,),), {"n": 4, "size": (2,)}, values={0: [0.2, 0.3, 0.5]})),
    ),
)  # fmt: skip
