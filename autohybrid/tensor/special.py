"""Special functions on any array library: logistic, erf and its inverse, gamma and its logarithm, polygamma.

NumPy has none of them and SciPy is no dependency, so they are computed here: polynomial fits for erf (1e-7 in float32,
1e-15 in float64), Lanczos' series for gamma, shifted asymptotic series for polygamma. Everything but the float32 erf
is computed in float64 and returned in the dtype that came in; integers give float64.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from autohybrid.tensor.elementwise import polynomial

# atanh(erf(y)) / y as a polynomial in y * y for |y| <= 4: erf(y) = tanh(y * P(y * y)) to 1.2e-7.
_ERF_TANH = (
    -1.3366827644745172e-09, 4.342905413068365e-08, -3.7532504393311683e-07, -2.7851644972543e-06,
    7.972909224918112e-05, -0.0006096487632021308, -0.0001967827120097354, 0.10276933014392853, 1.1283793449401855,
)  # fmt: skip
# Chebyshev coefficients of (1 + 2 x) exp(x * x) erfc(x) in (x - 3.75) / (x + 3.75), for x >= 0.
_ERFC = (
    1.1775789345674021, -0.004590054580646407, -0.08424913336651796, 0.05920993999819193,
    -0.026658668435305694, 0.009074997670705305, -0.0024131635404175803, 0.0004907758365258417,
    -6.916973302494658e-05, 4.139027986099699e-06, 7.740383066397147e-07, -2.18864010460842e-07,
    1.0764999488298872e-08, 4.521959851030594e-09, -7.754399904423083e-10, -6.318082011749851e-11,
    2.8687971813353848e-11, 1.9457523058320151e-13, -9.654321525236954e-13, 3.25759498067096e-14,
    3.350990786759269e-14, -1.8719174385063316e-15, -1.1891384416971918e-15, 1.2189123043577763e-16,
    1.158994645969739e-16,
)  # fmt: skip
# Chebyshev coefficients of erf(x) / x in 2 x * x - 1, for |x| <= 1.
_ERF = (
    0.975476939382654, -0.14226120510371368, 0.01003558218759974, -0.0005768764699767305,
    2.74199312521757e-05, -1.104317550715097e-06, 3.848875536511386e-08, -1.180858221735267e-09,
    3.233425810291298e-11, -7.991018941389746e-13, 1.7973755843987834e-14, -3.930008074650382e-16,
)  # fmt: skip
_ERFINV_MIDDLE = (
    2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503, -0.00417768164,
    0.246640727, 1.50140941,
)  # fmt: skip
_ERFINV_TAIL = (
    -0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613, 0.00943887047,
    1.00167406, 2.83297682,
)  # fmt: skip
_LANCZOS = (
    676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905,
    -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
)  # fmt: skip
#: Bernoulli's numbers B2, B4, ... B16.
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)


def in_float64(compute: Callable[..., Any]) -> Callable[..., Any]:
    """`compute(xp, x, *numbers)` run in float64, the result in the floating-point dtype of x."""

    def function(xp: Any, x: Any, *numbers: Any) -> Any:
        result = compute(xp, x.astype("float64", copy=False), *numbers)
        return result.astype(x.dtype, copy=False) if x.dtype.kind == "f" else result

    return function


def logistic(xp: Any, x: Any) -> Any:
    """1 / (1 + exp(-x)) of floating-point x, exact also where it is nearly 0 (a form with tanh gives 0 below -17)."""
    result = xp.negative(x, out=xp.empty_like(x))
    xp.exp(result, out=result)
    result += x.dtype.type(1)
    return xp.reciprocal(result, out=result)


def erf(xp: Any, x: Any) -> Any:
    """The error function."""
    if x.dtype.itemsize <= 4 and x.dtype.kind == "f":
        single = xp.clip(x.astype("float32", copy=False), -4, 4)
        near = xp.tanh(single * polynomial(single * single, _ERF_TANH))
        return xp.where(xp.absolute(single) < 3.95, near, xp.sign(single)).astype(x.dtype, copy=False)
    return _erf_double(xp, x)


def _erf_large(xp: Any, size: Any) -> Any:
    """1 - erf(size) for size >= 0."""
    ratio = xp.where(xp.isinf(size), 1.0, (size - 3.75) / (size + 3.75))
    return xp.exp(-size * size) * _chebyshev(ratio, _ERFC) / (1 + 2 * size)


@in_float64
def _erf_double(xp: Any, x: Any) -> Any:
    size = xp.absolute(x)
    small = xp.minimum(size, 1.0)
    near = small * _chebyshev(2 * small * small - 1, _ERF)
    return xp.copysign(xp.where(size <= 1, near, 1 - _erf_large(xp, size)), x)


@in_float64
def erfinv(xp: Any, x: Any) -> Any:
    """The inverse of erf: +-inf at +-1, NaN outside."""
    w = -xp.log((1 - x) * (1 + x))
    root = xp.sqrt(xp.maximum(w, 5.0))
    y = x * xp.where(w < 5, polynomial(w - 2.5, _ERFINV_MIDDLE), polynomial(root - 3, _ERFINV_TAIL))
    size = xp.absolute(x)
    y = xp.absolute(y)
    for _ in range(5):  # Newton's steps take the fit to full precision; near 1 they use what is left to 1
        excess = xp.where(size < 0.5, _erf_double(xp, y) - size, (1 - size) - _erf_large(xp, y))
        y = y - excess * (0.5 * math.sqrt(math.pi)) * xp.exp(y * y)
    return xp.copysign(xp.where(size == 1, math.inf, y), x)


def _lanczos(x: Any) -> Any:
    """Lanczos' series with g = 7, for gamma(x + 1), x >= -0.5."""
    total: Any = 0.99999999999980993
    for k, coefficient in enumerate(_LANCZOS, start=1):
        total = total + coefficient / (x + k)
    return total


