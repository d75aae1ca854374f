"""Products of `mx.np`: dot, matmul, tensordot and einsum. All gradients are products again."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_letters
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.einsum_labels import Einsum, parse_einsum
from autohybrid.tensor.opdef import GradNode, OpDef, Sample, Shape, Shapes
from autohybrid.tensor.shapes import broadcast_shape, normalize_axis, unify


def _need(ins: Shapes) -> bool:
    return all(s is not None for s in ins)


def _contract(a: int, b: int, left: Shape, right: Shape) -> None:
    if a != b and -1 not in (a, b):
        raise MXNetError(f"shapes {left} and {right} do not fit: an extent of {a} meets one of {b}")


# -- dot ---------------------------------------------------------------------------------------------------------------
def _infer_dot(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    a, b = ins
    if a is None or b is None:
        return ins, outs
    if not a or not b:
        return ins, [unify(a or b, outs[0])]
    axis = -2 if len(b) > 1 else -1
    _contract(a[-1], b[axis], a, b)
    rest = (*b[:-2], b[-1]) if len(b) > 1 else ()
    return ins, [unify((*a[:-1], *rest), outs[0])]


def _dot(xp: Any, attrs: Attrs, a: Any, b: Any) -> Any:
    return xp.asarray(xp.dot(a, b))


def _dot_labels(a: int, b: int) -> str:
    """The einsum of `dot` for arrays of these ranks."""
    left = ascii_letters[:a]
    right = ascii_letters[a : a + b]
    if not a or not b:
        return f"{left},{right}->{left}{right}"
    place = b - 2 if b > 1 else 0
    right = right[:place] + left[-1] + right[place + 1 :]
    return f"{left},{right}->{left[:-1]}{right[:place]}{right[place + 1 :]}"


# -- matmul ------------------------------------------------------------------------------------------------------------
def _infer_matmul(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    a, b = ins
    if a is None or b is None:
        return ins, outs
    if not a or not b:
        raise MXNetError("`matmul` takes arrays with at least one axis; use `*` for scalars")
    _contract(a[-1], b[-2] if len(b) > 1 else b[0], a, b)
    batch = broadcast_shape(a[:-2], b[:-2])
    assert batch is not None
    ends = (*a[-2:-1], *(b[-1:] if len(b) > 1 else ()))
    return ins, [unify((*batch, *ends), outs[0])]


def _matmul(xp: Any, attrs: Attrs, a: Any, b: Any) -> Any:
    return xp.asarray(xp.matmul(a, b))


def _matmul_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    a, b = node.inputs
    head = heads[0]
    # Vectors take part as a row in front, a column behind; their products lack that axis.
    left = F.expand_dims(a, axis=0) if a.ndim == 1 else a
    right = F.expand_dims(b, axis=1) if b.ndim == 1 else b
    if b.ndim == 1:
        head = F.expand_dims(head, axis=-1)
    if a.ndim == 1:
        head = F.expand_dims(head, axis=-2)
    gradients: list[Any] = [None, None]
    if node.needs(0):
        by_a = F._unbroadcast(F._npi_matmul(head, _turned(F, right)), left)
        gradients[0] = F.reshape_like(by_a, a) if a.ndim == 1 else by_a
    if node.needs(1):
        by_b = F._unbroadcast(F._npi_matmul(_turned(F, left), head), right)
        gradients[1] = F.reshape_like(by_b, b) if b.ndim == 1 else by_b
    return gradients


def _turned(F: Any, x: Any) -> Any:
    return F.SwapAxis(x, dim1=x.ndim - 2, dim2=x.ndim - 1)


# -- tensordot ---------------------------------------------------------------------------------------------------------
def _summed(attrs: Attrs, a: int, b: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The axes of the two arrays, of these ranks, that are summed over."""
    if hasattr(attrs, "axes"):
        count = attrs.axes
        if not 0 <= count <= min(a, b):
            raise MXNetError(f"`axes` {count} must lie between 0 and the {min(a, b)} axes of the smaller array")
        return tuple(range(a - count, a)), tuple(range(count))
    left = tuple(normalize_axis(i, a, "a_axes_summed") for i in attrs.a_axes_summed)
    right = tuple(normalize_axis(i, b, "b_axes_summed") for i in attrs.b_axes_summed)
    if len(left) != len(right):
        raise MXNetError(f"as many axes of both arrays must be summed, got {left} and {right}")
    return left, right


