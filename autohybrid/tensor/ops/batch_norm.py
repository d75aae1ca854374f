"""BatchNorm and its relatives: normalisation by the statistics of each channel over the batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.normalization import View, statistics, view_along
from autohybrid.tensor.opdef import Dtypes, GradNode, OpDef, Sample, Shape, Shapes
from autohybrid.tensor.precision import narrow, widen
from autohybrid.tensor.shapes import normalize_axis, require_floating, unify, unify_dtypes
from autohybrid.tensor.templates import Elementwise, is_simple

_INPUTS = ("data", "gamma", "beta", "moving_mean", "moving_var")
_COMMON = (
    Attr("eps", "float", 1e-3),
    Attr("momentum", "float", 0.9),
    Attr("fix_gamma", "bool", True),
    Attr("use_global_stats", "bool", False),
    Attr("output_mean_var", "bool", False),
)
ATTRS = (
    *_COMMON,
    Attr("axis", "int", 1),
    Attr("cudnn_off", "bool", False),
    Attr("min_calib_range", "float?", None),
    Attr("max_calib_range", "float?", None),
)


def _axis(attrs: Attrs, ndim: int) -> int:
    return normalize_axis(getattr(attrs, "axis", 1), ndim)


def _infer_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    data = unify(ins[0], outs[0])
    if data is None:
        return ins, outs
    if not data:
        raise MXNetError("data must have at least one dimension")
    axis = _axis(attrs, len(data))
    channel: Shape = (data[axis],)
    for other in (*ins[1:], *outs[1:]):
        channel = unify(channel, other)
    assert channel is not None
    data = (*data[:axis], channel[0], *data[axis + 1 :])
    return [data, *[channel] * 4], [data, channel, channel]


def _infer_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Sequence[str | None], Sequence[str | None]]:
    data = require_floating(unify_dtypes([ins[0], outs[0]]))
    statistic = "float32" if data == "float16" else data
    for name, dtype in zip(_INPUTS[1:], ins[1:]):
        if statistic is not None and dtype is not None and dtype != statistic:
            raise MXNetError(f"`{name}` must be {statistic} for data of {data}, got {dtype}; convert it with `astype`")
    return [data, *[statistic] * 4], [data, statistic, statistic]


def _own(attrs: Attrs, train: bool) -> bool:
    return train and not attrs.use_global_stats


def _view(attrs: Attrs, shape: tuple[int, ...]) -> View:
    return view_along(shape, _axis(attrs, len(shape)), (0, 2))


def _kernel(
    xp: Any, attrs: Attrs, data: Any, gamma: Any, beta: Any, moving_mean: Any, moving_var: Any, *, train: bool
) -> tuple[Any, ...]:
    (x,) = widen(xp, data)
    view = _view(attrs, data.shape)
    x = x.reshape(view.shape)
    if _own(attrs, train):
        mean, variance, result = statistics(xp, x, view)
    else:
        mean, variance = moving_mean.reshape(1, -1, 1), moving_var.reshape(1, -1, 1)
    inverse_std = 1 / xp.sqrt(variance + variance.dtype.type(attrs.eps))
    scale = inverse_std if attrs.fix_gamma else inverse_std * gamma.reshape(1, -1, 1)
    shift = beta.reshape(1, -1, 1)
    if _own(attrs, train):
        result *= scale
    else:  # two passes over the data; the error is that of one rounding of them, as with three
        result = x * scale
        shift = shift - mean * scale
    result += shift
    ones = xp.ones_like(gamma) if attrs.fix_gamma else None
    return narrow(result.reshape(data.shape), data), mean.reshape(-1).copy(), inverse_std.reshape(-1), ones


def _has_template(call: Any) -> bool:
    moved = not _own(call.attrs, call.train) and not call.attrs.output_mean_var
    return moved and is_simple(call) and not call.reads_hidden()


def _template_lines(call: Any) -> list[str]:
    """The kernel's arithmetic in one buffer; what depends on the channel alone is computed first."""
    data, gamma, beta, mean, variance = call.inputs
    axis = _axis(call.attrs, len(call.out_shape))
    shape = (call.out_shape[axis], *[1] * (len(call.out_shape) - axis - 1))
    eps = call.scalar("eps", call.attrs.eps)
    inverse = f"{call.function('true_divide')}({call.scalar('one', 1.0)}, {call.function('sqrt')}({variance} + {eps}))"
    scale = inverse if call.attrs.fix_gamma else f"({inverse} * {gamma})"
    factor, summand = f"{scale}.reshape({shape})", f"({beta} - {mean} * {scale}).reshape({shape})"
    before, scale = call.operand("scale", shape, factor)
    further, shift = call.operand("shift", shape, summand)
    multiply = f"{call.out} = {call.function('multiply')}({data}, {scale}{call.into()})"
    return [*before, *further, multiply, f"{call.function('add')}({call.out}, {shift}, {call.out})"]


def _moving_statistics(xp: Any, attrs: Attrs, inputs: Sequence[Any], outputs: Sequence[Any]) -> Mapping[str, Any]:
    if attrs.use_global_stats:
        return {}
    (mean, inverse_std), (moving_mean, moving_var) = outputs[1:3], inputs[3:5]
    keep, take = mean.dtype.type(attrs.momentum), mean.dtype.type(1 - attrs.momentum)
    variance = 1 / (inverse_std * inverse_std) - mean.dtype.type(attrs.eps)
    return {"moving_mean": moving_mean * keep + mean * take, "moving_var": moving_var * keep + variance * take}


