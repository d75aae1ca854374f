"""`mx.npx.random`: `bernoulli`, and draws whose size stands in front of the parameters' shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autohybrid.tensor.numpy_dialect import Dialect
from autohybrid.tensor.numpy_functions.random import draw

NAMESPACE = "npx.random"


def bernoulli(F: Dialect, prob: Any = None, logit: Any = None, size: Any = None, dtype: Any = None, ctx: Any = None,
              out: Any = None) -> Any:  # fmt: skip
    """Ones with probability `prob`, or with the logistic function of `logit`; else zeros. Raises ValueError unless
    exactly one of the two is given."""
    if (prob is None) == (logit is None):
        raise ValueError("bernoulli() takes `prob` or `logit`, and not both")
    name, value = ("logit", logit) if prob is None else ("prob", prob)
    attrs: dict[str, Any] = {"is_logit": prob is None, "dtype": dtype or "float32"}
    if size is not None:
        attrs["size"] = size
    if ctx is not None:
        attrs["ctx"] = str(ctx)
    if F.is_tensor(value):
        return F.call("_npi_bernoulli", value, out=out, **attrs)
    return F.call("_npi_bernoulli", out=out, **{name: value}, **attrs)


def uniform_n(F: Dialect, low: Any = 0.0, high: Any = 1.0, batch_shape: Any = None, dtype: Any = None,
              ctx: Any = None) -> Any:  # fmt: skip
    """Numbers drawn evenly: `batch_shape` of them for every element of the parameters."""
    return draw(F, "uniform_n", {"low": low, "high": high}, batch_shape, dtype, ctx, None)


def normal_n(F: Dialect, loc: Any = 0.0, scale: Any = 1.0, batch_shape: Any = None, dtype: Any = None,
             ctx: Any = None) -> Any:  # fmt: skip
    """Numbers drawn normally: `batch_shape` of them for every element of the parameters."""
    return draw(F, "normal_n", {"loc": loc, "scale": scale}, batch_shape, dtype, ctx, None)


FUNCTIONS: dict[str, Callable[..., Any]] = {f.__name__: f for f in (bernoulli, uniform_n, normal_n)}
