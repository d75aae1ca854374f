"""How the arithmetic of ONNX is read: element by element, and over axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from autohybrid import symbol as sym
from autohybrid.interop.onnx.reader import OnnxCall, Reading


def _same(name: str, **attributes: Any) -> Reading:
    return lambda call: getattr(sym, name)(call.data(), **attributes)


def _identity(call: OnnxCall) -> Any:
    return call.data()


def _scalar(call: OnnxCall, index: int) -> float | int | None:
    """The number that an operand is, where it is a constant of one element that adds no axis to the result."""
    values = call.find(index)
    if values is None or values.size != 1 or values.dtype == np.bool_:
        return None
    other = call.values.shape(call.data(1 - index))
    if values.ndim > (len(other) if other is not None else 0):
        return None
    number: float | int = values.ravel()[0].item()
    return number


def _binary(tensors: str, number: str, reflected: str | None = None) -> Reading:
    """`reflected` is the operator for a number on the left side; None where the sides can be exchanged."""

    def read(call: OnnxCall) -> Any:
        right = _scalar(call, 1)
        if right is not None:
            return getattr(sym._internal, number)(call.data(0), scalar=right)
        left = _scalar(call, 0)
        if left is not None:
            return getattr(sym._internal, reflected or number)(call.data(1), scalar=left)
        return getattr(sym, tensors)(*call.operands())

    return read


def _div(call: OnnxCall) -> Any:
    if "int" not in (call.dtype(0) or "float32"):
        return _DIVISION(call)
    wide = [sym.cast(each, "float64") for each in call.operands()]
    return sym.cast(sym.trunc(sym.broadcast_div(*wide)), call.dtype(0))


def _mod(call: OnnxCall) -> Any:
    if not call.option("fmod", 0):
        return sym.broadcast_mod(*call.operands())
    a, b = call.operands()
    return sym.broadcast_sub(a, sym.broadcast_mul(b, sym.trunc(sym.broadcast_div(a, b))))


def _folded(name: str) -> Reading:
    """Any number of operands, joined from the left."""

    def read(call: OnnxCall) -> Any:
        result, *rest = call.operands()
        for operand in rest:
            result = getattr(sym, name)(result, operand)
        return result

    return read


def _mean(call: OnnxCall) -> Any:
    return _folded("broadcast_add")(call) / len(call.inputs)


def _clip(call: OnnxCall) -> Any:
    """The bounds were attributes before operator set 11."""
    low, high = call.option("min"), call.option("max")
    if call.has(1):
        low = call.require(1, "lower bound").item()
    if call.has(2):
        high = call.require(2, "upper bound").item()
    whole = "int" in (call.dtype() or "float32")
    most = np.iinfo("int32").max if whole else float(np.finfo("float32").max)
    return sym.clip(call.data(), a_min=-most if low is None else low, a_max=most if high is None else high)


def _round(call: OnnxCall) -> Any:
    """Halves go to the even neighbour."""
    x = call.data()
    up = sym.floor(x + 0.5)
    return up - (up - x == 0.5) * sym._internal._mod_scalar(up, scalar=2)


def _cast(call: OnnxCall) -> Any:
    wanted = call.values.onnx.helper.tensor_dtype_to_np_dtype(call.option("to"))
    return call.data() != 0 if wanted == np.bool_ else sym.cast(call.data(), wanted.name)


def _not(call: OnnxCall) -> Any:
    return sym.logical_not(call.data())


def broadcast(call: OnnxCall, indices: tuple[int, ...]) -> list[Any]:
    """Operands in their common shape."""
    shapes = [call.values.shape(call.data(index)) for index in indices]
    if shapes[0] is not None and all(shape == shapes[0] for shape in shapes):
        return [call.data(index) for index in indices]
    common = np.broadcast_shapes(*(call.shape(index) for index in indices))
    return [spread(call.data(index), call.shape(index), common) for index in indices]


def spread(operand: Any, shape: tuple[int, ...], target: tuple[int, ...]) -> Any:
    """An operand of a shape, repeated along axes to a larger shape."""
    if shape == target:
        return operand
    wide = (1,) * (len(target) - len(shape)) + shape
    return sym.broadcast_to(operand if wide == shape else sym.reshape(operand, shape=wide), shape=target)


def _trilu(call: OnnxCall) -> Any:
    """The part above or below a diagonal; the rest is zero, whatever it was."""
    (shift,) = call.numbers(1, "diagonal") if call.has(1) else (0,)
    shape = call.shape()
    kept = np.triu(np.ones(shape[-2:]), shift) if call.option("upper", 1) else np.tril(np.ones(shape[-2:]), shift)
    mask = spread(call.constant("mask", kept), shape[-2:], shape)
    return sym.where(mask, call.data(), sym.zeros_like(call.data()))


def _where(call: OnnxCall) -> Any:
    return sym.where(*broadcast(call, (0, 1, 2)))


def _axes(call: OnnxCall) -> tuple[int, ...] | None:
    """The axes of a reduction, which became an operand in operator sets 13 and 18; None for all of them."""
    given = call.option("axes")
    if call.has(1):
        given = call.numbers(1, "axes")
    return tuple(given) if given else None


def _reduced(build: Any) -> Reading:
    def read(call: OnnxCall) -> Any:
        axes = _axes(call)
        if axes is None and call.option("noop_with_empty_axes", 0):
            return call.data()
        chosen = axes if axes is not None else tuple(range(call.rank()))
        return build(call.data(), axis=chosen, keepdims=bool(call.option("keepdims", 1)))

    return read


def _norm1(x: Any, **axes: Any) -> Any:
    return sym.sum(sym.abs(x), **axes)


def _norm2(x: Any, **axes: Any) -> Any:
    return sym.sqrt(sym.sum(sym.square(x), **axes))


def _sum_of_squares(x: Any, **axes: Any) -> Any:
    return sym.sum(sym.square(x), **axes)


def _log_sum(x: Any, **axes: Any) -> Any:
    return sym.log(sym.sum(x, **axes))


def _log_sum_exp(x: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
    largest = sym.max(x, axis=axis, keepdims=True)
    total = sym.log(sym.sum(sym.exp(sym.broadcast_sub(x, largest)), axis=axis, keepdims=keepdims))
    return total + (largest if keepdims else sym.max(x, axis=axis))


def _arg(name: str) -> Reading:
    def read(call: OnnxCall) -> Any:
        if call.option("select_last_index", 0):
            raise call.refuse("it selects the last of equal elements")
        found = getattr(sym, name)(call.data(), axis=call.option("axis", 0), keepdims=bool(call.option("keepdims", 1)))
        return sym.cast(found, "int64")

    return read


def _top_k(call: OnnxCall) -> list[Any]:
    (count,) = call.numbers(1, "k")
    found = sym.topk(
        call.data(), k=count, axis=call.option("axis", -1), ret_typ="both", is_ascend=not call.option("largest", 1),
        dtype="int64",
    )  # fmt: skip
    return [found[0], found[1]]


def _cum_sum(call: OnnxCall) -> Any:
    if call.option("exclusive", 0) or call.option("reverse", 0):
        raise call.refuse("it sums backwards, or without the element itself")
    return sym.cumsum(call.data(), axis=call.numbers(1, "axis")[0])


_DIVISION = _binary("broadcast_div", "_div_scalar", "_rdiv_scalar")
_UNARY = {
    "Abs": "abs", "Acos": "arccos", "Acosh": "arccosh", "Asin": "arcsin", "Asinh": "arcsinh", "Atan": "arctan",
    "Atanh": "arctanh", "Ceil": "ceil", "Cos": "cos", "Cosh": "cosh", "Erf": "erf", "Exp": "exp", "Floor": "floor",
    "Log": "log", "Neg": "negative", "Reciprocal": "reciprocal", "Relu": "relu", "Sigmoid": "sigmoid", "Sign": "sign",
    "Sin": "sin", "Sinh": "sinh", "Softsign": "softsign", "Sqrt": "sqrt", "Tan": "tan", "Tanh": "tanh",
}  # fmt: skip
_REDUCTIONS = {
    "ReduceL1": _norm1, "ReduceL2": _norm2, "ReduceLogSum": _log_sum, "ReduceLogSumExp": _log_sum_exp,
    "ReduceMax": sym.max, "ReduceMean": sym.mean, "ReduceMin": sym.min, "ReduceProd": sym.prod, "ReduceSum": sym.sum,
    "ReduceSumSquare": _sum_of_squares,
}  # fmt: skip

ARITHMETIC: dict[str, Reading] = {
    **{kind: _same(name) for kind, name in _UNARY.items()},
    **{kind: _reduced(build) for kind, build in _REDUCTIONS.items()},
    "Add": _binary("broadcast_add", "_plus_scalar"),
    "And": _binary("broadcast_logical_and", "_logical_and_scalar"),
    "ArgMax": _arg("argmax"),
    "ArgMin": _arg("argmin"),
    "Cast": _cast,
    "Clip": _clip,
    "CumSum": _cum_sum,
    "Div": _div,
    "Equal": _binary("broadcast_equal", "_equal_scalar"),
    "Greater": _binary("broadcast_greater", "_greater_scalar", "_lesser_scalar"),
    "GreaterOrEqual": _binary("broadcast_greater_equal", "_greater_equal_scalar", "_lesser_equal_scalar"),
    "Identity": _identity,
    "Less": _binary("broadcast_lesser", "_lesser_scalar", "_greater_scalar"),
    "LessOrEqual": _binary("broadcast_lesser_equal", "_lesser_equal_scalar", "_greater_equal_scalar"),
    "Max": _folded("broadcast_maximum"),
    "Mean": _mean,
    "Min": _folded("broadcast_minimum"),
    "Mod": _mod,
    "Mul": _binary("broadcast_mul", "_mul_scalar"),
    "Not": _not,
    "Or": _binary("broadcast_logical_or", "_logical_or_scalar"),
    "Pow": _binary("broadcast_power", "_power_scalar", "_rpower_scalar"),
    "Round": _round,
    "Sub": _binary("broadcast_sub", "_minus_scalar", "_rminus_scalar"),
    "Sum": _folded("broadcast_add"),
    "TopK": _top_k,
    "Trilu": _trilu,
    "Where": _where,
    "Xor": _binary("broadcast_logical_xor", "_logical_xor_scalar"),
}