def _sync_kernel(xp: Any, attrs: Attrs, *arrays: Any, train: bool) -> tuple[Any, ...]:
    """As BatchNorm, but the third output is the variance."""
    output, mean, inverse_std, ones = _kernel(xp, attrs, *arrays, train=train)
    return output, mean, 1 / (inverse_std * inverse_std) - inverse_std.dtype.type(attrs.eps), ones


def _sync_moving_statistics(xp: Any, attrs: Attrs, inputs: Sequence[Any], outputs: Sequence[Any]) -> Mapping[str, Any]:
    output, mean, variance, *rest = outputs
    inverse_std = 1 / xp.sqrt(variance + variance.dtype.type(attrs.eps))
    return _moving_statistics(xp, attrs, inputs, (output, mean, inverse_std, *rest))


def _sync_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    return _gradients(F, node, heads, F.rsqrt(node.outputs[2] + node.attrs.eps))


def _grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    return _gradients(F, node, heads, node.outputs[2])


def _gradients(F: Any, node: GradNode, heads: Sequence[Any], inverse_std: Any) -> list[Any]:
    attrs = node.attrs
    data, gamma = node.inputs[:2]
    to_data, to_gamma, to_beta = F._backward_norm(
        heads[0],
        data,
        F.ones_like(gamma) if attrs.fix_gamma else gamma,
        node.outputs[1],
        inverse_std,
        kind="batch",
        axis=getattr(attrs, "axis", 1),
        eps=attrs.eps,
        own_statistics=_own(attrs, node.train),
    )
    return [to_data, F.zeros_like(gamma) if attrs.fix_gamma else to_gamma, to_beta, None, None]


def _relu_kernel(xp: Any, attrs: Attrs, *arrays: Any, train: bool) -> tuple[Any, ...]:
    output, *rest = _kernel(xp, attrs, *arrays, train=train)
    return xp.maximum(output, output.dtype.type(0), out=output), *rest


def _relu_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    return _grad(F, node, [F._backward_relu(heads[0], node.outputs[0]), *heads[1:]])


_STATE: dict[int, Any] = {3: [0.1, -0.2, 0.3], 4: [0.5, 1.5, 1.0]}
_CHANNELS = ((3,),) * 4


def _sample(shape: tuple[int, ...], **attrs: Any) -> Sample:
    return Sample((shape, *_CHANNELS), attrs, low=0.2, high=1.5, values=_STATE, nograd=(3, 4))


def _samples(**extra: Any) -> tuple[Sample, ...]:
    return (
        _sample((4, 3, 3, 2), fix_gamma=False, **extra),
        _sample((4, 3), **extra),
        _sample((4, 3, 5), fix_gamma=False, use_global_stats=True, **extra),
        _sample((1, 3, 2), fix_gamma=False, eps=0.01, **extra),
        _sample((0, 3, 2), fix_gamma=False, **extra),
        Sample(((4, 3), (4,), (3,), (3,), (3,)), extra, error="MXNetError"),
    )


def _record(name: str, attrs: tuple[Attr, ...], doc: str, samples: tuple[Sample, ...], **changes: Any) -> OpDef:
    settings: dict[str, Any] = {"grad": _grad, "backward_state": _moving_statistics, **changes}
    kernel = settings.pop("kernel", _kernel)
    return OpDef(
        name,
        kernel,
        inputs=_INPUTS,
        attrs=attrs,
        outputs=("output", "mean", "var"),
        visible=lambda attrs: 3 if attrs.output_mean_var else 1,
        aux=_INPUTS[3:],
        variable_init={"moving_mean": '["zero", {}]', "moving_var": '["one", {}]'},
        mutates=("gamma",),
        infer_shape=_infer_shape,
        infer_dtype=_infer_dtype,
        train_dependent=True,
        doc=doc,
        samples=samples,
        **settings,
    )


_DOC = """(data - mean) / sqrt(var + eps) * gamma + beta for each channel (`axis`), parameters of shape (channels,).

In train mode mean and (population) variance are those of the batch, and backward moves `moving_mean` and `moving_var`
towards them; else, and with `use_global_stats`, they are the moving ones. `fix_gamma`, the default, sets gamma to 1 in
place. `output_mean_var` also returns the mean and the inverse standard deviation."""

OPERATORS = (
    _record(
        "BatchNorm",
        ATTRS,
        _DOC,
        (*_samples(), _sample((2, 4, 3), fix_gamma=False, axis=-1), _sample((4, 2, 3, 3), fix_gamma=False, axis=2)),
        aliases=("_npx_batch_norm",),
        fast=Elementwise(_template_lines, _has_template, pieces=1),
    ),
    _record(
        "BatchNorm_v1",
        _COMMON,
        "BatchNorm of old models, over axis 1.",
        _samples(),
        fast=Elementwise(_template_lines, _has_template, pieces=1),
    ),
    _record(
        "_contrib_SyncBatchNorm",
        (*_COMMON, Attr("ndev", "int", 1), Attr("key", "str")),
        """BatchNorm over axis 1; with one process there is nothing to synchronise. With `output_mean_var` the third
        output is the variance.""",
        _samples(key="k"),
        kernel=_sync_kernel,
        grad=_sync_grad,
        backward_state=_sync_moving_statistics,
    ),
    _record(
        "_contrib_BatchNormWithReLU",
        ATTRS,
        "BatchNorm followed by relu.",
        _samples(),
        kernel=_relu_kernel,
        grad=_relu_grad,
        stored_outputs=lambda attrs: 4,
    ),
)
