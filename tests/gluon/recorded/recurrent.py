"""Recurrent cells and layers."""

from __future__ import annotations

from typing import Any

from recorded.support import described, fill, flat, ramp, ready, trained_once

CELLS: dict[str, Any] = {
    "rnn": lambda r: r.RNNCell(3, prefix="c_"),
    "rnn_relu": lambda r: r.RNNCell(3, activation="relu", input_size=2, prefix="c_"),
    "lstm": lambda r: r.LSTMCell(3, prefix="c_"),
    "lstm_other_activations": lambda r: r.LSTMCell(2, activation="softsign", recurrent_activation="tanh", prefix="c_"),
    "gru": lambda r: r.GRUCell(3, prefix="c_"),
}


def _stepped(make: Any) -> Any:
    def run(mx: Any) -> Any:
        cell = make(mx.gluon.rnn)
        states = [ramp(mx, 2, info["shape"][1]) for info in cell.state_info(2)]
        return [trained_once(mx, cell, ramp(mx, 2, 2), states), described(cell), cell.state_info(4)]

    return run


def _unrolled(make: Any, layout: str, merge: Any, lengths: bool) -> Any:
    def run(mx: Any) -> Any:
        cell = make(mx.gluon.rnn)
        shape = (2, 3, 2) if layout == "NTC" else (3, 2, 2)
        x = ramp(mx, *shape)
        valid = mx.nd.array([1, 3]) if lengths else None
        cell.initialize()
        cell.unroll(3, x, layout=layout)
        fill(mx, cell)
        outputs, states = cell.unroll(3, x, layout=layout, merge_outputs=merge, valid_length=valid)
        return [isinstance(outputs, list), flat(outputs), states]

    return run


def _stacked(mx: Any) -> Any:
    r = mx.gluon.rnn
    stack = r.HybridSequentialRNNCell(prefix="s_")
    with stack.name_scope():
        stack.add(r.LSTMCell(2))
        stack.add(r.DropoutCell(0.5))
        stack.add(r.ResidualCell(r.GRUCell(2)))
    stack.initialize()
    x = ramp(mx, 2, 4, 2)
    stack.unroll(4, x)
    fill(mx, stack)
    outputs, states = stack.unroll(4, x, merge_outputs=True)
    step = stack(x[:, 0], stack.begin_state(batch_size=2, func=mx.nd.zeros))
    return [outputs, states, flat(step), described(stack), len(stack), type(stack[1]).__name__]


def _bidirectional(merge: Any, lengths: bool) -> Any:
    def run(mx: Any) -> Any:
        r = mx.gluon.rnn
        cell = r.BidirectionalCell(r.GRUCell(2, prefix="l_"), r.RNNCell(3, prefix="r_"))
        x = ramp(mx, 2, 3, 2)
        cell.initialize()
        cell.unroll(3, x)
        fill(mx, cell)
        valid = mx.nd.array([2, 3]) if lengths else None
        outputs, states = cell.unroll(3, x, merge_outputs=merge, valid_length=valid)
        return [flat(outputs), states, repr(cell), cell.state_info(2)]

    return run


def _modifiers(mx: Any) -> Any:
    r = mx.gluon.rnn
    zoneout = r.ZoneoutCell(r.LSTMCell(2, prefix="z_"), 0.3, 0.2)
    residual = r.ResidualCell(r.RNNCell(2, prefix="r_"))
    x = ramp(mx, 2, 2)
    results = []
    for cell in (zoneout, residual):
        states = cell.begin_state(func=mx.nd.zeros, batch_size=2)
        cell.initialize()
        cell(x, states)
        fill(mx, cell)
        cell.reset()
        results.append(flat(cell(x, states)))
    return [results, repr(zoneout), repr(residual), zoneout.prefix, list(residual.collect_params())]


def _layer(make: Any, shape: tuple[int, ...], states: bool = False) -> Any:
    def run(mx: Any) -> Any:
        layer = make(mx.gluon.rnn)
        x = ramp(mx, *shape)
        batch = shape[0] if layer._layout == "NTC" else shape[1]
        args = [x]
        if states:
            args.append([ramp(mx, *info["shape"]) for info in layer.state_info(batch)])
        return [trained_once(mx, layer, *args), described(layer), [i["shape"] for i in layer.state_info(batch)]]

    return run


LAYERS: dict[str, Any] = {
    "rnn_layer": _layer(lambda r: r.RNN(3), (4, 2, 2)),
    "rnn_tanh_two_layers": _layer(lambda r: r.RNN(2, 2, "tanh", dropout=0.0), (3, 2, 3), True),
    "lstm_layer_ntc": _layer(lambda r: r.LSTM(3, layout="NTC"), (2, 4, 2)),
    "lstm_bidirectional_two_layers": _layer(lambda r: r.LSTM(2, 2, bidirectional=True), (3, 2, 2), True),
    "gru_layer": _layer(lambda r: r.GRU(3, input_size=2), (4, 1, 2), True),
    "gru_bidirectional_ntc": _layer(lambda r: r.GRU(2, layout="NTC", bidirectional=True), (2, 3, 2)),
}


