"""Custom: operators that users write in Python (`mx.operator`), and their gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.custom_registry import make_session
from autohybrid.tensor.opdef import Dtypes, GradNode, OpDef, Shape, Shapes

_OP_TYPE = Attr("op_type", "str", doc="the name given to `mx.operator.register`")


def _forward(xp: Any, attrs: Attrs, *arrays: Any, train: bool) -> tuple[Any, ...]:
    return attrs.session.forward(arrays, train)  # type: ignore[no-any-return]


def _infer_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    return attrs.session.infer_shapes(ins, outs)  # type: ignore[no-any-return]


def _infer_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Sequence[str | None], Sequence[str | None]]:
    return attrs.session.infer_dtypes(ins, outs)  # type: ignore[no-any-return]


def _gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    session = node.attrs.session
    if not session.needs_heads:  # a loss: what flows back is its own affair, and no head gradient need be there
        heads = [F.zeros_like(output) for output in node.outputs]
    result = F._backward_Custom(*heads, *node.inputs, *node.outputs, session=session, **node.attrs.given)
    gradients = list(result) if isinstance(result, (list, tuple)) else [result]
    return gradients + [None] * len(session.states)


def _backward(xp: Any, attrs: Attrs, *arrays: Any) -> tuple[Any, ...]:
    return attrs.session.backward(arrays)  # type: ignore[no-any-return]


def _backward_shapes(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    return ins, attrs.session.argument_part(ins)


def _backward_dtypes(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    return ins, attrs.session.argument_part(ins)


OPERATORS: tuple[OpDef, ...] = (
    OpDef(
        "Custom",
        _forward,
        inputs=(),
        attrs=(_OP_TYPE,),
        outputs=lambda attrs: attrs.session.outputs,
        active_inputs=lambda attrs: attrs.session.inputs,
        aux=lambda attrs: attrs.session.states,
        infer_shape=_infer_shape,
        infer_dtype=_infer_dtype,
        grad=_gradient,
        aliases=("_npi_Custom",),
        train_dependent=True,
        open_attrs=True,
        session=make_session,
        doc="An operator written in Python: `op_type` names it, further keywords go to its property class as text.",
    ),
    OpDef(
        "_backward_Custom",
        _backward,
        inputs=(),
        attrs=(_OP_TYPE,),
        outputs=lambda attrs: tuple(f"{name}_grad" for name in attrs.session.arguments),
        active_inputs=lambda attrs: attrs.session.backward_inputs,
        infer_shape=_backward_shapes,
        infer_dtype=_backward_dtypes,
        open_attrs=True,
        session=make_session,
        doc="The gradient of Custom: its head gradients, inputs and outputs to the gradients of its arguments.",
    ),
)
