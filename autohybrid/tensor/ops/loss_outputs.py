"""Outputs that bring their own gradient and ignore the head: regression, SVM, MakeLoss, the sparseness penalty."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import GradNode, OpDef, Sample, Shape, Shapes, zero_gradient
from autohybrid.tensor.precision import narrow, widen
from autohybrid.tensor.shapes import is_known, same_floating, unify
from autohybrid.tensor.special import logistic

_GRAD_SCALE = Attr("grad_scale", "float", 1.0)


def _regression_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    data, label = unify(ins[0], outs[0]), ins[1]
    if data is None:
        return ins, outs
    if label is None:  # outputs of one unit take labels without their last axis by default
        return [data, data[:1] if len(data) == 2 and data[1] == 1 else data], [data]
    if is_known(data) and is_known(label) and (label[:1] != data[:1] or math.prod(label) != math.prod(data)):
        raise MXNetError(
            f"`label` of shape {label} does not fit data of shape {data}: first axis and size must be equal"
        )
    return [data, label], [data]


def _copy(xp: Any, attrs: Attrs, data: Any, label: Any) -> Any:
    return data.copy()


def _logistic(xp: Any, attrs: Attrs, data: Any, label: Any) -> Any:
    return narrow(logistic(xp, *widen(xp, data)), data)


def _regression_grad(difference: Callable[[Any, Any, Any], Any]) -> Callable[[Any, GradNode, Sequence[Any]], list[Any]]:
    def grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
        data, label = node.inputs
        error = difference(F, data, F.reshape_like(label, data))
        return [F._per_output(error, scale=node.attrs.grad_scale), None]

    return grad


def _per_output(xp: Any, attrs: Attrs, data: Any) -> Any:
    units = math.prod(data.shape[1:])
    return data * data.dtype.type(attrs.scale / max(units, 1))


def _svm_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    data = unify(ins[0], outs[0])
    if data is None:
        return ins, outs
    if len(data) < 2:
        raise MXNetError(f"data must have at least 2 dimensions (..., classes), got {data}")
    return [data, unify(ins[1], data[:-1])], [data]


def _svm_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    (data, label), attrs = node.inputs, node.attrs
    sign = F._class_signs(data, label)
    missing = F.relu(attrs.margin - sign * data)
    if attrs.use_linear:
        return [sign * (missing > 0) * -attrs.regularization_coefficient, None]
    return [sign * missing * (-2 * attrs.regularization_coefficient), None]


def _class_signs(xp: Any, attrs: Attrs, data: Any, label: Any) -> Any:
    hit = xp.arange(data.shape[-1]) == label.astype(xp.int64)[..., None]
    return hit * data.dtype.type(2) - data.dtype.type(1)


def _make_loss_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    attrs = node.attrs
    return F._backward_MakeLoss(
        node.inputs[0],
        grad_scale=attrs.grad_scale,
        valid_thresh=attrs.valid_thresh,
        normalization=attrs.normalization,
    )


def _make_loss_backward(xp: Any, attrs: Attrs, data: Any) -> Any:
    if attrs.normalization == "valid":
        count = xp.maximum((data > attrs.valid_thresh).sum(), 1)
        return xp.broadcast_to((attrs.grad_scale / count).astype(data.dtype), data.shape).copy()
    count = data.shape[0] if attrs.normalization == "batch" and data.ndim else 1
    return xp.full(data.shape, attrs.grad_scale / max(count, 1), dtype=data.dtype)


def _sparse_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    data = unify(ins[0], outs[0])
    if data is None:
        return ins, outs
    if len(data) != 2:
        raise MXNetError(f"data must have 2 dimensions (n, units), got {data}")
    return [data, unify(ins[1], data[1:])], [data]


def _moved(attrs: Attrs, average: Any, mean: Any) -> Any:
    return average * attrs.momentum + mean * (1 - attrs.momentum)


def _sparse_state(xp: Any, attrs: Attrs, inputs: Sequence[Any], outputs: Sequence[Any]) -> Mapping[str, Any]:
    return {"moving_avg": _moved(attrs, inputs[1], inputs[0].mean(axis=0))}


def _sparse_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    (data, average), attrs = node.inputs, node.attrs
    activity = _moved(attrs, average, F.mean(data, axis=0))
    target = attrs.sparseness_target
    pull = (1 - target) / (1 - activity) - target / activity
    return [F.broadcast_add(heads[0], F._along_axis(pull * attrs.penalty, data, axis=1)), None]


def _regression(name: str, kernel: Any, difference: Callable[[Any, Any, Any], Any], doc: str) -> OpDef:
    return OpDef(
        name,
        kernel,
        inputs=("data", "label"),
        attrs=(_GRAD_SCALE,),
        infer_shape=_regression_shape,
        infer_dtype=same_floating,
        grad=_regression_grad(difference),
        aliases=(f"_sparse_{name}",),
        doc=f"{doc}; backward ignores the head and gives the error * grad_scale / units.",
        samples=(
            Sample(((4, 3), (4, 3)), {"grad_scale": 0.5}, nograd=(0, 1)),
            Sample(((4, 1), (4,)), nograd=(0, 1)),
            Sample(((1,), (1,)), nograd=(0, 1)),
            Sample(((0, 3), (0, 3)), nograd=(0, 1)),
            Sample(((4, 3), (4, 4)), error="MXNetError"),
        ),
    )


OPERATORS = (
    _regression(
        "LinearRegressionOutput", _copy, lambda F, x, t: x - t, "The data, with the gradient of half the squared error"
    ),
    _regression(
        "LogisticRegressionOutput",
        _logistic,
        lambda F, x, t: F.sigmoid(x) - t,
        "sigmoid(data), with the gradient of the binary cross entropy",
    ),
    _regression(
        "MAERegressionOutput",
        _copy,
        lambda F, x, t: (x > t) * 2 - 1,  # where they are equal, MXNet's is -1
        "The data, with the gradient of the absolute error",
    ),
    OpDef(
        "_per_output",
        _per_output,
        attrs=(Attr("scale", "float"),),
        grad=lambda F, node, heads: F._per_output(heads[0], scale=node.attrs.scale),
        doc="`data` times `scale`, divided by the number of elements behind the first axis.",
        samples=(Sample(((4, 3),), {"scale": 0.5}),),
    ),
    OpDef(
        "SVMOutput",
        _copy,
        inputs=("data", "label"),
        attrs=(
            Attr("margin", "float", 1.0),
            Attr("regularization_coefficient", "float", 1.0),
            Attr("use_linear", "bool", False),
        ),
        infer_shape=_svm_shape,
        infer_dtype=same_floating,
        grad=_svm_grad,
        doc="""The data; backward ignores the head and gives the gradient of the (squared, or with `use_linear`
        plain) hinge loss of scores (..., classes) and labels (...).""",
        samples=(
            Sample(((4, 3), (4,)), {"margin": 0.5}, values={1: [2, 0, 1, 1]}, nograd=(0, 1)),
            Sample(((4, 3), (4,)), {"use_linear": True}, values={1: [2, 0, 1, 1]}, nograd=(0, 1)),
            Sample(((0, 3), (0,)), nograd=(0, 1)),
            Sample(((4, 3), (5,)), error="MXNetError"),
        ),
    ),
    OpDef(
        "_class_signs",
        _class_signs,
        inputs=("data", "label"),
        infer_shape=_svm_shape,
        grad=zero_gradient,
        doc="1 at the class that `label` names, else -1, in the shape of `data`.",
        samples=(Sample(((4, 3), (4,)), values={1: [2, 0, 1, 1]}),),
    ),
    OpDef(
        "MakeLoss",
        lambda xp, attrs, data: data.copy(),
        attrs=(
            _GRAD_SCALE,
            Attr("valid_thresh", "float", 0.0),
            Attr("normalization", "enum", "null", ("batch", "null", "valid")),
        ),
        infer_dtype=same_floating,
        grad=_make_loss_grad,
        doc="""The data as a loss: backward ignores the head and gives grad_scale, divided by the batch or the
        elements above `valid_thresh` as `normalization` says.""",
        samples=(
            Sample(((4, 3),), nograd=(0,)),
            Sample(((4, 3),), {"normalization": "valid", "valid_thresh": 0.2}, nograd=(0,)),
            Sample(((1,),), {"normalization": "batch", "grad_scale": 2.0}, nograd=(0,)),
            Sample(((0, 3),), nograd=(0,)),
        ),
    ),
    OpDef(
        "_backward_MakeLoss",
        _make_loss_backward,
        attrs=(_GRAD_SCALE, Attr("valid_thresh", "float", 0.0), Attr("normalization", "str", "null")),
        grad=zero_gradient,
        doc="The gradient of MakeLoss.",
        samples=(Sample(((4, 3),), {"normalization": "batch"}),),
    ),
    OpDef(
        "IdentityAttachKLSparseReg",
        lambda xp, attrs, data, moving_avg: data.copy(),
        inputs=("data", "moving_avg"),
        aux=("moving_avg",),
        variable_init={"moving_avg": '["zero", {}]'},
        attrs=(
            Attr("sparseness_target", "float", 0.1, low=0, high=1),
            Attr("penalty", "float", 1e-3),
            Attr("momentum", "float", 0.9, low=0, high=1),
        ),
        infer_shape=_sparse_shape,
        infer_dtype=same_floating,
        grad=_sparse_grad,
        backward_state=_sparse_state,
        train_dependent=False,
        doc="""The data (n, units), activations in (0, 1); backward adds the gradient of a penalty that draws the
        average activity of each unit towards `sparseness_target`.""",
        samples=(Sample(((4, 3), (3,)), low=0.2, high=0.8, nograd=(0, 1)),),
    ),
)