def _projected(mx: Any) -> Any:
    layer = mx.gluon.rnn.LSTM(4, projection_size=2, input_size=3, prefix="p_")
    x = ramp(mx, 3, 2, 3)
    ready(mx, layer, x)
    outputs, states = layer(x, layer.begin_state(2))
    return [outputs, states, list(layer.collect_params()), sorted(layer._collect_params_with_prefix())]


def _wrong_states(mx: Any) -> Any:
    layer = mx.gluon.rnn.GRU(2, input_size=1)
    layer.initialize()
    return layer(mx.nd.ones((3, 2, 1)), mx.nd.zeros((2, 2, 2)))


def _unfused(mx: Any) -> Any:
    layer = mx.gluon.rnn.GRU(2, 2, bidirectional=True, input_size=3, dropout=0.5, prefix="u_")
    x = ramp(mx, 3, 2, 3)
    ready(mx, layer, x)
    cells = layer._unfuse()
    outputs, _ = cells.unroll(3, x, layout="TNC", merge_outputs=True)
    return [layer(x), outputs, repr(cells), list(cells.collect_params())]


def _conv_cell(kind: str) -> Any:
    def run(mx: Any) -> Any:
        cell = (
            getattr(mx.gluon.contrib.rnn, kind)((2, 5), 3, 3, 3, 1, prefix="c_")
            if "1D" in kind
            else getattr(mx.gluon.contrib.rnn, kind)(
                (2, 3, 4), 2, (3, 2), (1, 3), i2h_pad=(1, 0), activation="relu", prefix="c_"
            )
        )
        x = ramp(mx, 2, *cell._input_shape)
        cell.initialize()
        fill(mx, cell)
        states = [ramp(mx, *info["shape"]) for info in cell.state_info(2)]
        return [flat(cell(x, states)), described(cell), cell.state_info(2)]

    return run


def _variational(mx: Any) -> Any:
    cell = mx.gluon.contrib.rnn.VariationalDropoutCell(mx.gluon.rnn.RNNCell(2, prefix="v_"), 0.3, 0.0, 0.2)
    x = ramp(mx, 2, 3, 2)
    cell.initialize()
    cell.unroll(3, x)
    fill(mx, cell)
    outputs, states = cell.unroll(3, x, merge_outputs=True)
    return [outputs, states, repr(cell), cell.prefix]


def _lstmp(mx: Any) -> Any:
    cell = mx.gluon.contrib.rnn.LSTMPCell(4, 2, prefix="p_")
    states = [ramp(mx, *info["shape"]) for info in cell.state_info(2)]
    return [trained_once(mx, cell, ramp(mx, 2, 3), states), described(cell)]


CASES: dict[str, Any] = {f"step_{name}": _stepped(make) for name, make in CELLS.items()}
for _name, _make in CELLS.items():
    CASES[f"unroll_{_name}_tnc"] = _unrolled(_make, "TNC", False, False)
    CASES[f"unroll_{_name}_merged"] = _unrolled(_make, "NTC", True, False)
    CASES[f"unroll_{_name}_lengths"] = _unrolled(_make, "NTC", None, True)
CASES["stacked"] = _stacked
CASES["bidirectional_list"] = _bidirectional(False, False)
CASES["bidirectional_merged"] = _bidirectional(True, False)
CASES["bidirectional_lengths"] = _bidirectional(True, True)
CASES["modifiers"] = _modifiers
CASES.update(LAYERS)
CASES["lstm_projected"] = _projected
CASES["wrong_states"] = _wrong_states
CASES["unfused"] = _unfused
for _kind in ("Conv1DRNNCell", "Conv1DLSTMCell", "Conv1DGRUCell", "Conv2DRNNCell", "Conv2DLSTMCell", "Conv2DGRUCell"):
    CASES[_kind] = _conv_cell(_kind)
CASES["variational_dropout"] = _variational
CASES["lstmp_cell"] = _lstmp
CASES["bidirectional_refuses_steps"] = lambda mx: mx.gluon.rnn.BidirectionalCell(
    mx.gluon.rnn.RNNCell(1), mx.gluon.rnn.RNNCell(1)
)(mx.nd.ones((1, 1)), [])
CASES["modified_twice"] = lambda mx: [mx.gluon.rnn.ResidualCell(cell) for cell in [mx.gluon.rnn.RNNCell(1)] * 2]
CASES["conv_cell_even_kernel"] = lambda mx: mx.gluon.contrib.rnn.Conv1DRNNCell((1, 4), 1, 3, 2)
