"""RNN against cells written out, and CTCLoss against the sum over all paths."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import autohybrid as mx


def double(values: object) -> mx.nd.NDArray:
    """An array of float64, in which formulas are compared."""
    return mx.nd.array(values, dtype="float64")


GATES = {"rnn_relu": 1, "rnn_tanh": 1, "lstm": 4, "gru": 3}


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def step(
    mode: str, x: np.ndarray, h: np.ndarray, c: np.ndarray, cell: list[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """One step of one cell; weights as in the gluon cells."""
    wx, wh, bx, bh = cell
    a, b = wx @ x + bx, wh @ h + bh
    if mode == "rnn_relu":
        return np.maximum(a + b, 0), c
    if mode == "rnn_tanh":
        return np.tanh(a + b), c
    if mode == "lstm":
        i, f, g, o = np.split(a + b, 4)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        return sigmoid(o) * np.tanh(c), c
    (ar, az, an), (br, bz, bn) = np.split(a, 3), np.split(b, 3)
    z = sigmoid(az + bz)
    return (1 - z) * np.tanh(an + sigmoid(ar + br) * bn) + z * h, c


def make(mode: str, layers: int, directions: int, width: int, hidden: int) -> tuple[np.ndarray, list[list[np.ndarray]]]:
    """A parameter vector and the cells that it holds."""
    rng, rows = np.random.default_rng(3), GATES[mode] * hidden
    cells = []
    for layer in range(layers):
        for _ in range(directions):
            read = width if layer == 0 else hidden * directions
            shapes = [(rows, read), (rows, hidden), (rows,), (rows,)]
            cells.append([rng.normal(size=shape) * 0.5 for shape in shapes])
    weights = [w.ravel() for cell in cells for w in cell[:2]]
    return np.concatenate(weights + [b for cell in cells for b in cell[2:]]), cells


def run(
    mode: str, cells: list[list[np.ndarray]], directions: int, x: np.ndarray, h: np.ndarray, c: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """One sequence (time, width) through all layers: the outputs and the last states."""
    states = []
    for layer in range(len(cells) // directions):
        outputs = []
        for direction in range(directions):
            index = layer * directions + direction
            state, memory, produced = h[index], c[index], []
            for row in x[::-1] if direction else x:
                state, memory = step(mode, row, state, memory, cells[index])
                produced.append(state)
            outputs.append(produced[::-1] if direction else produced)
            states.append(state)
        x = np.concatenate([np.array(o) for o in outputs], axis=1)
    return x, np.array(states)


@pytest.mark.parametrize("mode", list(GATES))
@pytest.mark.parametrize("layers, directions", [(1, 1), (2, 2)])
@pytest.mark.parametrize("lengths", [None, [2, 4, 1]])
def test_rnn_runs_its_cells_over_each_sequence(
    mode: str, layers: int, directions: int, lengths: list[int] | None
) -> None:
    steps, batch, width, hidden = 4, 3, 2, 3
    parameters, cells = make(mode, layers, directions, width, hidden)
    rng = np.random.default_rng(4)
    x = rng.normal(size=(steps, batch, width))
    h, c = rng.normal(size=(2, layers * directions, batch, hidden))
    inputs = [x, parameters, h] + ([c] if mode == "lstm" else [])
    settings = {"mode": mode, "num_layers": layers, "state_size": hidden, "bidirectional": directions == 2}
    if lengths is not None:
        settings["use_sequence_length"] = True
        inputs.append(np.array(lengths, dtype="float32"))
    output, state, *_ = mx.nd.RNN(*map(double, inputs), state_outputs=True, **settings)
    for b in range(batch):
        length = steps if lengths is None else lengths[b]
        expected, last = run(mode, cells, directions, x[:length, b], h[:, b], c[:, b])
        np.testing.assert_allclose(output.asnumpy()[:length, b], expected, rtol=1e-9)
        np.testing.assert_allclose(state.asnumpy()[:, b], last, rtol=1e-9)
        assert not output.asnumpy()[length:, b].any()


def test_dropout_between_layers_is_drawn_in_train_mode_only() -> None:
    parameters, _ = make("gru", 2, 1, 2, 3)
    x, h = mx.nd.ones((4, 2, 2), dtype="float64"), mx.nd.zeros((2, 2, 3), dtype="float64")

    def output() -> np.ndarray:
        return mx.nd.RNN(x, double(parameters), h, mode="gru", num_layers=2, state_size=3, p=0.5).asnumpy()

    quiet = output()
    np.testing.assert_array_equal(output(), quiet)
    with mx.autograd.train_mode():
        assert not np.allclose(output(), quiet)


@pytest.mark.parametrize("blank", ["first", "last"])
def test_ctc_loss_sums_over_all_paths(blank: str) -> None:
    steps, classes = 5, 3
    label = [1, 2] if blank == "first" else [0, 0]
    data = np.random.default_rng(5).normal(size=(steps, 1, classes))
    silent = 0 if blank == "first" else classes - 1
    probability = np.exp(data[:, 0]) / np.exp(data[:, 0]).sum(1, keepdims=True)
    total = 0.0
    for path in itertools.product(range(classes), repeat=steps):
        collapsed = [k for k, _ in itertools.groupby(path) if k != silent]
        if collapsed == label:
            total += math.prod(probability[t, k] for t, k in enumerate(path))
    padding = 0 if blank == "first" else -1
    loss = mx.nd.CTCLoss(double(data), double([[*label, padding]]), blank_label=blank)
    assert loss.asscalar() == pytest.approx(-math.log(total))
