"""The Python functions of `random`: one set for arrays and for symbols, over the operators that draw.

Parameters are all numbers (`_random_*` draws `shape` values) or all tensors (`_sample_*` draws `shape` values for each
of their elements). Owns no generator; see `tensor/random_state.py`.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from math import log
from typing import Any

from autohybrid.context import Context, current_context
from autohybrid.tensor.frontend import NULL, BoundCall, bind
from autohybrid.tensor.ops import get_operator


class RandomFunctions:
    """`uniform`, `normal`, ... for one kind of tensor.

    `dispatch` runs (or composes) a bound call. `concrete` says that calls give arrays at once: then the device and a
    shape are filled in, and `multinomial` gives no probabilities by default.
    """

    def __init__(self, tensor: type, dispatch: Callable[[BoundCall], Any], concrete: bool) -> None:
        self._tensor = tensor
        self._dispatch = dispatch
        self._concrete = concrete

    def _call(self, operator: str, /, *args: Any, **kwargs: Any) -> Any:
        return self._dispatch(bind(get_operator(operator), operator, args, kwargs))

    def _draw(
        self,
        law: str,
        names: tuple[str, ...],
        parameters: tuple[Any, ...],
        shape: Any,
        dtype: Any,
        ctx: Any,
        kwargs: Any,
    ) -> Any:
        """Choose the operator by the kind of the parameters. Raises AssertionError for a mixture, else ValueError."""
        first = parameters[0]
        kind = self._tensor if isinstance(first, self._tensor) else numbers.Number
        if not isinstance(first, kind):
            raise ValueError(
                f"random.{law}: distribution parameters must be either {self._tensor.__name__} or numbers, "
                f"but got {type(first)}"
            )
        for other in parameters[1:]:
            if not isinstance(other, kind):
                raise AssertionError(
                    f"random.{law}: distribution parameters must all have the same type, but got both "
                    f"{type(first)} and {type(other)}"
                )
        if kind is self._tensor:
            return self._call(f"_sample_{law}", *parameters, shape=shape, dtype=dtype, **kwargs)
        out = kwargs.get("out")
        if self._concrete:
            if shape is NULL:
                shape = 1 if out is None else out.shape
            if dtype is NULL and out is not None:
                dtype = out.dtype
            kwargs["ctx"] = str(ctx or (out.context if out is not None else current_context()))
        return self._call(f"_random_{law}", **dict(zip(names, parameters)), shape=shape, dtype=dtype, **kwargs)

    def uniform(
        self,
        low: Any = 0,
        high: Any = 1,
        shape: Any = NULL,
        dtype: Any = NULL,
        ctx: Context | None = None,
        **kwargs: Any,
    ) -> Any:
        """Numbers drawn evenly from [low, high). Raises AssertionError when one is a number and the other an array."""
        return self._draw("uniform", ("low", "high"), (low, high), shape, dtype, ctx, kwargs)

    def normal(
        self,
        loc: Any = 0,
        scale: Any = 1,
        shape: Any = NULL,
        dtype: Any = NULL,
        ctx: Context | None = None,
        **kwargs: Any,
    ) -> Any:
        """Normally distributed numbers of mean `loc` and standard deviation `scale`."""
        return self._draw("normal", ("loc", "scale"), (loc, scale), shape, dtype, ctx, kwargs)

    def randn(self, *shape: int, **kwargs: Any) -> Any:
        """Normally distributed numbers; the extents are the positional arguments. Keywords as in `normal`."""
        loc, scale = kwargs.pop("loc", 0), kwargs.pop("scale", 1)
        return self.normal(loc, scale, shape, kwargs.pop("dtype", NULL), kwargs.pop("ctx", None), **kwargs)

    def poisson(
        self, lam: Any = 1, shape: Any = NULL, dtype: Any = NULL, ctx: Context | None = None, **kwargs: Any
    ) -> Any:
        """Numbers from the Poisson distribution of mean `lam`, as floats."""
        return self._draw("poisson", ("lam",), (lam,), shape, dtype, ctx, kwargs)

    def exponential(
        self, scale: Any = 1, shape: Any = NULL, dtype: Any = NULL, ctx: Context | None = None, **kwargs: Any
    ) -> Any:
        """Exponentially distributed numbers of mean `scale`."""
        return self._draw("exponential", ("lam",), (1.0 / scale,), shape, dtype, ctx, kwargs)

    def gamma(
        self,
        alpha: Any = 1,
        beta: Any = 1,
        shape: Any = NULL,
        dtype: Any = NULL,
        ctx: Context | None = None,
        **kwargs: Any,
    ) -> Any:
        """Numbers from the gamma distribution of shape `alpha` and scale `beta`."""
        return self._draw("gamma", ("alpha", "beta"), (alpha, beta), shape, dtype, ctx, kwargs)

    def negative_binomial(
        self, k: Any = 1, p: Any = 1, shape: Any = NULL, dtype: Any = NULL, ctx: Context | None = None, **kwargs: Any
    ) -> Any:
        """Numbers of failures before `k` successes of probability `p`, as floats."""
        return self._draw("negative_binomial", ("k", "p"), (k, p), shape, dtype, ctx, kwargs)

    def generalized_negative_binomial(
        self,
        mu: Any = 1,
        alpha: Any = 1,
        shape: Any = NULL,
        dtype: Any = NULL,
        ctx: Context | None = None,
        **kwargs: Any,
    ) -> Any:
        """Numbers from the negative binomial distribution of mean `mu` and dispersion `alpha`, as floats."""
        return self._draw("generalized_negative_binomial", ("mu", "alpha"), (mu, alpha), shape, dtype, ctx, kwargs)

    def randint(
        self, low: int, high: int, shape: Any = NULL, dtype: Any = NULL, ctx: Context | None = None, **kwargs: Any
    ) -> Any:
        """Integers drawn evenly from `low` to `high` - 1; int32 by default. Raises TypeError for arrays as bounds."""
        if isinstance(low, self._tensor) or isinstance(high, self._tensor):
            raise TypeError("random.randint: `low` and `high` are ints, not arrays")
        return self._draw("randint", ("low", "high"), (low, high), shape, dtype, ctx, kwargs)

    def multinomial(
        self,
        data: Any,
        shape: Any = NULL,
        get_prob: bool | None = None,
        out: Any = None,
        dtype: Any = "int32",
        **kwargs: Any,
    ) -> Any:
        """Class numbers drawn with the probabilities in the last axis of `data`; with `get_prob` also their logarithms.

        Raises AssertionError when `data` is no tensor.
        """
        self._check_tensor(data, "multinomial")
        wanted = not self._concrete if get_prob is None else get_prob
        return self._call("_sample_multinomial", data, shape=shape, get_prob=wanted, out=out, dtype=dtype, **kwargs)

    def shuffle(self, data: Any, **kwargs: Any) -> Any:
        """The slices of `data` along its first axis in random order, as a new array."""
        self._check_tensor(data, "shuffle")
        return self._call("_shuffle", data, **kwargs)

    def rand_zipfian(
        self, true_classes: Any, num_sampled: int, range_max: int, ctx: Context | None = None
    ) -> tuple[Any, Any, Any]:
        """Class numbers below `range_max` drawn by the log-uniform distribution, for sampled softmax.

        Returns the `num_sampled` int64 samples, and how often each of `true_classes` and of the samples is expected
        among that many draws, as float64.
        """
        span = log(range_max + 1)
        drawn = self.uniform(0, span, shape=(num_sampled,), dtype="float64", ctx=ctx)
        sampled = self._call("Cast", self._call("exp", drawn) - 1, dtype="int64") % range_max

        def expected(classes: Any) -> Any:
            wide = self._call("Cast", classes, dtype="float64")
            return self._call("log", (wide + 2.0) / (wide + 1.0)) / span * num_sampled

        return sampled, expected(true_classes), expected(sampled)

    def _check_tensor(self, data: Any, function: str) -> None:
        if not isinstance(data, self._tensor):
            raise AssertionError(
                f"random.{function}: `data` must be of type {self._tensor.__name__}, got {type(data).__name__}"
            )
