"""Operators that draw from a distribution: by numbers (`_random_*`), like an array (`_random_*_like`), by arrays of
parameters (`_sample_*`). One of each for every entry of the table in `tensor/distributions.py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.distributions import DISTRIBUTIONS, Distribution
from autohybrid.tensor.opdef import Dtypes, OpDef, Sample, Shape, Shapes, zero_gradient
from autohybrid.tensor.shapes import attr_dtype, unify

_FLOATS = ("float16", "float32", "float64")
_SHAPE = Attr("shape", "shape", (), doc="extents of the result")
_CTX = Attr("ctx", "str", "", doc="the device; the current one by default")
_DTYPE = Attr("dtype", "dtype?", None, _FLOATS, doc="float32 by default")


def compute_dtype(dtype: str) -> str:
    """Numbers are drawn in float32, for a float64 result in float64."""
    return "float64" if dtype == "float64" else "float32"


def requested_shape(attrs: Attrs) -> tuple[int, ...]:
    """The attribute `shape`. Raises MXNetError when it was not given."""
    if not attrs.shape or min(attrs.shape) < 0:
        raise MXNetError(f"`shape` must say how many numbers to draw, got {attrs.shape}")
    return attrs.shape  # type: ignore[no-any-return]


def infer_requested(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    """The output has the attribute `shape`, where extents of 0 and -1 are open."""
    given: Shape = tuple(extent or -1 for extent in attrs.shape) if attrs.shape else None
    return ins, [unify(given, outs[0])]


def _random_kernel(law: Distribution) -> Callable[..., Any]:
    def kernel(xp: Any, attrs: Attrs, *, rng: Any) -> Any:
        dtype = attrs.dtype or "float32"
        drawn = law.draw(xp, rng, requested_shape(attrs), compute_dtype(dtype), *law.values(attrs))
        return drawn.astype(dtype, copy=False)

    return kernel


def _like_kernel(law: Distribution) -> Callable[..., Any]:
    def kernel(xp: Any, attrs: Attrs, data: Any, *, rng: Any) -> Any:
        drawn = law.draw(xp, rng, data.shape, compute_dtype(data.dtype.name), *law.values(attrs))
        return drawn.astype(data.dtype, copy=False)

    return kernel


def _sample_kernel(law: Distribution) -> Callable[..., Any]:
    def kernel(xp: Any, attrs: Attrs, *parameters: Any, rng: Any) -> Any:
        dtype = attrs.dtype or "float32"
        shape = parameters[0].shape + attrs.shape
        behind = (1,) * len(attrs.shape)
        wide = compute_dtype(dtype)
        spread = [xp.broadcast_to(p.astype(wide).reshape(p.shape + behind), shape) for p in parameters]
        return law.draw(xp, rng, shape, wide, *spread).astype(dtype, copy=False)

    return kernel


def _infer_sample(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    shape: Shape = None
    for given in ins:
        shape = unify(shape, given)
    if shape is None:
        return ins, outs
    return [shape] * len(ins), [unify((*shape, *attrs.shape), outs[0])]


def _infer_sample_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    known = next((dtype for dtype in ins if dtype is not None), None)
    return [known if dtype is None else dtype for dtype in ins], [attrs.dtype or "float32"]


def _bad_samples(law: Distribution) -> tuple[Sample, ...]:
    if not law.checks:
        return ()
    return (Sample(attrs={"shape": (2,), law.checks[0][0]: -1}, error="MXNetError"),)


def _random(law: Distribution) -> OpDef:
    plain = {"uniform": ("uniform",), "normal": ("normal",)}.get(law.name, ())
    return OpDef(
        f"_random_{law.name}",
        _random_kernel(law),
        inputs=(),
        attrs=(*law.parameters, _SHAPE, _CTX, _DTYPE),
        infer_shape=infer_requested,
        infer_dtype=attr_dtype(),
        grad=zero_gradient,
        aliases=(f"random_{law.name}", *plain),
        random=True,
        doc=f"Numbers drawn {law.doc}.",
        samples=(
            Sample(attrs={"shape": (2, 3)}),
            Sample(attrs={"shape": 1, "dtype": "float16"}),
            Sample(error="MXNetError"),
            *_bad_samples(law),
        ),
    )


def _like(law: Distribution) -> OpDef:
    return OpDef(
        f"_random_{law.name}_like",
        _like_kernel(law),
        attrs=law.parameters,
        grad=zero_gradient,
        random=True,
        doc=f"Numbers drawn {law.doc}, in the shape and dtype of `data`.",
        samples=(Sample(((2, 3),)), Sample(((1,),)), Sample(((0, 2),))),
    )


def _sample(law: Distribution) -> OpDef:
    count = len(law.inputs)
    return OpDef(
        f"_sample_{law.name}",
        _sample_kernel(law),
        inputs=law.inputs,
        attrs=(Attr("shape", "shape", (), doc="how many to draw for each element of the parameters"), _DTYPE),
        infer_shape=_infer_sample,
        infer_dtype=_infer_sample_dtype,
        grad=zero_gradient,
        aliases=(f"sample_{law.name}",),
        random=True,
        doc=f"For each element of the parameter arrays numbers drawn {law.doc}: shape (*parameters.shape, *shape).",
        samples=(
            Sample(((2,),) * count, {"shape": (3,)}, low=0.2, high=0.9),
            Sample(((1, 2),) * count, low=0.2, high=0.9),
            Sample(((2,),) * count, {"dtype": "float64", "shape": 2}, low=0.2, high=0.9),
        ),
    )


OPERATORS: tuple[OpDef, ...] = tuple(make(law) for law in DISTRIBUTIONS for make in (_random, _like, _sample))
