"""How products of matrices of ONNX are read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from autohybrid import symbol as sym
from autohybrid.interop.onnx.read_arithmetic import spread
from autohybrid.interop.onnx.reader import OnnxCall, Reading


def _mat_mul(call: OnnxCall) -> Any:
    a, b = call.operands()
    ranks = call.rank(0), call.rank(1)
    if ranks[1] <= 2:
        return sym.dot(a, b)
    if ranks == (3, 3) and _batch(call, 0) == _batch(call, 1):
        return sym.batch_dot(a, b)
    if ranks[0] < 2:
        raise call.refuse("it multiplies a vector with several matrices")
    shapes = call.shape(0), call.shape(1)
    batch = np.broadcast_shapes(shapes[0][:-2], shapes[1][:-2])
    whole = [
        sym.reshape(spread(operand, shape, (*batch, *shape[-2:])), shape=(-1, *shape[-2:]))
        for operand, shape in zip((a, b), shapes)
    ]
    return sym.reshape(sym.batch_dot(*whole), shape=(*batch, shapes[0][-2], shapes[1][-1]))


def _batch(call: OnnxCall, index: int) -> tuple[int, ...]:
    return (call.values.shape(call.data(index)) or ())[:-2]


def _gemm(call: OnnxCall) -> Any:
    """A dense layer where it is one."""
    a, b = call.data(0), call.data(1)
    alpha, beta = call.option("alpha", 1.0), call.option("beta", 1.0)
    left, right = bool(call.option("transA", 0)), bool(call.option("transB", 0))
    if right and not left and alpha == beta == 1:
        units = call.shape(1)[0]
        if not call.has(2):
            return sym.FullyConnected(a, b, num_hidden=units, no_bias=True, flatten=False)
        if call.shape(2) == (units,):
            return sym.FullyConnected(a, b, call.data(2), num_hidden=units, flatten=False)
    product = sym.dot(a, b, transpose_a=left, transpose_b=right)
    product = product * alpha if alpha != 1 else product
    if not call.has(2):
        return product
    return sym.broadcast_add(product, call.data(2) * beta if beta != 1 else call.data(2))


def _einsum(call: OnnxCall) -> Any:
    """The product of two operands as one of matrices: shared axes that stay, free axes, axes that are summed."""
    given, arrow, result = call.option("equation").decode().replace(" ", "").partition("->")
    letters = given.split(",")
    if not arrow or len(letters) != 2 or "." in given or any(len(set(each)) < len(each) for each in letters):
        raise call.refuse(f"`{call.option('equation').decode()}` is no plain product of two operands")
    operands = [_summed(call, i, own, letters[1 - i] + result) for i, own in enumerate(letters)]
    left, right = ("".join(c for c in own if c in letters[1 - i] + result) for i, own in enumerate(letters))
    extent = {c: n for i, own in enumerate(letters) for c, n in zip(own, call.shape(i))}
    batch = [c for c in left if c in right and c in result]
    inner = [c for c in left if c in right and c not in result]
    rows, columns = ([c for c in own if c not in batch + inner] for own in (left, right))
    a = _matrices(operands[0], left, (batch, rows, inner), extent)
    b = _matrices(operands[1], right, (batch, inner, columns), extent)
    made = [*batch, *rows, *columns]
    product = sym.reshape(sym.batch_dot(a, b), shape=tuple(extent[c] for c in made) or (1,))
    order = tuple(made.index(c) for c in result)
    return sym.transpose(product, axes=order) if order != tuple(range(len(order))) else product


def _summed(call: OnnxCall, index: int, letters: str, needed: str) -> Any:
    """An operand without the axes that only it has."""
    axes = tuple(axis for axis, letter in enumerate(letters) if letter not in needed)
    return sym.sum(call.data(index), axis=axes) if axes else call.data(index)


def _matrices(operand: Any, letters: str, groups: Sequence[list[str]], extent: dict[str, int]) -> Any:
    """An operand with three axes, each the product of a group of its own."""
    order = tuple(letters.index(letter) for group in groups for letter in group)
    turned = sym.transpose(operand, axes=order) if order != tuple(range(len(order))) else operand
    return sym.reshape(turned, shape=tuple(math.prod(extent[letter] for letter in group) for group in groups))


PRODUCTS: dict[str, Reading] = {"Einsum": _einsum, "Gemm": _gemm, "MatMul": _mat_mul}
