"""Blocks that unroll cells keep their graph from call to call, and still carry what a cell leaves between steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autohybrid as mx
from autohybrid import nd
from autohybrid.gluon import HybridBlock, contrib, rnn


class Unrolled(HybridBlock):
    def __init__(self, cell: Any) -> None:
        super().__init__()
        self.cell = cell

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        outputs, states = self.cell.unroll(3, x, layout="NTC", merge_outputs=True)
        return outputs, states[0]


class Stepped(HybridBlock):
    """Names its operators by the step, as cells do, and never resets."""

    def __init__(self, cell: Any) -> None:
        super().__init__()
        self.cell = cell

    def hybrid_forward(self, F: Any, x: Any, state: Any) -> Any:
        for _ in range(2):
            x, (state,) = self.cell(x, [state])
        return x, state


CELLS = {
    "gru": lambda: rnn.GRUCell(4, input_size=4),
    "zoneout": lambda: rnn.ZoneoutCell(rnn.RNNCell(4, input_size=4), zoneout_outputs=0.5),
    "stacked": lambda: _stacked(),
    "variational": lambda: contrib.rnn.VariationalDropoutCell(rnn.RNNCell(4, input_size=4), drop_inputs=0.3),
}


def _stacked() -> Any:
    cell = rnn.HybridSequentialRNNCell()
    cell.add(rnn.GRUCell(4, input_size=4))
    cell.add(rnn.ResidualCell(rnn.RNNCell(4, input_size=4)))
    return cell


@pytest.mark.parametrize("name", CELLS)
def test_an_unrolled_cell_is_built_once(name: str) -> None:
    net = Unrolled(CELLS[name]())
    net.initialize(mx.init.Uniform(1))
    x = nd.random.uniform(shape=(2, 3, 4))
    wanted = [o.asnumpy() for o in net(x)]
    net.hybridize(fallback=False)
    functions = []
    for _ in range(3):
        for found, value in zip(net(x), wanted, strict=True):
            np.testing.assert_allclose(found.asnumpy(), value, rtol=1e-5, atol=1e-6)
        functions += [entry.function for entry in net._compiled.entries.values()]
    assert len(functions) == 3 and functions[0] is functions[1] is functions[2]


def test_steps_without_reset_are_built_once() -> None:
    net = Stepped(rnn.RNNCell(4, input_size=4))
    net.initialize(mx.init.Uniform(1))
    net.hybridize(fallback=False)
    x, state = nd.ones((2, 4)), nd.zeros((2, 4))
    functions = []
    for _ in range(3):
        _, state = net(x, state)
        functions += [entry.function for entry in net._compiled.entries.values()]
    assert len(functions) == 3 and functions[0] is functions[1] is functions[2]


def test_what_zoneout_carries_between_calls_still_counts() -> None:
    """A cell that is called step by step uses the output of the call before."""
    outcomes = []
    for hybridize in (False, True):
        mx.random.seed(1)
        cell = rnn.ZoneoutCell(rnn.RNNCell(4, input_size=4), zoneout_outputs=0.5)
        cell.initialize(mx.init.One())
        if hybridize:
            cell.hybridize(fallback=False)
        x, states, steps = nd.ones((2, 4)), [nd.zeros((2, 4))], []
        with mx.autograd.train_mode():
            for step in range(4):
                mx.random.seed(step)
                output, states = cell(x * (step + 1), states)
                steps.append(output.asnumpy())
        outcomes.append(np.stack(steps))
    np.testing.assert_allclose(outcomes[1], outcomes[0], rtol=1e-6)