def _infer_tensordot(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    a, b = ins
    if a is None or b is None:
        return ins, outs
    left, right = _summed(attrs, len(a), len(b))
    for i, j in zip(left, right):
        _contract(a[i], b[j], a, b)
    rest = [n for i, n in enumerate(a) if i not in left] + [n for i, n in enumerate(b) if i not in right]
    return ins, [unify(tuple(rest), outs[0])]


def _tensordot(xp: Any, attrs: Attrs, a: Any, b: Any) -> Any:
    return xp.asarray(xp.tensordot(a, b, axes=_summed(attrs, a.ndim, b.ndim)))


def _tensordot_labels(attrs: Attrs, a: int, b: int) -> str:
    summed = _summed(attrs, a, b)
    left, right = list(ascii_letters[:a]), list(ascii_letters[a : a + b])
    for i, j in zip(*summed):
        right[j] = left[i]
    rest = [s for i, s in enumerate(left) if i not in summed[0]] + [
        s for i, s in enumerate(right) if i not in summed[1]
    ]
    return f"{''.join(left)},{''.join(right)}->{''.join(rest)}"


def _einsum_back(F: Any, node: GradNode, head: Any, subscripts: str) -> list[Any]:
    return [
        F._einsum_adjoint(head, *node.inputs, subscripts=subscripts, place=k) if node.needs(k) else None
        for k in range(len(node.inputs))
    ]


def _dot_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    a, b = node.inputs
    if a.ndim == b.ndim == 2:
        return _matmul_gradient(F, node, heads)
    return _einsum_back(F, node, heads[0], _dot_labels(a.ndim, b.ndim))


def _tensordot_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    a, b = node.inputs
    return _einsum_back(F, node, heads[0], _tensordot_labels(node.attrs, a.ndim, b.ndim))


# -- einsum ------------------------------------------------------------------------------------------------------------
def _parsed(attrs: Attrs, ranks: Sequence[int]) -> Einsum:
    return parse_einsum(attrs.subscripts, tuple(ranks))


def _infer_einsum(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    if not _need(ins):
        return ins, outs
    shapes = [s for s in ins if s is not None]
    result = _parsed(attrs, [len(s) for s in shapes]).shape(shapes)
    return ins, [unify(result, outs[0])]


def _einsum(xp: Any, attrs: Attrs, *arrays: Any) -> Any:
    plan = _parsed(attrs, [a.ndim for a in arrays])
    return xp.asarray(xp.einsum(plan.text, *arrays, optimize=len(arrays) > 1))


def _einsum_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    return _einsum_back(F, node, heads[0], node.attrs.subscripts)


def _back_kernel(xp: Any, attrs: Attrs, head: Any, *arrays: Any) -> Any:
    plan = _parsed(attrs, [a.ndim for a in arrays])
    return plan.adjoint(xp, attrs.place, head, arrays)


def _infer_back(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    like = unify(ins[1 + attrs.place], outs[0])
    return [like if k == 1 + attrs.place else s for k, s in enumerate(ins)], [like]


def _back_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    # The adjoint is linear in the head and in every operand but the one whose place it takes.
    head, *arrays = node.inputs
    place, subscripts = node.attrs.place, node.attrs.subscripts
    arrays[place] = heads[0]
    gradients = [F._npi_einsum(*arrays, subscripts=subscripts)]
    for k in range(len(arrays)):
        wanted = k != place and node.needs(k + 1)
        gradients.append(F._einsum_adjoint(head, *arrays, subscripts=subscripts, place=k) if wanted else None)
    return gradients


_SUBSCRIPTS = Attr("subscripts", "str", "", doc="labels of the axes, as numpy writes them")
_COUNT = Attr("num_args", "int", doc="number of arrays")

OPERATORS: tuple[OpDef, ...] = (
    OpDef("_np_dot", _dot, inputs=("a", "b"), infer_shape=_infer_dot, grad=_dot_gradient,
          doc="The product over the last axis of a and the last but one of b; with a scalar the ordinary product.",
          samples=(*(Sample(pair) for pair in (((2, 3), (3, 4)), ((3,), (3,)), ((2, 3), (3,)), ((2, 2, 3), (3, 4)),
                                               ((), (2, 3)), ((2, 3), (2, 3, 2)))),
                   Sample(((2, 3), (4, 4)), error="MXNetError"))),
    OpDef("_npi_matmul", _matmul, inputs=("a", "b"), outputs=("out",), infer_shape=_infer_matmul, grad=_matmul_gradient,
          doc="The matrix product over the last two axes; the axes in front broadcast.",
          samples=(*(Sample(pair) for pair in (((2, 3), (3, 4)), ((2, 2, 3), (3, 4)), ((2, 2, 3), (2, 3, 4)),
                                               ((3,), (3, 4)), ((2, 3), (3,)), ((3,), (3,)))),
                   Sample(((2, 3), (4, 4)), error="MXNetError"), Sample(((), (3,)), error="MXNetError"))),
    OpDef("_npi_tensordot", _tensordot, inputs=("a", "b"),
          attrs=(Attr("a_axes_summed", "shape", doc="axes of a"), Attr("b_axes_summed", "shape", doc="axes of b")),
          infer_shape=_infer_tensordot, grad=_tensordot_gradient, doc="The product summed over pairs of axes.",
          samples=(Sample(((2, 3), (2, 4)), {"a_axes_summed": 0, "b_axes_summed": 0}),
                   Sample(((2, 3), (4, 3)), {"a_axes_summed": -1, "b_axes_summed": -1}),
                   Sample(((2, 3), (2, 4)), {"a_axes_summed": 1, "b_axes_summed": 1}, error="MXNetError"))),
    OpDef("_npi_tensordot_int_axes", _tensordot, inputs=("a", "b"),
          attrs=(Attr("axes", "int", doc="how many: the last ones of a with the first ones of b"),),
          infer_shape=_infer_tensordot, grad=_tensordot_gradient, doc="The product summed over the last axes of a and "
          "the first of b.",
          samples=(Sample(((2, 3, 4), (3, 4, 2)), {"axes": 2}), Sample(((2,), (3,)), {"axes": 0}),
                   Sample(((2, 3), (4, 2)), {"axes": 1}, error="MXNetError"))),
    OpDef("_npi_einsum", _einsum, variadic="num_args", view=True,
          attrs=(_COUNT, _SUBSCRIPTS, Attr("optimize", "int", 0, doc="kept for numpy's signature")),
          infer_shape=_infer_einsum, grad=_einsum_gradient, doc="Products of labelled axes, summed (numpy's einsum).",
          samples=(Sample(((2, 3), (3, 4)), {"num_args": 2, "subscripts": "ij,jk->ik"}),
                   Sample(((2, 2, 3), (2, 4, 3)), {"num_args": 2, "subscripts": "bij,bkj->bik"}),
                   Sample(((3, 3),), {"num_args": 1, "subscripts": "ii"}),
                   Sample(((2, 3, 3),), {"num_args": 1, "subscripts": "...ii->...i"}),
                   Sample(((2, 3), (3,), (4, 2)), {"num_args": 3, "subscripts": "ij,j,ki"}),
                   Sample(((2, 3),), {"num_args": 1, "subscripts": "ij->k"}, error="MXNetError"))),
    OpDef("_einsum_adjoint", _back_kernel, inputs=("head",), variadic="num_args",
          attrs=(_COUNT, _SUBSCRIPTS, Attr("place", "int", 0, doc="which operand the gradient is for")),
          infer_shape=_infer_back, grad=_back_gradient,
          doc="The gradient of `einsum` by one of its operands, for the head given first.",
          samples=(Sample(((2, 4), (2, 3), (3, 4)), {"num_args": 3, "subscripts": "ij,jk->ik"}),
                   Sample(((), (3, 3)), {"num_args": 2, "subscripts": "ii"}, nograd=(1,)))),
)  # fmt: skip