def _sin_pi(xp: Any, x: Any) -> Any:
    """sin(pi x) without losing digits for large x."""
    whole = xp.rint(x)
    return xp.sin(math.pi * (x - whole)) * (1 - 2 * xp.remainder(whole, 2))


@in_float64
def gamma(xp: Any, x: Any) -> Any:
    """The gamma function; NaN at negative whole numbers, as C's tgamma."""
    reflect = x < 0.5
    z = xp.where(reflect, 1 - x, x) - 1
    t = z + 7.5
    half = t ** (0.5 * z + 0.25)  # t ** (z + 0.5) in two factors, so that it overflows no earlier than gamma
    value = math.sqrt(2 * math.pi) * half * xp.exp(-t) * half * _lanczos(z)
    value = xp.where(z > 180, math.inf, value)  # beyond float64, where the factors are infinite and 0
    value = xp.where(reflect, math.pi / (_sin_pi(xp, x) * value), value)
    whole = x == xp.floor(x)
    value = xp.where(whole & (x < 0), math.nan, value)
    value = xp.where(whole & (x > 0) & (x < 19), xp.rint(value), value)  # factorials; integer arrays cut them off
    return xp.where(x == 0, xp.copysign(math.inf, x), value)


@in_float64
def gammaln(xp: Any, x: Any) -> Any:
    """The logarithm of |gamma(x)|."""
    reflect = x < 0.5
    z = xp.where(reflect, 1 - x, x) - 1
    t = z + 7.5
    value = 0.5 * math.log(2 * math.pi) + (z + 0.5) * xp.log(t) - t + xp.log(_lanczos(z))
    value = xp.where(reflect, math.log(math.pi) - xp.log(xp.absolute(_sin_pi(xp, x))) - value, value)
    return xp.where(xp.isinf(x), math.inf, value)


@in_float64
def polygamma(xp: Any, x: Any, order: int) -> Any:
    """The derivative of order `order` + 1 of log(gamma(x)): digamma for 0, trigamma for 1."""
    reflect = x < 0.5
    z = xp.where(reflect, 1 - x, x)
    sign = -1.0 if order % 2 == 0 else 1.0
    shift = 10 + order
    recurrence = sum(1 / (z + k) ** (order + 1) for k in range(shift))
    value = sign * math.factorial(order) * recurrence + _polygamma_large(xp, z + shift, order, sign)
    value = xp.where(reflect, -sign * value - math.pi * _cot_derivative(xp, x, order), value)
    return xp.where((x <= 0) & (x == xp.floor(x)), math.inf, value)  # the sign at poles is MXNet's


def _polygamma_large(xp: Any, x: Any, order: int, sign: float) -> Any:
    """The asymptotic series, for x >= 10."""
    inverse = 1 / x
    if order == 0:
        total = xp.log(x) - 0.5 * inverse
    else:
        total = sign * inverse**order * (math.factorial(order - 1) + 0.5 * math.factorial(order) * inverse)
    for k, bernoulli in enumerate(_BERNOULLI, start=1):
        factor = math.factorial(2 * k + order - 1) / math.factorial(2 * k) * bernoulli
        total = total + sign * factor * inverse ** (2 * k + order)
    return total


def _cot_derivative(xp: Any, x: Any, order: int) -> Any:
    """The derivative of cot(pi x): a polynomial in c = cot(pi x), for c' = -pi (1 + c * c)."""
    coefficients = [0.0, 1.0]  # lowest power first
    for _ in range(order):
        slope = [k * c for k, c in enumerate(coefficients)][1:]
        coefficients = [
            -math.pi * ((slope[k] if k < len(slope) else 0.0) + (slope[k - 2] if 0 <= k - 2 < len(slope) else 0.0))
            for k in range(len(slope) + 2)
        ]
    cot = 1 / xp.tan(math.pi * (x - xp.rint(x)))
    return polynomial(cot, coefficients[::-1])


def _chebyshev(x: Any, coefficients: Sequence[float]) -> Any:
    """Clenshaw's rule for a series of Chebyshev polynomials."""
    after: Any = 0.0
    later: Any = 0.0
    for coefficient in reversed(coefficients[1:]):
        after, later = 2 * x * after - later + coefficient, after
    return x * after - later + coefficients[0]
