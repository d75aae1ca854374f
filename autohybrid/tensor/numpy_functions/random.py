"""`mx.np.random`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autohybrid.tensor.numpy_dialect import Dialect

NAMESPACE = "random"


def draw(F: Dialect, law: str, parameters: dict[str, Any], size: Any, dtype: Any, ctx: Any, out: Any) -> Any:
    """Numbers of a distribution: parameters that are numbers become attributes, the arrays inputs, in order."""
    arrays = [value for value in parameters.values() if F.is_tensor(value)]
    numbers = {name: value for name, value in parameters.items() if not F.is_tensor(value)}
    attrs: dict[str, Any] = {**numbers, **dict.fromkeys(parameters.keys() - numbers.keys())}
    if size is not None:
        attrs["size"] = size
    if dtype is not None:
        attrs["dtype"] = dtype
    if ctx is not None:
        attrs["ctx"] = str(ctx)
    return F.call(f"_npi_{law}", *arrays, out=out, **attrs)


def uniform(F: Dialect, low: Any = 0.0, high: Any = 1.0, size: Any = None, dtype: Any = None, ctx: Any = None,
            out: Any = None) -> Any:  # fmt: skip
    """Numbers drawn evenly from `low` to `high`."""
    return draw(F, "uniform", {"low": low, "high": high}, size, dtype, ctx, out)


def normal(F: Dialect, loc: Any = 0.0, scale: Any = 1.0, size: Any = None, dtype: Any = None, ctx: Any = None,
           out: Any = None) -> Any:  # fmt: skip
    """Numbers drawn normally, by mean and standard deviation."""
    return draw(F, "normal", {"loc": loc, "scale": scale}, size, dtype, ctx, out)


def lognormal(F: Dialect, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None, dtype: Any = None, ctx: Any = None,
              out: Any = None) -> Any:  # fmt: skip
    """Numbers whose logarithms are drawn normally."""
    return F.call("_npi_exp", normal(F, mean, sigma, size, dtype, ctx), out=out)


def gamma(F: Dialect, shape: Any, scale: Any = 1.0, size: Any = None, dtype: Any = None, ctx: Any = None,
          out: Any = None) -> Any:  # fmt: skip
    """Numbers drawn from the gamma distribution."""
    return draw(F, "gamma", {"shape": shape, "scale": scale}, size, dtype, ctx, out)


def beta(F: Dialect, a: Any, b: Any, size: Any = None, dtype: Any = None, ctx: Any = None) -> Any:
    """Numbers drawn from the beta distribution."""
    first, second = gamma(F, a, 1.0, size, dtype, ctx), gamma(F, b, 1.0, size, dtype, ctx)
    return first / (first + second)


def chisquare(F: Dialect, df: Any, size: Any = None, dtype: Any = None, ctx: Any = None) -> Any:
    """Numbers drawn from the chi-square distribution."""
    return gamma(F, df / 2, 2.0, size, dtype, ctx)


def exponential(F: Dialect, scale: Any = 1.0, size: Any = None, ctx: Any = None, out: Any = None) -> Any:
    """Numbers drawn exponentially, by mean."""
    return draw(F, "exponential", {"scale": scale}, size, None, ctx, out)


def gumbel(F: Dialect, loc: Any = 0.0, scale: Any = 1.0, size: Any = None, ctx: Any = None, out: Any = None) -> Any:
    """Numbers drawn from the Gumbel distribution."""
    return draw(F, "gumbel", {"loc": loc, "scale": scale}, size, None, ctx, out)


def logistic(F: Dialect, loc: Any = 0.0, scale: Any = 1.0, size: Any = None, ctx: Any = None, out: Any = None) -> Any:
    """Numbers drawn from the logistic distribution."""
    return draw(F, "logistic", {"loc": loc, "scale": scale}, size, None, ctx, out)


def rayleigh(F: Dialect, scale: Any = 1.0, size: Any = None, ctx: Any = None, out: Any = None) -> Any:
    """Numbers drawn from the Rayleigh distribution."""
    return draw(F, "rayleigh", {"scale": scale}, size, None, ctx, out)


def _of_a(law: str, doc: str) -> Callable[..., Any]:
    def function(F: Dialect, a: Any, size: Any = None, ctx: Any = None, out: Any = None) -> Any:
        return draw(F, law, {"a": a}, size, None, ctx, out)

    function.__doc__ = doc
    return function


def randint(
    F: Dialect, low: Any, high: Any = None, size: Any = None, dtype: Any = None, ctx: Any = None, out: Any = None
) -> Any:
    """Integers from `low` below `high`, or from 0 below `low`; int64 by default."""
    if high is None:
        low, high = 0, low
    wanted = () if size is None else (size,) if isinstance(size, int) else tuple(size)
    place = {} if ctx is None else {"ctx": str(ctx)}
    drawn = F.call("_random_randint", low=low, high=high, shape=wanted or (1,), dtype=dtype or "int64", **place)
    result = drawn if wanted else F.call("_np_reshape", drawn, newshape=())
    return result if out is None else F.call("_np_copy", result, out=out)


def rand(F: Dialect, *size: int, **kwargs: Any) -> Any:
    """Numbers drawn evenly from 0 to 1, in a shape given by its extents."""
    return uniform(F, 0.0, 1.0, size, **_only_place(kwargs))


def randn(F: Dialect, *size: int, **kwargs: Any) -> Any:
    """Numbers drawn normally around 0, in a shape given by its extents."""
    return normal(F, 0.0, 1.0, size, **_only_place(kwargs))


def _only_place(kwargs: dict[str, Any]) -> dict[str, Any]:
    """The keywords `dtype` and `ctx`. Raises TypeError for others."""
    for name in kwargs:
        if name not in ("dtype", "ctx"):
            raise TypeError(f"the keyword {name!r} is not taken here; there are `dtype` and `ctx`")
    return kwargs


def choice(
    F: Dialect, a: Any, size: Any = None, replace: bool = True, p: Any = None, ctx: Any = None, out: Any = None
) -> Any:
    """Elements of a vector, or numbers below `a`, chosen at random: evenly, or with probabilities `p`."""
    attrs: dict[str, Any] = {"replace": replace, "weighted": p is not None}
    if size is not None:
        attrs["size"] = size
    if ctx is not None:
        attrs["ctx"] = str(ctx)
    weights = [] if p is None else [p if F.is_tensor(p) else F.constant(p)]
    extent = a if isinstance(a, int) else None
    places = F.call("_npi_choice", *([] if extent is not None else [a]), *weights, a=extent, **attrs)
    chosen = places if extent is not None else F.call("_npi_take", a, places, axis=0, mode="clip")
    return chosen if out is None else F.call("_np_copy", chosen, out=out)


def multinomial(F: Dialect, n: int, pvals: Any, size: Any = None, **kwargs: Any) -> Any:
    """How often each of several outcomes came, in `n` experiments."""
    attrs = {"n": n} if size is None else {"n": n, "size": size}
    if F.is_tensor(pvals):
        return F.call("_npi_multinomial", pvals, **attrs)
    return F.call("_npi_multinomial", pvals=tuple(float(p) for p in pvals), **attrs)


def multivariate_normal(F: Dialect, mean: Any, cov: Any, size: Any = None, check_valid: Any = None,
                        tol: Any = None) -> Any:  # fmt: skip
    """Vectors drawn normally, by mean and covariance."""
    if check_valid is not None or tol is not None:
        raise NotImplementedError("multivariate_normal(): `check_valid` and `tol` are not supported")
    extents = () if size is None else (size,) if isinstance(size, int) else tuple(size)
    factor = F.call("_npi_cholesky", cov)
    noise = normal(F, 0.0, 1.0, (*extents, *mean.shape))
    column = F.call("_npi_expand_dims", noise, axis=-1)
    return mean + F.call("_np_squeeze", F.call("_npi_matmul", factor, column), axis=-1)


def shuffle(F: Dialect, x: Any) -> None:
    """Put the elements along the first axis in random order, in `x` itself."""
    F.call("_npi_shuffle", x, out=x)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        uniform, normal, lognormal, gamma, beta, chisquare, exponential, gumbel, logistic, rayleigh, randint, rand,
        randn, choice, multinomial, multivariate_normal, shuffle,
    )
}  # fmt: skip
FUNCTIONS |= {
    "weibull": _of_a("weibull", "Numbers drawn from the Weibull distribution."),
    "pareto": _of_a("pareto", "Numbers drawn from the Pareto distribution, moved to begin at 0."),
    "power": _of_a("powerd", "Numbers from 0 to 1 with density a * x**(a - 1)."),
}
