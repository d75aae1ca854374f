"""How numbers of each distribution are drawn, with the few methods that NumPy's and CuPy's generators share.

Owns the table `DISTRIBUTIONS`; the operators made from it are in `ops/random_draw.py`. `draw(xp, rng, shape, dtype,
*parameters)` takes numbers, or arrays that broadcast to `shape`; dtype is 'float32' or 'float64'.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs


@dataclass(frozen=True, slots=True)
class Distribution:
    """`parameters` are the attributes of the operators that take numbers, `inputs` the names where arrays are taken.

    `checks` lists what numbers must fulfil: (parameter, predicate, words).
    """

    name: str
    parameters: tuple[Attr, ...]
    inputs: tuple[str, ...]
    draw: Callable[..., Any]
    doc: str
    checks: tuple[tuple[str, Callable[[Any], bool], str], ...] = ()

    def values(self, attrs: Attrs) -> tuple[Any, ...]:
        """The parameters in `attrs`. Raises MXNetError for those that the distribution does not have."""
        for name, holds, words in self.checks:
            if not holds(getattr(attrs, name)):
                raise MXNetError(
                    f"`{name}` of the {self.name} distribution must be {words}, got {getattr(attrs, name)}"
                )
        return tuple(getattr(attrs, p.name) for p in self.parameters)


def _uniform(xp: Any, rng: Any, shape: tuple[int, ...], dtype: str, low: Any, high: Any) -> Any:
    return rng.random(shape, dtype=dtype) * (high - low) + low


def _normal(xp: Any, rng: Any, shape: tuple[int, ...], dtype: str, loc: Any, scale: Any) -> Any:
    return rng.standard_normal(shape, dtype=dtype) * scale + loc


def _gamma(xp: Any, rng: Any, shape: tuple[int, ...], dtype: str, alpha: Any, beta: Any) -> Any:
    return rng.standard_gamma(alpha, shape, dtype=dtype) * beta


def _exponential(xp: Any, rng: Any, shape: tuple[int, ...], dtype: str, lam: Any) -> Any:
    return rng.standard_exponential(shape, dtype=dtype) / lam


def _poisson(xp: Any, rng: Any, shape: tuple[int, ...], dtype: str, lam: Any) -> Any:
    return rng.poisson(lam, shape)


def _negative_binomial(xp: Any, rng: Any, shape: tuple[int, ...], dtype: str, k: Any, p: Any) -> Any:
    rate = rng.standard_gamma(k, shape, dtype="float64") * (1 - p) / p
    return rng.poisson(rate, shape)


def _generalized_negative_binomial(xp: Any, rng: Any, shape: tuple[int, ...], dtype: str, mu: Any, alpha: Any) -> Any:
    spread = xp.where(xp.asarray(alpha) == 0, 1.0, alpha)
    rate = rng.standard_gamma(1 / spread, shape, dtype="float64") * spread * mu
    return rng.poisson(xp.where(xp.asarray(alpha) == 0, mu, rate), shape)


def _positive(name: str) -> tuple[str, Callable[[Any], bool], str]:
    return name, lambda value: value > 0, "above 0"


def _not_negative(name: str) -> tuple[str, Callable[[Any], bool], str]:
    return name, lambda value: value >= 0, "at least 0"


def _float(name: str, default: float) -> Attr:
    return Attr(name, "float", default)


DISTRIBUTIONS: tuple[Distribution, ...] = (
    Distribution(
        "uniform", (_float("low", 0.0), _float("high", 1.0)), ("low", "high"), _uniform, "evenly from `low` to `high`"
    ),
    Distribution(
        "normal",
        (_float("loc", 0.0), _float("scale", 1.0)),
        ("mu", "sigma"),
        _normal,
        "normally, by mean and standard deviation",
        (_positive("scale"),),
    ),
    Distribution(
        "gamma",
        (_float("alpha", 1.0), _float("beta", 1.0)),
        ("alpha", "beta"),
        _gamma,
        "from the gamma distribution of shape `alpha` and scale `beta`",
        (_positive("alpha"), _positive("beta")),
    ),
    Distribution(
        "exponential", (_float("lam", 1.0),), ("lam",), _exponential, "exponentially, rate `lam`", (_positive("lam"),)
    ),
    Distribution(
        "poisson", (_float("lam", 1.0),), ("lam",), _poisson, "from the Poisson distribution of mean `lam`",
        (_not_negative("lam"),),
    ),
    Distribution(
        "negative_binomial",
        (Attr("k", "int", 1), _float("p", 1.0)),
        ("k", "p"),
        _negative_binomial,
        "as the number of failures before `k` successes of probability `p`",
        (_not_negative("k"), ("p", lambda value: 0 < value <= 1, "above 0 and at most 1")),
    ),
    Distribution(
        "generalized_negative_binomial",
        (_float("mu", 1.0), _float("alpha", 1.0)),
        ("mu", "alpha"),
        _generalized_negative_binomial,
        "from the negative binomial distribution of mean `mu` and dispersion `alpha` (0: Poisson)",
        (_not_negative("mu"), _not_negative("alpha")),
    ),
)  # fmt: skip
