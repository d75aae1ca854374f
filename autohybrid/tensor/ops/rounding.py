"""Rounding and sign: operators that are constant between jumps, and their straight-through variants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autohybrid.tensor.attrs import Attrs
from autohybrid.tensor.elementwise import numeric_dtype
from autohybrid.tensor.opdef import Gradient, GradNode, OpDef, Sample, zero_gradient


def _on_floats(compute: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def kernel(xp: Any, attrs: Attrs, x: Any) -> Any:
        return compute(xp, x) if x.dtype.kind == "f" else x.copy()

    return kernel


def _half_away(xp: Any, x: Any) -> Any:
    whole = xp.trunc(x)
    return whole + xp.where(
        xp.absolute(x - whole) >= 0.5, xp.copysign(xp.ones_like(x), x), xp.copysign(xp.zeros_like(x), x)
    )


def _half_down(xp: Any, x: Any) -> Any:
    low, high = xp.floor(x), xp.ceil(x)
    return xp.where(x - low <= high - x, low, xp.where(xp.isfinite(x), high, x))


def _sign(xp: Any, attrs: Attrs, x: Any) -> Any:
    if x.dtype.kind != "f":
        return xp.sign(x)
    return xp.where(x > 0, xp.ones_like(x), xp.where(x < 0, -xp.ones_like(x), xp.zeros_like(x)))


def _straight_through(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return heads[0]


def _record(
    name: str, kernel: Callable[..., Any], doc: str, aliases: tuple[str, ...], method: bool, grad: Gradient
) -> OpDef:
    return OpDef(
        name,
        kernel,
        infer_dtype=numeric_dtype,
        grad=grad,
        aliases=aliases,
        methods=(name,) if method else (),
        doc=doc,
        # A straight-through gradient is not the derivative, so finite differences are left out for those.
        samples=tuple(
            Sample((shape,), low=-3, high=3, dtypes=(dtype,), nograd=() if grad is zero_gradient else (0,))
            for shape, dtype in (((1,), "float32"), ((2, 3), "float32"), ((0, 2), "float32"), ((5,), "int32"))
        ),
    )


_ZERO: tuple[tuple[str, Callable[..., Any], str], ...] = (
    ("round", _on_floats(_half_away), "Nearest whole number, halves away from 0 (NumPy: to even)."),
    ("rint", _on_floats(_half_down), "Nearest whole number, halves downwards (NumPy: to even)."),
    ("ceil", _on_floats(lambda xp, x: xp.ceil(x)), "Smallest whole number not below x."),
    ("floor", _on_floats(lambda xp, x: xp.floor(x)), "Largest whole number not above x."),
    ("trunc", _on_floats(lambda xp, x: xp.trunc(x)), "Whole part of x: rounded towards 0."),
    ("fix", _on_floats(lambda xp, x: xp.trunc(x)), "Whole part of x: rounded towards 0."),
    ("sign", _sign, "-1, 0 or 1; 0 for NaN."),
)

OPERATORS: tuple[OpDef, ...] = (
    *(_record(name, kernel, doc, (f"_sparse_{name}",), True, zero_gradient) for name, kernel, doc in _ZERO),
    _record("_contrib_round_ste", _on_floats(_half_away), "`round` whose gradient is that of the identity.",
            ("_sparse__contrib_round_ste",), False, _straight_through),
    _record("_contrib_sign_ste", _sign, "`sign` whose gradient is that of the identity.",
            ("_sparse__contrib_sign_ste",), False, _straight_through),
)  # fmt: skip
