"""What arithmetic becomes in ONNX: element by element, with numbers, and over axes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from autohybrid.interop.onnx.graph_writer import Call

Converter = Callable[[Call], None]


def _same(kind: str) -> Converter:
    return lambda call: call.result(kind, *call.inputs)


def _with_number(kind: str, reflected: bool = False) -> Converter:
    def convert(call: Call) -> None:
        operands = (call.inputs[0], call.constant(call.attrs.scalar))
        call.result(kind, *(reversed(operands) if reflected else operands))

    return convert


def _as_number(call: Call, kind: str, *operands: str) -> None:
    """A comparison gives truth values in ONNX, and numbers of the operands' dtype in MXNet."""
    call.result("Cast", call.add(kind, *operands), to=_dtype(call, call.dtypes[0]))


def _compared(kind: str) -> Converter:
    return lambda call: _as_number(call, kind, *call.inputs)


def _compared_with_number(kind: str) -> Converter:
    return lambda call: _as_number(call, kind, call.inputs[0], call.constant(call.attrs.scalar))


def _dtype(call: Call, dtype: str) -> int:
    return int(call.writer.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))


def _cast(call: Call) -> None:
    call.result("Cast", call.inputs[0], to=_dtype(call, np.dtype(call.attrs.dtype).name))


def _clip(call: Call) -> None:
    call.result("Clip", call.inputs[0], call.constant(call.attrs.a_min), call.constant(call.attrs.a_max))


def _hard_sigmoid(call: Call) -> None:
    call.result("HardSigmoid", call.inputs[0], alpha=call.attrs.alpha, beta=call.attrs.beta)


def _square(call: Call) -> None:
    call.result("Mul", call.inputs[0], call.inputs[0])


def _rsqrt(call: Call) -> None:
    call.result("Reciprocal", call.add("Sqrt", call.inputs[0]))


def _where(call: Call) -> None:
    condition = call.add("Cast", call.inputs[0], to=call.writer.onnx.TensorProto.BOOL)
    call.result("Where", condition, *call.inputs[1:])


def _reduced(kind: str) -> Converter:
    def convert(call: Call) -> None:
        axes = _axes(call)
        attributes = {"keepdims": int(call.attrs.keepdims)}
        if kind == "ReduceSum":
            call.result(kind, call.inputs[0], call.whole(axes), **attributes)
        else:
            call.result(kind, call.inputs[0], axes=axes, **attributes)

    return convert


def _axes(call: Call) -> list[int]:
    rank, axis = len(call.shapes[0]), call.attrs.axis
    given = range(rank) if axis in (None, ()) else [axis] if isinstance(axis, int) else axis
    chosen = [each % rank for each in given]
    return [each for each in range(rank) if each not in chosen] if call.attrs.exclude else chosen


def _l2_normalization(call: Call) -> None:
    axes = {"instance": list(range(1, len(call.shapes[0]))), "channel": [1]}.get(call.attrs.mode)
    if axes is None:
        axes = list(range(2, len(call.shapes[0])))
    squares = call.add("Mul", call.inputs[0], call.inputs[0])
    total = call.add("ReduceSum", squares, call.whole(axes), keepdims=1)
    norm = call.add("Sqrt", call.add("Add", total, call.constant(call.attrs.eps)))
    call.result("Div", call.inputs[0], norm)


def _batch_dot(call: Call) -> None:
    turned = []
    for operand, flag in zip(call.inputs, (call.attrs.transpose_a, call.attrs.transpose_b)):
        turned.append(call.add("Transpose", operand, perm=[0, 2, 1]) if flag else operand)
    call.result("MatMul", *turned)


def _dot(call: Call) -> None:
    if any(len(shape) > 2 for shape in call.shapes) or call.attrs.transpose_a or call.attrs.transpose_b:
        raise call.refuse("only plain products of vectors and matrices can be written")
    call.result("MatMul", *call.inputs)


_BINARY = {"add": "Add", "sub": "Sub", "mul": "Mul", "div": "Div"}
_COMPARISONS = {
    "equal": "Equal", "greater": "Greater", "greater_equal": "GreaterOrEqual", "lesser": "Less",
    "lesser_equal": "LessOrEqual",
}  # fmt: skip
_UNARY = {
    "abs": "Abs", "arccos": "Acos", "arcsin": "Asin", "arctan": "Atan", "ceil": "Ceil", "cos": "Cos", "erf": "Erf",
    "exp": "Exp", "floor": "Floor", "log": "Log", "negative": "Neg", "reciprocal": "Reciprocal", "relu": "Relu",
    "sigmoid": "Sigmoid", "sign": "Sign", "sin": "Sin", "softsign": "Softsign", "sqrt": "Sqrt", "tan": "Tan",
    "tanh": "Tanh", "BlockGrad": "Identity", "_copy": "Identity", "make_loss": "Identity", "add_n": "Sum",
}  # fmt: skip
_NUMBERS = {"_plus": "Add", "_minus": "Sub", "_mul": "Mul", "_div": "Div", "_power": "Pow"}
_REDUCTIONS = {"sum": "ReduceSum", "mean": "ReduceMean", "max": "ReduceMax", "min": "ReduceMin", "prod": "ReduceProd"}

ARITHMETIC: dict[str, Converter] = {
    **{name: _same(kind) for name, kind in _UNARY.items()},
    **{f"elemwise_{name}": _same(kind) for name, kind in _BINARY.items()},
    **{f"broadcast_{name}": _same(kind) for name, kind in _BINARY.items()},
    "broadcast_power": _same("Pow"),
    "broadcast_maximum": _same("Max"),
    "broadcast_minimum": _same("Min"),
    "_maximum": _same("Max"),
    "_minimum": _same("Min"),
    "_power": _same("Pow"),
    **{f"{name}_scalar": _with_number(kind) for name, kind in _NUMBERS.items()},
    "_rminus_scalar": _with_number("Sub", reflected=True),
    "_rdiv_scalar": _with_number("Div", reflected=True),
    "_rpower_scalar": _with_number("Pow", reflected=True),
    "_maximum_scalar": _with_number("Max"),
    "_minimum_scalar": _with_number("Min"),
    **{f"broadcast_{name}": _compared(kind) for name, kind in _COMPARISONS.items()},
    **{f"_{name}": _compared(kind) for name, kind in _COMPARISONS.items()},
    **{f"_{name}_scalar": _compared_with_number(kind) for name, kind in _COMPARISONS.items()},
    **{name: _reduced(kind) for name, kind in _REDUCTIONS.items()},
    "Cast": _cast,
    "L2Normalization": _l2_normalization,
    "batch_dot": _batch_dot,
    "clip": _clip,
    "dot": _dot,
    "hard_sigmoid": _hard_sigmoid,
    "rsqrt": _rsqrt,
    "square": _square,
    "where": _where,
}
