"""RNN: stacked recurrent networks as one operator, with derivatives of second order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor import packed_recurrence
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.dual import Dual
from autohybrid.tensor.lstm_forward import forward as lstm_forward
from autohybrid.tensor.lstm_forward import is_plain_lstm
from autohybrid.tensor.opdef import Dtypes, GradNode, OpDef, Sample, Shape, Shapes
from autohybrid.tensor.precision import narrow, widen
from autohybrid.tensor.recurrence import GATES, Network, backward, forward
from autohybrid.tensor.shapes import require_floating, unify, unify_dtypes
from autohybrid.tensor.templates import is_simple

_ATTRS = (
    Attr("state_size", "int"),
    Attr("num_layers", "int"),
    Attr("bidirectional", "bool", False),
    Attr("mode", "enum", choices=("gru", "lstm", "rnn_relu", "rnn_tanh")),
    Attr("p", "float", 0.0, low=0, high=1),
    Attr("state_outputs", "bool", False),
    Attr("projection_size", "int?", None),
    Attr("lstm_state_clip_min", "float?", None),
    Attr("lstm_state_clip_max", "float?", None),
    Attr("lstm_state_clip_nan", "bool", False),
    Attr("use_sequence_length", "bool", False),
)


def _inputs(attrs: Attrs) -> tuple[str, ...]:
    names = ["data", "parameters", "state"]
    if attrs.mode == "lstm":
        names.append("state_cell")
    if attrs.use_sequence_length:
        names.append("sequence_length")
    return tuple(names)


def _outputs(attrs: Attrs) -> tuple[str, ...]:
    if attrs.mode == "lstm":
        return ("output", "state_output", "statecell_output", "mask")
    return ("output", "state_output", "mask")


def _visible(attrs: Attrs) -> int:
    return 1 if not attrs.state_outputs else len(_outputs(attrs)) - 1


def _network(attrs: Attrs, width: int) -> Network:
    if attrs.state_size < 1 or attrs.num_layers < 1:
        raise MXNetError(
            f"`state_size` and `num_layers` must be positive, got {attrs.state_size} and {attrs.num_layers}"
        )
    if attrs.projection_size and attrs.mode != "lstm":
        raise MXNetError(f"`projection_size` is for mode 'lstm' only, the mode is '{attrs.mode}'")
    low, high = attrs.lstm_state_clip_min, attrs.lstm_state_clip_max
    if (low is None) != (high is None):
        raise MXNetError("give both `lstm_state_clip_min` and `lstm_state_clip_max`, or neither")
    return Network(
        attrs.mode,
        attrs.num_layers,
        2 if attrs.bidirectional else 1,
        width,
        attrs.state_size,
        attrs.projection_size or 0,
        None if low is None else (low, high),
    )


def _infer_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    data = ins[0]
    if data is None:
        return ins, outs
    if len(data) != 3:
        raise MXNetError(f"data must have 3 dimensions (time, batch, width), got {data}")
    steps, batch, width = data
    network = _network(attrs, max(width, 0))
    cells = network.layers * network.directions
    known = [data, unify(ins[1], (-1 if width == -1 else network.size,)), unify(ins[2], (cells, batch, network.state))]
    if attrs.mode == "lstm":
        known.append(unify(ins[3], (cells, batch, network.hidden)))
    if attrs.use_sequence_length:
        known.append(unify(ins[-1], (batch,)))
    mask: Shape = (max(network.layers - 1, 0), steps, batch, network.state * network.directions)
    return known, [
        (steps, batch, network.state * network.directions),
        *known[2 : 4 if attrs.mode == "lstm" else 3],
        mask,
    ]


def _infer_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Sequence[str | None], Sequence[str | None]]:
    tensors = ins[:-1] if attrs.use_sequence_length else ins
    dtype = require_floating(unify_dtypes([*tensors, *outs]))
    return [*[dtype] * len(tensors), *ins[len(tensors) :]], [dtype] * len(outs)


def _parts(attrs: Attrs, arrays: Sequence[Any]) -> tuple[Any, Any, Any, Any, Any]:
    """data, parameters, state, cell state (None but for lstm), lengths (None where not used)."""
    cell = arrays[3] if attrs.mode == "lstm" else None
    return arrays[0], arrays[1], arrays[2], cell, arrays[-1] if attrs.use_sequence_length else None


def _drops(attrs: Attrs, train: bool) -> bool:
    return train and attrs.p > 0 and attrs.num_layers > 1


def _kernel(xp: Any, attrs: Attrs, *arrays: Any, train: bool, rng: Any) -> tuple[Any, ...]:
    data, parameters, state, cell, lengths = _parts(attrs, arrays)
    network = _network(attrs, data.shape[2])
    masks = None
    shape = (network.layers - 1, *data.shape[:2], network.state * network.directions)
    if _drops(attrs, train):
        kept = rng.random(shape, dtype=xp.float32) >= attrs.p
        masks = kept.astype(data.dtype) * data.dtype.type(1 / (1 - attrs.p) if attrs.p < 1 else 0)
    if not math.prod(data.shape[:2]):
        output = xp.zeros((*data.shape[:2], network.state * network.directions), dtype=data.dtype)
        results = [output, state.copy()] + ([] if cell is None else [cell.copy()])
    else:
        x, weights, first, memory = _wide(xp, data, parameters, state, cell)
        if is_plain_lstm(network, lengths):
            found: tuple[Any, ...] = lstm_forward(xp, network, x, weights, first, memory, masks)
        else:
            found = forward(xp, network, x, weights, first, memory, lengths, masks)
        results = [narrow(r, data) for r in found[:3] if r is not None]
    if masks is None:
        masks = xp.broadcast_to(xp.ones((), dtype=data.dtype), shape)
    return (*results, masks)


def _wide(xp: Any, *arrays: Any) -> list[Any]:
    return [None if a is None else widen(xp, a)[0] for a in arrays]


def _fast(call: Any) -> list[str] | None:
    """All layers over packed weights, where nothing but outputs and last states is needed."""
    attrs, shape = call.attrs, call.shapes[0]
    network = _network(attrs, shape[2])
    mask = len(_outputs(attrs)) - 1
    usable = is_simple(call) and 0 not in shape and not _drops(attrs, call.train) and call.output(mask) is None
    if call.exact or attrs.use_sequence_length or not usable or not packed_recurrence.covers(network):
        return None
    steps, batch, _ = shape
    weights = call.prepared("packed", packed_recurrence.pack, [1], call.shapes[1], network, steps, batch)
    if weights is None:
        return None
    run, sizes = call.bound("run_layers", packed_recurrence.run), call.constant("network", network)
    gates = call.scratch("gates", (GATES[attrs.mode], batch, network.hidden))
    at_once = packed_recurrence.steps_at_once(steps, batch)
    projected = call.scratch("projected", (GATES[attrs.mode], at_once, batch, network.hidden))
    memory = call.inputs[3] if attrs.mode == "lstm" else "None"
    last = [call.output(i) or "_" for i in (1, 2)]
    if attrs.mode != "lstm":
        last[1] = "_"
    operands = f"{sizes}, {weights}, {call.inputs[0]}, {call.inputs[2]}, {memory}, {projected}, {gates}, {call.out}"
    return [f"{call.out} = {call.memory() or call.empty(call.out_shape)}", f"{', '.join(last)} = {run}({operands})"]


def _settings(attrs: Attrs) -> dict[str, Any]:
    return {a.name: getattr(attrs, a.name) for a in _ATTRS}


def _grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    attrs = node.attrs
    dropping = _drops(attrs, node.train)
    masks = [node.outputs[-1]] if dropping else []
    found = F._backward_RNN(*heads[:-1], *node.inputs, *masks, dropping=dropping, **_settings(attrs))
    return [*found, None] if attrs.use_sequence_length else list(found)


# -- gradients ---------------------------------------------------------------------------------------------------------


def _head_names(attrs: Attrs) -> tuple[str, ...]:
    names = ("output_head", "state_head", "state_cell_head")
    return names[: 3 if attrs.mode == "lstm" else 2]


def _backward_inputs(attrs: Attrs) -> tuple[str, ...]:
    return (*_head_names(attrs), *_inputs(attrs), *(("mask",) if attrs.dropping else ()))


def _gradients_of(attrs: Attrs) -> tuple[str, ...]:
    return _inputs(attrs)[: 4 if attrs.mode == "lstm" else 3]


def _sorted_out(xp: Any, attrs: Attrs, arrays: Sequence[Any]) -> tuple[list[Any], list[Any], Any, Any]:
    """Of the inputs of a backward: the heads, (data, parameters, state[, cell]) in float, lengths, masks."""
    heads, rest = len(_head_names(attrs)), len(_gradients_of(attrs))
    masks = arrays[-1] if attrs.dropping else None
    lengths = arrays[heads + rest] if attrs.use_sequence_length else None
    return _wide(xp, *arrays[:heads]), _wide(xp, *arrays[heads : heads + rest]), lengths, masks


def _backward_kernel(xp: Any, attrs: Attrs, *arrays: Any) -> tuple[Any, ...]:
    heads, tensors, lengths, masks = _sorted_out(xp, attrs, arrays)
    _, found = _both_ways(xp, attrs, heads, tensors, lengths, masks)
    return tuple(narrow(g, arrays[0]) for g in found)


def _both_ways(
    xp: Any, attrs: Attrs, heads: list[Any], tensors: list[Any], lengths: Any, masks: Any
) -> tuple[list[Any], list[Any]]:
    """Forward and back: the outputs, and the gradients of data, parameters, state and cell state."""
    data, parameters, state, cell = (*tensors, None)[:4]
    network = _network(attrs, data.shape[2])
    *outputs, traces = forward(xp, network, data, parameters, state, cell, lengths, masks)
    output_head, state_head, cell_head = (*heads, None)[:3]
    found = backward(xp, network, parameters, traces, (output_head, state_head, cell_head), lengths, masks)
    return [o for o in outputs if o is not None], [g for g in found if g is not None]


def _backward_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    first = len(_head_names(attrs))
    return ins, [unify(a, b) for a, b in zip(ins[first:], outs)]


def _backward_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Sequence[str | None], Sequence[str | None]]:
    return ins, [ins[0]] * len(outs)


def _backward_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    attrs = node.attrs
    found = F._second_backward_RNN(*heads, *node.inputs, dropping=attrs.dropping, **_settings(attrs))
    return [*found, *[None] * (len(node.inputs) - len(found))]


def _second_inputs(attrs: Attrs) -> tuple[str, ...]:
    return (*[f"{name}_direction" for name in _gradients_of(attrs)], *_backward_inputs(attrs))


def _second_outputs(attrs: Attrs) -> tuple[str, ...]:
    return (*_head_names(attrs), *_gradients_of(attrs))


def _second_kernel(xp: Any, attrs: Attrs, *arrays: Any) -> tuple[Any, ...]:
    """With B the backward: <u, B> has as gradients the derivatives along u of the outputs (in the heads) and of B
    itself (in data, parameters and states); both are the tangents of one pass over duals."""
    count = len(_gradients_of(attrs))
    directions = _wide(xp, *arrays[:count])
    heads, tensors, lengths, masks = _sorted_out(xp, attrs, arrays[count:])
    duals = [Dual(value, along) for value, along in zip(tensors, directions)]
    outputs, gradients = _both_ways(xp, attrs, heads, duals, lengths, masks)
    return tuple(narrow(d.tangent, arrays[0]) for d in (*outputs, *gradients))


def _second_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    first = len(_gradients_of(attrs))
    return ins, [unify(a, b) for a, b in zip(ins[first:], outs)]


def _flops(attrs: Attrs, ins: Shapes, out: tuple[int, ...]) -> int:
    """Of the products: every weight is used once for each step of each sequence."""
    data, parameters = ins[:2]
    return 0 if data is None or parameters is None else 2 * data[0] * data[1] * parameters[0]


_DROPPING = Attr("dropping", "bool", False)
_LENGTHS: dict[str, Any] = {"use_sequence_length": True, "num_layers": 1, "state_size": 2}


def _case(mode: str, layers: int, both: bool, size: int, **more: Any) -> Sample:
    attrs = {"mode": mode, "num_layers": layers, "state_size": 2, "bidirectional": both, "state_outputs": True, **more}
    cells = layers * (2 if both else 1)
    state = more.get("projection_size", 2)
    shapes = [(3, 2, 3), (size,), (cells, 2, state)] + ([(cells, 2, 2)] if mode == "lstm" else [])
    return Sample(tuple(shapes), attrs)


OPERATORS = (
    OpDef(
        "RNN",
        _kernel,
        inputs=("data", "parameters", "state", "state_cell", "sequence_length"),
        attrs=_ATTRS,
        active_inputs=_inputs,
        outputs=_outputs,
        visible=_visible,
        stored_outputs=_visible,
        infer_shape=_infer_shape,
        infer_dtype=_infer_dtype,
        grad=_grad,
        flops=_flops,
        aliases=("_npx_rnn",),
        random=True,
        train_dependent=True,
        fast=_fast,
        doc="""Stacked recurrent layers over data (time, batch, width): modes rnn_relu, rnn_tanh, lstm and gru.

        `parameters` is one vector (weights of all layers and directions, then biases), states are (layers *
        directions, batch, state_size). The output is (time, batch, directions * state_size);
        `state_outputs` adds the last states. `p` drops between layers in train mode. With
        `use_sequence_length`, steps behind the end of a sequence give 0 and do not count.""",
        samples=(
            _case("rnn_relu", 1, False, 14),
            _case("rnn_tanh", 2, False, 26),
            _case("lstm", 2, True, 240),
            _case("gru", 1, True, 84),
            _case("lstm", 1, False, 50, projection_size=1),
            _case("lstm", 1, False, 56, lstm_state_clip_min=-0.2, lstm_state_clip_max=0.2),
            Sample(
                ((3, 2, 3), (84,), (2, 2, 2), (2,)),
                {**_LENGTHS, "mode": "gru", "bidirectional": True},
                values={3: [1, 3]},
                nograd=(3,),
            ),
            Sample(
                ((3, 2, 3), (56,), (1, 2, 2), (1, 2, 2), (2,)),
                {**_LENGTHS, "mode": "lstm"},
                values={4: [2, 3]},
                nograd=(4,),
            ),
            Sample(
                ((3, 2, 3), (40,), (1, 2, 2)), {"mode": "gru", "state_size": 2, "num_layers": 1}, error="MXNetError"
            ),
        ),
    ),
    OpDef(
        "_backward_RNN",
        _backward_kernel,
        inputs=(
            "output_head",
            "state_head",
            "state_cell_head",
            "data",
            "parameters",
            "state",
            "state_cell",
            "sequence_length",
            "mask",
        ),
        attrs=(*_ATTRS, _DROPPING),
        active_inputs=_backward_inputs,
        outputs=_gradients_of,
        infer_shape=_backward_shape,
        infer_dtype=_backward_dtype,
        grad=_backward_grad,
        doc="The gradients of RNN for data, parameters and states.",
        samples=(
            Sample(
                ((3, 2, 2), (1, 2, 2), (3, 2, 3), (14,), (1, 2, 2)),
                {"mode": "rnn_tanh", "state_size": 2, "num_layers": 1},
            ),
        ),
    ),
    OpDef(
        "_second_backward_RNN",
        _second_kernel,
        inputs=(
            "data_direction",
            "parameters_direction",
            "state_direction",
            "state_cell_direction",
            "output_head",
            "state_head",
            "state_cell_head",
            "data",
            "parameters",
            "state",
            "state_cell",
            "sequence_length",
            "mask",
        ),
        attrs=(*_ATTRS, _DROPPING),
        active_inputs=_second_inputs,
        outputs=_second_outputs,
        infer_shape=_second_shape,
        infer_dtype=_backward_dtype,
        doc="The gradients of `_backward_RNN` for its heads, data, parameters and states.",
        samples=(
            Sample(
                ((3, 2, 3), (14,), (1, 2, 2), (3, 2, 2), (1, 2, 2), (3, 2, 3), (14,), (1, 2, 2)),
                {"mode": "rnn_tanh", "state_size": 2, "num_layers": 1},
            ),
        ),
    ),
)
