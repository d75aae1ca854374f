"""Operators for probability densities: `_random_pdf_*`, plain or as logarithms, with gradients for the parameters too.

The parameters have the leading axes of the sample; the sample's further axes hold several values for one parameter.
Neither values nor parameters are checked against the support, as in MXNet.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor import special
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import Dtypes, GradNode, OpDef, Sample, Shape, Shapes
from autohybrid.tensor.reduction import finish
from autohybrid.tensor.shapes import same_dtype, unify

_LOG = Attr("is_log", "bool", False, doc="give the logarithm")


# -- bringing a parameter to the shape of the sample, and a gradient back --------------------------------------------
def _spread_array(xp: Any, parameter: Any, shape: tuple[int, ...], kept: int) -> Any:
    """`parameter` repeated along the axes that `shape` has before its last `kept` ones and `parameter` has not."""
    front = parameter.ndim - kept
    gap = (1,) * (len(shape) - parameter.ndim)
    return xp.broadcast_to(parameter.reshape(parameter.shape[:front] + gap + parameter.shape[front:]), shape)


def _spread(xp: Any, attrs: Attrs, parameter: Any, sample: Any) -> Any:
    return _spread_array(xp, parameter, sample.shape, attrs.kept)


def _collect(xp: Any, attrs: Attrs, head: Any, parameter: Any) -> Any:
    front = parameter.ndim - attrs.kept
    gap = tuple(range(front, front + head.ndim - parameter.ndim))
    return head.sum(axis=gap, dtype=head.dtype) if gap else head.copy()


def _infer_second(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    shape = unify(ins[1], outs[0])
    return [ins[0], shape], [shape]


def _grad_spread(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    return [F._collect_parameter(heads[0], node.inputs[0], kept=node.attrs.kept), None]


def _grad_collect(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    return [F._spread_parameter(heads[0], node.inputs[0], kept=node.attrs.kept), None]


# -- logarithms of densities, and their derivatives for (sample, *parameters) ----------------------------------------
def _log_uniform(xp: Any, x: Any, low: Any, high: Any) -> Any:
    return -xp.log(high - low)


def _uniform(xp: Any, x: Any, low: Any, high: Any) -> Any:
    return 1 / (high - low)


def _d_uniform(F: Any, x: Any, low: Any, high: Any) -> tuple[Any, ...]:
    width = F.reciprocal(high - low)
    return F.zeros_like(x), width, -width


def _log_normal(xp: Any, x: Any, mu: Any, sigma: Any) -> Any:
    z = (x - mu) / sigma
    return -0.5 * z * z - xp.log(sigma) - 0.5 * math.log(2 * math.pi)


def _d_normal(F: Any, x: Any, mu: Any, sigma: Any) -> tuple[Any, ...]:
    z = (x - mu) / sigma
    return -z / sigma, z / sigma, (z * z - 1) / sigma


def _log_gamma(xp: Any, x: Any, alpha: Any, beta: Any) -> Any:
    return alpha * xp.log(beta) + (alpha - 1) * xp.log(x) - beta * x - special.gammaln(xp, alpha)


def _d_gamma(F: Any, x: Any, alpha: Any, beta: Any) -> tuple[Any, ...]:
    return (alpha - 1) / x - beta, F.log(beta * x) - F._polygamma(alpha), alpha / beta - x


def _log_exponential(xp: Any, x: Any, lam: Any) -> Any:
    return xp.log(lam) - lam * x


def _d_exponential(F: Any, x: Any, lam: Any) -> tuple[Any, ...]:
    return -lam, F.reciprocal(lam) - x


def _log_poisson(xp: Any, x: Any, lam: Any) -> Any:
    return x * xp.log(lam) - special.gammaln(xp, x + 1) - lam


def _d_poisson(F: Any, x: Any, lam: Any) -> tuple[Any, ...]:
    return None, x / lam - 1


def _log_negative_binomial(xp: Any, x: Any, k: Any, p: Any) -> Any:
    ways = special.gammaln(xp, x + k) - special.gammaln(xp, x + 1) - special.gammaln(xp, k)
    return ways + k * xp.log(p) + x * xp.log1p(-p)


def _d_negative_binomial(F: Any, x: Any, k: Any, p: Any) -> tuple[Any, ...]:
    return None, F._polygamma(x + k) - F._polygamma(k) + F.log(p), k / p - x / (1 - p)


def _log_generalized(xp: Any, x: Any, mu: Any, alpha: Any) -> Any:
    return _log_negative_binomial(xp, x, 1 / alpha, 1 / (mu * alpha + 1))


def _d_generalized(F: Any, x: Any, mu: Any, alpha: Any) -> tuple[Any, ...]:
    scale = mu * alpha + 1
    k, p = F.reciprocal(alpha), F.reciprocal(scale)
    _, for_k, for_p = _d_negative_binomial(F, x, k, p)
    for_p = for_p * p * p
    return None, -for_p * alpha, -for_k * k * k - for_p * mu


def _log_dirichlet(xp: Any, x: Any, alpha: Any) -> Any:
    whole = special.gammaln(xp, alpha.sum(axis=-1)) - special.gammaln(xp, alpha).sum(axis=-1)
    return finish(whole + ((alpha - 1) * xp.log(x)).sum(axis=-1))


def _d_dirichlet(F: Any, x: Any, alpha: Any) -> tuple[Any, ...]:
    total = F.broadcast_like(F.sum(alpha, axis=-1, keepdims=True), alpha)
    return (alpha - 1) / x, F.log(x) - F._polygamma(alpha) + F._polygamma(total)


# -- the records -----------------------------------------------------------------------------------------------------
def _kernel(log_density: Callable[..., Any], kept: int, density: Callable[..., Any] | None) -> Callable[..., Any]:
    """The kernel of a density; where `density` is not given, it is the exponential of its logarithm."""

    def kernel(xp: Any, attrs: Attrs, sample: Any, *parameters: Any) -> Any:
        wide = "float32" if sample.dtype.name == "float16" else sample.dtype.name
        spread = [_spread_array(xp, p.astype(wide, copy=False), sample.shape, kept) for p in parameters]
        values = sample.astype(wide, copy=False)
        if density is not None and not attrs.is_log:
            return density(xp, values, *spread).astype(sample.dtype, copy=False)
        result = log_density(xp, values, *spread)
        return (result if attrs.is_log else xp.exp(result)).astype(sample.dtype, copy=False)

    return kernel


def _gradient(derivatives: Callable[..., Any], kept: int) -> Callable[..., Any]:
    def gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
        sample, *parameters = node.inputs
        weight = heads[0] if node.attrs.is_log else heads[0] * node.outputs[0]
        if kept:
            weight = F._spread(weight, sample, axis=(-1,))
        spread = [F._spread_parameter(p, sample, kept=kept) for p in parameters]
        for_sample, *others = derivatives(F, sample, *spread)
        collected = [F._collect_parameter(weight * d, p, kept=kept) for d, p in zip(others, parameters)]
        return [None if for_sample is None else weight * for_sample, *collected]

    return gradient


def _infer(kept: int) -> Callable[[Attrs, Shapes, Shapes], tuple[Shapes, Shapes]]:
    def infer(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
        parameter: Shape = None
        for given in ins[1:]:
            parameter = unify(parameter, given)
        sample = ins[0]
        if sample is not None and parameter is not None:
            front = len(parameter) - kept
            if len(parameter) > len(sample):
                raise MXNetError(f"the parameters of shape {parameter} have more dimensions than the sample {sample}")
            unify(sample[:front] + sample[len(sample) - kept :], parameter)
        out = None if sample is None else sample[: len(sample) - kept] or (1,)  # no arrays of rank 0
        return [sample, *[parameter] * (len(ins) - 1)], [unify(out, outs[0])]

    return infer


def _floats(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    ins, outs = same_dtype(attrs, ins, outs)
    if ins[0] is not None and not ins[0].startswith("float"):
        raise MXNetError(f"densities take floating point arrays, got {ins[0]}; convert with `astype`")
    return ins, outs


def _record(
    name: str,
    parameters: tuple[str, ...],
    log_density: Any,
    derivatives: Any,
    doc: str,
    discrete: bool = False,
    density: Any = None,
) -> OpDef:
    count = len(parameters)
    skipped = (0,) if discrete else ()
    return OpDef(
        f"_random_pdf_{name}",
        _kernel(log_density, 0, density),
        inputs=("sample", *parameters),
        attrs=(_LOG,),
        infer_shape=_infer(0),
        infer_dtype=_floats,
        grad=_gradient(derivatives, 0),
        aliases=(f"random_pdf_{name}",),
        doc=doc,
        samples=(
            Sample(((2, 3), *[(2,)] * count), low=0.2, high=0.9, nograd=skipped),
            Sample(((2, 3), *[(2,)] * count), {"is_log": True}, low=0.2, high=0.9, nograd=skipped),
            Sample(((1,),) * (count + 1), low=0.2, high=0.9, nograd=skipped),
            Sample(((2, 0), *[(2,)] * count), low=0.2, high=0.9, nograd=skipped),
            Sample(((2, 3), *[(3,)] * count), error="MXNetError"),
        ),
    )


_KEPT = Attr("kept", "int", 0, doc="last axes that both have")

OPERATORS: tuple[OpDef, ...] = (
    _record(
        "uniform",
        ("low", "high"),
        _log_uniform,
        _d_uniform,
        "1 / (high - low), wherever `sample` lies.",
        density=_uniform,
    ),
    _record("normal", ("mu", "sigma"), _log_normal, _d_normal, "The normal density of mean `mu`, deviation `sigma`."),
    _record("gamma", ("alpha", "beta"), _log_gamma, _d_gamma, "The gamma density of shape `alpha` and rate `beta`."),
    _record("exponential", ("lam",), _log_exponential, _d_exponential, "The exponential density of rate `lam`."),
    _record("poisson", ("lam",), _log_poisson, _d_poisson, "The Poisson probability with mean `lam`.", discrete=True),
    _record(
        "negative_binomial",
        ("k", "p"),
        _log_negative_binomial,
        _d_negative_binomial,
        "The probability of `sample` failures before `k` successes of probability `p`.",
        discrete=True,
    ),
    _record(
        "generalized_negative_binomial",
        ("mu", "alpha"),
        _log_generalized,
        _d_generalized,
        "The negative binomial probability with mean `mu` and dispersion `alpha`.",
        discrete=True,
    ),
    OpDef(
        "_random_pdf_dirichlet",
        _kernel(_log_dirichlet, 1, None),
        inputs=("sample", "alpha"),
        attrs=(_LOG,),
        infer_shape=_infer(1),
        infer_dtype=_floats,
        grad=_gradient(_d_dirichlet, 1),
        aliases=("random_pdf_dirichlet",),
        doc="The Dirichlet density of the vectors in the last axis of `sample`, with concentrations `alpha`.",
        samples=(
            Sample(((2, 3, 4), (2, 4)), low=0.2, high=0.9),
            Sample(((2, 3, 4), (2, 4)), {"is_log": True}, low=0.2, high=0.9),
            Sample(((2,), (2,)), low=0.2, high=0.9),
            Sample(((2, 3), (2,)), error="MXNetError"),
        ),
    ),
    OpDef(
        "_spread_parameter",
        _spread,
        inputs=("parameter", "sample"),
        attrs=(_KEPT,),
        infer_shape=_infer_second,
        grad=_grad_spread,
        view=True,
        doc="`parameter` repeated to the shape of `sample`, which has further axes before the last `kept` ones.",
        samples=(
            Sample(((2,), (2, 3, 4)), nograd=(1,)),
            Sample(((2, 3), (2, 5, 3)), {"kept": 1}, nograd=(1,)),
        ),
    ),
    OpDef(
        "_collect_parameter",
        _collect,
        inputs=("head", "parameter"),
        attrs=(_KEPT,),
        infer_shape=_infer_second,
        grad=_grad_collect,
        doc="`head` summed over the axes that `parameter` does not have.",
        samples=(
            Sample(((2, 3, 4), (2,)), nograd=(1,)),
            Sample(((2, 5, 3), (2, 3)), {"kept": 1}, nograd=(1,)),
        ),
    ),
)
