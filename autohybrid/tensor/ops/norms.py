"""LayerNorm, GroupNorm and InstanceNorm, and the gradient that BatchNorm shares with them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from autohybrid.errors import MXNetError
from autohybrid.tensor import rows
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.normalization import View, backward, scale_and_shift, statistics, view_along
from autohybrid.tensor.opdef import Dtypes, GradNode, OpDef, Sample, Shape, Shapes
from autohybrid.tensor.precision import narrow, widen
from autohybrid.tensor.shapes import normalize_axis, same_floating, unify
from autohybrid.tensor.templates import Elementwise, is_simple

_INPUTS = ("data", "gamma", "beta")


def _view(kind: str, axis: int, groups: int, shape: tuple[int, ...]) -> View:
    """How data of this shape is normalised by a norm of this kind."""
    match kind:
        case "batch":
            return view_along(shape, normalize_axis(axis, len(shape)), (0, 2))
        case "layer":
            return view_along(shape, normalize_axis(axis, len(shape)), (1,))
        case "instance":
            return view_along(shape, 1, (2,))
        case _:  # group: the groups take the place of the channels
            return View((shape[0], groups, math.prod(shape[1:]) // max(groups, 1)), (2,))


def _normalize(xp: Any, eps: float, view: View, data: Any, gamma: Any, beta: Any) -> tuple[Any, Any, Any]:
    """The output, the mean and the standard deviation (both in the view's statistics shape)."""
    x, g, b = widen(xp, data, gamma, beta)
    mean, variance, centred = statistics(xp, x.reshape(view.shape), view)
    deviation = xp.sqrt(variance + variance.dtype.type(eps))
    if view.over == (2,):  # one factor a row saves a pass
        result = scale_and_shift(centred, g.reshape(1, -1, 1) / deviation, b.reshape(1, -1, 1))
    else:
        centred /= deviation
        result = scale_and_shift(centred, g.reshape(1, -1, 1), b.reshape(1, -1, 1))
    return narrow(result.reshape(data.shape), data), narrow(mean, data), narrow(deviation, data)


def _layer_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    data = unify(ins[0], outs[0])
    if data is None:
        return ins, outs
    axis = normalize_axis(attrs.axis, len(data))
    channel = unify(unify((data[axis],), ins[1]), ins[2])
    assert channel is not None
    data = (*data[:axis], channel[0], *data[axis + 1 :])
    reduced = (*data[:axis], 1, *data[axis + 1 :])
    return [data, channel, channel], [data, reduced, reduced]


def _layer(xp: Any, attrs: Attrs, data: Any, gamma: Any, beta: Any) -> tuple[Any, Any, Any]:
    axis = attrs.axis % data.ndim
    output, mean, deviation = _normalize(xp, attrs.eps, _view("layer", axis, 1, data.shape), data, gamma, beta)
    shape = (*data.shape[:axis], 1, *data.shape[axis + 1 :])
    return output, mean.reshape(shape), deviation.reshape(shape)


def _group_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    groups = attrs.num_groups
    data = unify(ins[0], outs[0])
    if data is None:
        return ins, outs
    if len(data) < 3:
        raise MXNetError(f"data must have at least 3 dimensions (n, channel, ...), got {data}")
    if groups < 1 or (data[1] != -1 and data[1] % groups):
        raise MXNetError(f"the {data[1]} channels of data are not a multiple of `num_groups` {groups}")
    channel = unify(unify((groups,), ins[1]), ins[2])
    return [data, channel, channel], [data, (data[0], groups), (data[0], groups)]


def _has_template(call: Any) -> bool:
    axes = len(call.out_shape)
    usable = is_simple(call) and axes > 1 and call.attrs.axis % axes == axes - 1 and 0 not in call.out_shape
    return not call.exact and usable and not call.reads_hidden()


def _template_lines(call: Any) -> list[str]:
    columns = call.out_shape[-1]
    function, shares = call.bound("layer_norm", rows.layer_norm), call.column("shares", columns, 1 / columns)
    operands = f"{call.inputs[0]}, {call.inputs[1]}, {call.inputs[2]}, {call.out}"
    return [*call.target(), f"{function}({shares}, {call.attrs.eps!r}, {operands})"]


def _group(xp: Any, attrs: Attrs, data: Any, gamma: Any, beta: Any) -> tuple[Any, Any, Any]:
    view = _view("group", 1, attrs.num_groups, data.shape)
    output, mean, deviation = _normalize(xp, attrs.eps, view, data, gamma, beta)
    return output, mean.reshape(view.shape[:2]), deviation.reshape(view.shape[:2])


def _instance_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    data = unify(ins[0], outs[0])
    if data is None:
        return ins, outs
    if len(data) < 3:
        raise MXNetError(f"data must have at least 3 dimensions (n, channel, spatial...), got {data}")
    channel = unify(unify((data[1],), ins[1]), ins[2])
    return [data, channel, channel], [data, data[:2], data[:2]]


def _instance(xp: Any, attrs: Attrs, data: Any, gamma: Any, beta: Any) -> tuple[Any, Any, Any]:
    output, mean, deviation = _normalize(xp, attrs.eps, _view("instance", 1, 1, data.shape), data, gamma, beta)
    return output, mean.reshape(data.shape[:2]), deviation.reshape(data.shape[:2])


def _grad_of(kind: str) -> Callable[[Any, GradNode, Sequence[Any]], Any]:
    def grad(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
        attrs, (data, gamma, _) = node.attrs, node.inputs
        _, mean, deviation = node.outputs
        return F._backward_norm(
            heads[0],
            data,
            gamma,
            mean,
            1 / deviation,
            kind=kind,
            axis=getattr(attrs, "axis", 1),
            num_groups=getattr(attrs, "num_groups", 1),
            eps=attrs.eps,
        )

    return grad


def _backward_kernel(
    xp: Any,
    attrs: Attrs,
    head: Any,
    data: Any,
    gamma: Any,
    mean: Any,
    inverse_std: Any,
    out: Any = None,
    work: Any = None,
) -> tuple[Any, ...]:
    view = _view(attrs.kind, attrs.axis, attrs.num_groups, data.shape)
    h, x, g, m, s = widen(xp, head, data, gamma, mean, inverse_std)
    to_data, to_gamma, to_beta = backward(xp, h, x, g, m, s, view, attrs.own_statistics, out, work)
    return narrow(to_data, data), narrow(to_gamma, gamma), narrow(to_beta, gamma)


def _fast_backward(call: Any) -> list[str] | None:
    """The kernel with memory for the gradient of the data and for its work from the plan of the graph."""
    memory = call.memory() if is_simple(call) and 0 not in call.out_shape else None
    if memory is None:
        return None
    names = [call.out, *[call.output(i) or "_" for i in (1, 2)]]
    run, arrays = call.kernel(), ", ".join((*call.inputs, memory, call.scratch("work", call.out_shape)))
    return [f"{', '.join(names)} = {run}({arrays})"]


def _backward_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    data = unify(unify(ins[0], ins[1]), outs[0])
    return [data, data, *ins[2:]], [data, ins[2], ins[2]]


def _backward_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Sequence[str | None], Sequence[str | None]]:
    return ins, [ins[1], ins[2], ins[2]]


class _Axes(NamedTuple):
    """The reductions of one norm as operators of F, on data viewed as the norm needs it."""

    mean: Callable[[Any], Any]  # over what shares statistics, axes kept
    to_channels: Callable[[Any], Any]  # sum to the shape of gamma
    along: Callable[[Any], Any]  # a parameter, broadcastable to the data
    view: Callable[[Any], Any]


def _axes(F: Any, attrs: Attrs, data: Any, gamma: Any) -> _Axes:
    axis = attrs.axis if attrs.kind in ("batch", "layer") else 1
    over: dict[str, Any] = {"axis": axis, "exclude": attrs.kind == "batch", "keepdims": True}
    if attrs.kind in ("instance", "group"):
        over = {"axis": (0, 1), "exclude": True, "keepdims": True}

    def view(t: Any) -> Any:
        return F.Reshape(t, shape=(0, -4, attrs.num_groups, -1, -2)) if attrs.kind == "group" else t

    like = view(data)
    return _Axes(
        lambda t: F.mean(t, **over),
        lambda t: F._cast_as(F.sum(t, axis=axis, exclude=True), gamma),
        lambda p: F._along_axis(p, like, axis=axis),
        view,
    )


def _backward_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    attrs, (head, data, gamma, mean, inverse_std) = node.attrs, node.inputs
    axes = _axes(F, attrs, data, gamma)
    h, x, u = axes.view(head), axes.view(data), axes.view(heads[0])
    g, v, w = axes.along(gamma), axes.along(heads[1]), axes.along(heads[2])
    multiply, add = F.broadcast_mul, F.broadcast_add
    if attrs.own_statistics:
        centred = F.broadcast_sub(x, axes.mean(x))
        s = F.rsqrt(axes.mean(centred * centred) + attrs.eps)
    else:
        centred = F.broadcast_sub(x, axes.along(mean))
        s = axes.along(inverse_std)
    normal = multiply(centred, s)
    project = _projection(F, axes, normal, s) if attrs.own_statistics else lambda t: multiply(t, s)
    to_u, k = project(u), multiply(h, g)
    to_head = add(multiply(to_u, g) + multiply(normal, v), w)
    to_data = project(multiply(h, v))
    if attrs.own_statistics:
        to_data = to_data - _curvature(F, axes, normal, s, u, k, project)
    return [F.reshape_like(to_head, head), F.reshape_like(to_data, data), axes.to_channels(h * to_u), None, None]


def _projection(F: Any, axes: _Axes, normal: Any, s: Any) -> Callable[[Any], Any]:
    """The derivative of the normalised data, applied to t: s (t - mean(t) - normal mean(t normal)); self-adjoint."""

    def project(t: Any) -> Any:
        inner = F.broadcast_sub(t, axes.mean(t)) - F.broadcast_mul(normal, axes.mean(t * normal))
        return F.broadcast_mul(inner, s)

    return project


def _curvature(F: Any, axes: _Axes, normal: Any, s: Any, u: Any, k: Any, project: Callable[[Any], Any]) -> Any:
    """Minus the derivative of <u, project(k)> in the data."""
    mean, multiply = axes.mean, F.broadcast_mul
    along_u, along_k = mean(u * normal), mean(k * normal)
    covariance = mean(u * k) - mean(u) * mean(k) - along_u * along_k
    straight = multiply(multiply(normal, s * s), covariance)
    return straight + multiply(multiply(project(u), along_k) + multiply(project(k), along_u), s)


def _along_axis(xp: Any, attrs: Attrs, param: Any, like: Any) -> Any:
    shape = [1] * like.ndim
    shape[attrs.axis] = param.size
    return param.reshape(shape).astype(like.dtype)


def _along_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    if ins[1] is None:
        return ins, outs
    shape = [1] * len(ins[1])
    shape[normalize_axis(attrs.axis, len(shape))] = -1 if ins[0] is None else ins[0][0]
    return ins, [unify(tuple(shape), outs[0])]


def _along_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    return [F._cast_as(F.sum(heads[0], axis=node.attrs.axis, exclude=True), node.inputs[0]), None]


def _case(shape: tuple[int, ...], channels: int, **attrs: Any) -> Sample:
    return Sample((shape, (channels,), (channels,)), attrs)


def _record(
    name: str, kernel: Any, infer: Any, attrs: tuple[Attr, ...], kind: str, doc: str, samples: Any, **more: Any
) -> OpDef:
    return OpDef(
        name,
        kernel,
        inputs=_INPUTS,
        attrs=attrs,
        outputs=("output", "mean", "std"),
        visible=lambda attrs: 3 if getattr(attrs, "output_mean_var", False) else 1,
        infer_shape=infer,
        infer_dtype=same_floating,
        grad=_grad_of(kind),
        doc=doc,
        samples=samples,
        **more,
    )


OPERATORS = (
    _record(
        "LayerNorm",
        _layer,
        _layer_shape,
        (Attr("axis", "int", -1), Attr("eps", "float", 1e-5), Attr("output_mean_var", "bool", False)),
        "layer",
        """(data - mean) / std * gamma + beta with mean and std along `axis`, whose extent gamma and beta have.

        `output_mean_var` also returns the mean and the standard deviation (not the variance).""",
        (
            _case((3, 2, 5), 5),
            _case((1, 1), 1),
            _case((3, 2, 5), 3, axis=0, eps=0.01),
            _case((3, 2, 5), 2, axis=-2),
            _case((0, 4), 4),
            Sample(((3, 2), (3,), (2,)), error="MXNetError"),
        ),
        aliases=("_npx_layer_norm",),
        by_rows=lambda attrs, ins: (0,) if ins[0] is not None and attrs.axis % len(ins[0]) else (),
        fast=Elementwise(_template_lines, _has_template, pieces=1, rows=True),
    ),
    _record(
        "GroupNorm",
        _group,
        _group_shape,
        (Attr("num_groups", "int", 1), Attr("eps", "float", 1e-5), Attr("output_mean_var", "bool", False)),
        "group",
        """Normalises data (n, channels, ...) over each of `num_groups` groups of channels; gamma and beta have
        one entry a group. `output_mean_var` also returns mean and standard deviation, of shape (n,
        num_groups).""",
        (
            _case((3, 4, 5), 2, num_groups=2),
            _case((2, 3, 2, 2), 1),
            _case((2, 4, 3), 4, num_groups=4, eps=0.01),
            _case((0, 4, 3), 2, num_groups=2),
            Sample(((3, 4, 5), (3,), (3,)), {"num_groups": 3}, error="MXNetError"),
        ),
    ),
    _record(
        "InstanceNorm",
        _instance,
        _instance_shape,
        (Attr("eps", "float", 1e-3),),
        "instance",
        "Normalises each channel of each sample of data (n, channels, spatial...) over its spatial axes.",
        (
            _case((3, 4, 5), 4),
            _case((2, 3, 2, 3), 3, eps=0.1),
            _case((0, 3, 2), 3),
            Sample(((3, 4), (4,), (4,)), error="MXNetError"),
        ),
    ),
    OpDef(
        "_backward_norm",
        _backward_kernel,
        inputs=("head", "data", "gamma", "mean", "inverse_std"),
        attrs=(
            Attr("kind", "enum", choices=("batch", "layer", "group", "instance")),
            Attr("axis", "int", 1),
            Attr("num_groups", "int", 1),
            Attr("eps", "float", 1e-5),
            Attr("own_statistics", "bool", True),
        ),
        outputs=("data", "gamma", "beta"),
        infer_shape=_backward_shape,
        infer_dtype=_backward_dtype,
        grad=_backward_grad,
        fast=_fast_backward,
        doc="""The gradients of a norm for its data, gamma and beta. Mean and inverse deviation are those of the data
        (`own_statistics`, and then differentiated through the data) or given ones.""",
        samples=(
            Sample(((2, 3, 4), (2, 3, 4), (3,), (3,), (3,)), {"kind": "batch", "own_statistics": False}, nograd=(3, 4)),
        ),
    ),
    OpDef(
        "_along_axis",
        _along_axis,
        inputs=("param", "like"),
        attrs=(Attr("axis", "int"),),
        infer_shape=_along_shape,
        infer_dtype=lambda attrs, ins, outs: (ins, [ins[1]]),
        grad=_along_grad,
        doc="A vector reshaped to run along `axis` of `like`, in its dtype: (c,) becomes (1, c, 1, 1).",
        samples=(Sample(((3,), (2, 3, 4)), {"axis": 1}), Sample(((4,), (2, 4)), {"axis": -1})),
    ),
)
