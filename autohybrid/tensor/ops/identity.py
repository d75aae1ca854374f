"""Operators that pass values on: identity, stopping gradients, losses' ends, casts, and arrays of zeros and ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import Dtypes, GradNode, OpDef, Sample, Shapes, zero_gradient
from autohybrid.tensor.shapes import attr_dtype, same_dtype, unify

_SAMPLES = (
    Sample(((1,),)),
    Sample(((2, 3),)),
    Sample(((3, 1, 5),)),
    Sample(((0, 2),)),
    Sample(((4,),), low=0, high=9, dtypes=("int32",)),
)
_CAST_DTYPES = ("bfloat16", "bool", "float16", "float32", "float64", "int32", "int64", "int8", "uint8")


def always(attrs: Attrs, train: bool) -> bool:
    """For operators that only hand on their input."""
    return True


def _copy(xp: Any, attrs: Attrs, x: Any) -> Any:
    return x.copy()


def _copy_first(xp: Any, attrs: Attrs, x: Any, like: Any) -> Any:
    return x.copy()


def _zeros(xp: Any, attrs: Attrs, x: Any) -> Any:
    return xp.zeros_like(x)


def _ones(xp: Any, attrs: Attrs, x: Any) -> Any:
    return xp.ones_like(x)


def _pass(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return heads[0]


def _pass_to_first(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    return [heads[0], None]


def _ones_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    # A loss starts the backward pass: its head gradient is 1 whatever arrives.
    return F.ones_like(node.outputs[0])


def _cast(xp: Any, attrs: Attrs, x: Any) -> Any:
    return x.astype(attrs.dtype)


#: What mixed precision casts, narrowest first; double precision and integers are left alone.
_MIXED = ("bfloat16", "float16", "float32")


def _cast_floats(xp: Any, attrs: Attrs, x: Any) -> Any:
    return x.astype(attrs.dtype) if x.dtype.name in _MIXED else x.copy()


def _float_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    return ins, [attrs.dtype if ins[0] in _MIXED else ins[0]]


def _cast_back(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return F._cast_as(heads[0], node.inputs[0])


def _multicast(xp: Any, attrs: Attrs, *arrays: Any) -> tuple[Any, ...]:
    dtype = _common_float(attrs, [a.dtype.name for a in arrays])
    return tuple([a.astype(dtype) if a.dtype.name in _MIXED else a.copy() for a in arrays])


def _common_float(attrs: Attrs, dtypes: Dtypes) -> str | None:
    floats = [d for d in _MIXED if d in dtypes]
    return (floats[0] if attrs.cast_narrow else floats[-1]) if floats else None


def _multicast_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    dtype = _common_float(attrs, ins)
    return ins, [dtype if d in _MIXED else d for d in ins]


def _multicast_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    shapes = [unify(i, o) for i, o in zip(ins, outs)]
    return shapes, shapes


def _multicast_back(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    return [F._cast_as(head, x) for head, x in zip(heads, node.inputs)]


_LIKE_DTYPE = Attr("dtype", "dtype?", None, doc="the dtype of the array; another one is refused")


def _like_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    """MXNet takes a `dtype` here and ignores it; one that would change the result is an error instead."""
    if attrs.dtype is not None and ins[0] not in (None, attrs.dtype):
        raise MXNetError(f"`dtype` {attrs.dtype} is not that of the array ({ins[0]}); convert the result with `astype`")
    return same_dtype(attrs, ins, outs)


OPERATORS: tuple[OpDef, ...] = (
    OpDef(
        "_copy",
        _copy,
        is_identity=always,
        grad=_pass,
        aliases=("identity",),
        doc="A copy of the array; the gradient passes.",
        samples=_SAMPLES,
    ),
    OpDef(
        "_copyto",
        _copy,
        is_identity=always,
        grad=_pass,
        aliases=("_npi_copyto",),
        doc="A copy of the array; the gradient passes.",
        samples=_SAMPLES,
    ),
    OpDef(
        "BlockGrad",
        _copy,
        is_identity=always,
        grad=zero_gradient,
        aliases=("_sparse_stop_gradient", "stop_gradient"),
        doc="A copy of the array through which no gradient flows back.",
        samples=tuple(Sample(s.shapes, nograd=(0,), low=s.low, high=s.high, dtypes=s.dtypes) for s in _SAMPLES),
    ),
    OpDef(
        "make_loss",
        _copy,
        is_identity=always,
        outputs=("loss",),
        grad=_ones_gradient,
        aliases=("_sparse_make_loss",),
        doc="A copy of the array, as the end of a network: its gradient is 1, whatever head gradient arrives.",
        samples=tuple(Sample(s.shapes, nograd=(0,), low=s.low, high=s.high, dtypes=s.dtypes) for s in _SAMPLES),
    ),
    OpDef(
        "_identity_with_attr_like_rhs",
        _copy_first,
        inputs=("lhs", "rhs"),
        grad=_pass_to_first,
        doc="A copy of lhs; rhs, of the same shape and dtype, only tells the shape and the storage type.",
        samples=(
            Sample(((2, 3), (2, 3)), nograd=(1,)),
            Sample(((1,), (1,)), nograd=(1,)),
            Sample(((0, 2), (0, 2)), nograd=(1,)),
        ),
    ),
    OpDef(
        "zeros_like",
        _zeros,
        attrs=(_LIKE_DTYPE,),
        infer_dtype=_like_dtype,
        grad=zero_gradient,
        aliases=("_sparse_zeros_like",),
        methods=("zeros_like",),
        doc="Zeros of the shape and dtype of the array.",
        samples=_SAMPLES,
    ),
    OpDef(
        "ones_like",
        _ones,
        attrs=(_LIKE_DTYPE,),
        infer_dtype=_like_dtype,
        grad=zero_gradient,
        methods=("ones_like",),
        doc="Ones of the shape and dtype of the array.",
        samples=_SAMPLES,
    ),
    OpDef(
        "Cast",
        _cast,
        attrs=(Attr("dtype", "dtype", choices=_CAST_DTYPES),),
        infer_dtype=attr_dtype(),
        grad=_cast_back,
        aliases=("_npi_cast", "_npx_cast", "cast"),
        doc="The values in another dtype; fractions are cut off when they become integers.",
        samples=(
            Sample(((1,),), {"dtype": "float64"}),
            Sample(((2, 3),), {"dtype": "float32"}),
            Sample(((0, 3),), {"dtype": "int32"}, nograd=(0,)),
            Sample(((4,),), {"dtype": "float32"}, low=0, high=9, dtypes=("int32",)),
            Sample(((3,),), {"dtype": "complex64"}, error="MXNetError"),
            Sample(((3,),), error="MXNetError"),
        ),
    ),
    OpDef(
        "amp_cast",
        _cast_floats,
        attrs=(Attr("dtype", "dtype", choices=tuple(d for d in _CAST_DTYPES if d != "bool")),),
        infer_dtype=_float_dtype,
        grad=_cast_back,
        doc="The values in the dtype that mixed-precision training wants here; integers stay as they are.",
        samples=(
            Sample(((2, 3),), {"dtype": "float64"}),
            Sample(((1,),), {"dtype": "float32"}),
            Sample(((0, 2),), {"dtype": "float32"}),
            Sample(((3,),), {"dtype": "complex64"}, error="MXNetError"),
        ),
    ),
    OpDef(
        "amp_multicast",
        _multicast,
        attrs=(Attr("num_outputs", "int"), Attr("cast_narrow", "bool", False)),
        variadic="num_outputs",
        active_inputs=lambda attrs: tuple(f"data_{i}" for i in range(attrs.num_outputs)),
        outputs=lambda attrs: tuple(f"output{i}" for i in range(attrs.num_outputs)),
        infer_shape=_multicast_shape,
        infer_dtype=_multicast_dtype,
        grad=_multicast_back,
        doc="The floating-point arrays in the widest dtype among them (narrowest: `cast_narrow`); integers stay.",
        samples=(
            Sample(((2, 3), (4,)), {"num_outputs": 2}, dtypes=("float32", "float64")),
            Sample(((1,), (0, 2)), {"num_outputs": 2, "cast_narrow": True}, dtypes=("float32", "float64")),
        ),
    ),
)
