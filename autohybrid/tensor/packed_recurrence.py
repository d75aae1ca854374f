"""Recurrent layers with weights packed ahead of the calls: the fast way of RNN where nothing will go back through it.

The logistic function goes through tanh, `sigmoid(x) = (1 + tanh(x / 2)) / 2`. The inner halves are in the packed
weights and biases, so one tanh serves all gates of an LSTM; gates with a logistic function come first. What a layer
reads is multiplied by its weights for all steps at once. Gates are blocks of memory of their own, (gates, batch,
hidden) in a step, since functions of scattered rows are slow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from autohybrid.tensor.packing import Tiles, choose_tiles
from autohybrid.tensor.recurrence import GATES, Cell, Network, split

#: Where the gates of a mode come from in MXNet's order, and what they are multiplied by: input part and hidden part.
_ORDER: dict[str, tuple[tuple[int, float, float], ...]] = {
    "lstm": ((0, 0.5, 0.5), (1, 0.5, 0.5), (3, 0.5, 0.5), (2, 1.0, 1.0)),
    "gru": ((0, 0.5, 0.5), (1, 0.5, 0.5), (2, 1.0, 0.5)),
    "rnn_tanh": ((0, 1.0, 1.0),),
    "rnn_relu": ((0, 1.0, 1.0),),
}


#: As many rows (steps times sequences) are multiplied at once: enough for a fast product, few enough for the cache.
_ROWS = 256


class Weights(NamedTuple):
    """The packed parameters of one layer in one direction, each with one part a gate.

    `reads` and `state` (gates, tiles, 1, width, columns), with one tile of all columns where nothing is cut; `bias`
    (gates, hidden); `hidden_bias` (hidden,), for gru only.
    """

    reads: Any
    state: Any
    bias: Any
    hidden_bias: Any


def covers(network: Network) -> bool:
    """Whether the networks of this kind can run here."""
    return not network.projection and network.clip is None


def steps_at_once(steps: int, batch: int) -> int:
    """For how many steps what a layer reads is multiplied at once."""
    return min(steps, max(1, _ROWS // batch))


def pack(parameters: Any, network: Network, steps: int, batch: int) -> tuple[Weights, ...]:
    """The parameter vector as the packed weights of all layers and directions, for sequences of this shape."""
    return tuple([_packed_cell(cell, network, steps, batch) for cell in split(network, parameters)])


def _packed_cell(cell: Cell, network: Network, steps: int, batch: int) -> Weights:
    hidden, gates = network.hidden, GATES[network.mode]
    bias, hidden_bias = (_gates(b, network, part).reshape(gates, hidden) for part, b in ((1, cell.bx), (2, cell.bh)))
    apart = network.mode == "gru"  # the reset gate multiplies the hidden part with its bias
    bias[: 2 if apart else gates] += hidden_bias[: 2 if apart else gates]
    return Weights(
        _tiled(_gates(cell.wx, network, 1), gates, steps_at_once(steps, batch) * batch),
        _tiled(_gates(cell.wh, network, 2), gates, batch),
        bias,
        hidden_bias[2] if apart else None,
    )


def _tiles(rows: int, width: int, hidden: int) -> Tiles:
    found = choose_tiles(rows, width, hidden)
    return Tiles(rows, hidden) if found is None else found


def _tiled(weight: Any, gates: int, rows: int) -> Any:
    width, hidden = weight.shape[1], len(weight) // gates
    columns = _tiles(rows, width, hidden).columns
    return weight.reshape(gates, hidden // columns, columns, width).transpose(0, 1, 3, 2).copy()[:, :, None]


def _gates(array: Any, network: Network, part: int) -> Any:
    """A copy with the gates (along the first axis) in our order and scaled; `part` 1 reads the input, 2 the state."""
    result, n = array.copy(), network.hidden
    for place, gate in enumerate(_ORDER[network.mode]):
        result[place * n : (place + 1) * n] = array[gate[0] * n : (gate[0] + 1) * n]
        result[place * n : (place + 1) * n] *= gate[part]
    return result


def run(
    xp: Any,
    network: Network,
    weights: Sequence[Weights],
    data: Any,
    state: Any,
    memory: Any,
    projected: Any,
    gates: Any,
    output: Any,
) -> tuple[Any, Any]:
    """Write the output (time, batch, width) into `output`; last states and cell states (None but for lstm).

    `projected` (gates, steps at once, batch, hidden) and `gates` (gates, batch, hidden) are memory to work in.
    """
    steps, batch, _ = data.shape
    hidden, reads = network.hidden, data
    states = xp.empty_like(state)
    memories = None if memory is None else xp.empty_like(memory)
    for layer in range(network.layers):
        is_last = layer == network.layers - 1
        target = output if is_last else xp.empty((steps, batch, hidden * network.directions), dtype=data.dtype)
        for direction in range(network.directions):
            index = layer * network.directions + direction
            part = target[:, :, direction * hidden : (direction + 1) * hidden]
            cell = weights[index]
            order = range(steps) if direction == 0 else range(steps - 1, -1, -1)
            first = None if memory is None else memory[index]
            inputs, product = _Inputs(xp, cell, reads, projected), _Product(xp, cell.state, gates)
            found = _STEPS[network.mode](xp, cell, product, inputs, state[index], first, part, order)
            if memories is not None:
                memories[index] = found
            states[index] = part[order[-1]]
        reads = target
    return states, memories


class _Inputs:
    """What the gates get from what the layer reads, for a few steps at a time: they find it in the cache."""

    def __init__(self, xp: Any, cell: Weights, reads: Any, memory: Any) -> None:
        self._xp, self._cell, self._reads, self._memory = xp, cell, reads, memory
        self._chunk = -1
        steps, batch, hidden = memory.shape[1:]
        self._flat = [gate.reshape(1, steps * batch, hidden) for gate in memory]
        self._products = self._products_of(xp, steps * batch)

    def at(self, step: int) -> Any:
        """(gates, batch, hidden) of one step."""
        chunk, place = divmod(step, self._memory.shape[1])
        if chunk != self._chunk:
            self._chunk = chunk
            self._compute(self._reads[step - place : step - place + self._memory.shape[1]])
        return self._memory[:, place]

    def _compute(self, reads: Any) -> None:
        rows = reads.reshape(-1, reads.shape[2])
        products = self._products
        if len(rows) != products[0].out.shape[1]:  # the last steps, fewer than the others
            products = self._products_of(self._xp, len(rows))
        for product, bias in zip(products, self._cell.bias):
            product(rows)
            self._xp.add(product.out, bias, product.out)

    def _products_of(self, xp: Any, rows: int) -> list[_Product]:
        return [_Product(xp, weight[None], flat[:, :rows]) for weight, flat in zip(self._cell.reads, self._flat)]


class _Product:
    """`x @ weights` of all gates, written into `out` (gates, rows, hidden), for x of (rows, width)."""

    def __init__(self, xp: Any, weights: Any, out: Any) -> None:
        gates, rows, hidden = out.shape
        width, columns = weights.shape[3:]
        self.out = out
        by_rows = rows > hidden  # whether some rows meet all of the weights before the next ones do
        self._matmul, self._weights = xp.matmul, weights.swapaxes(1, 2) if by_rows else weights
        self._parts = []
        for start, count, size in _tiles(rows, width, hidden).parts(rows):
            stop = start + count * size
            part = out[:, start:stop].reshape(gates, count, size, hidden // columns, columns)
            part = part.transpose(0, 1, 3, 2, 4) if by_rows else part.transpose(0, 3, 1, 2, 4)
            self._parts.append((start, stop, (count, 1, size, width) if by_rows else (count, size, width), part))

    def __call__(self, x: Any) -> None:
        for start, stop, shape, result in self._parts:
            self._matmul(x[start:stop].reshape(shape), self._weights, out=result)


def _lstm(
    xp: Any, cell: Weights, product: _Product, inputs: _Inputs, state: Any, memory: Any, output: Any, order: range
) -> Any:
    gates = product.out
    inlet, forget, outlet, fresh = gates
    logistic = gates[:3]
    half, one = xp.asarray(0.5, dtype=gates.dtype), xp.asarray(1, dtype=gates.dtype)
    memory, bent = memory.copy(), xp.empty_like(memory)
    add, multiply, tanh = xp.add, xp.multiply, xp.tanh
    for t in order:
        product(state)
        add(gates, inputs.at(t), gates)
        tanh(gates, gates)
        add(logistic, one, logistic)
        multiply(memory, forget, memory)
        multiply(inlet, fresh, inlet)
        add(memory, inlet, memory)
        multiply(memory, half, memory)
        tanh(memory, bent)
        multiply(bent, half, bent)
        state = output[t]
        multiply(outlet, bent, state)
    return memory


def _gru(
    xp: Any, cell: Weights, product: _Product, inputs: _Inputs, state: Any, memory: Any, output: Any, order: range
) -> None:
    gates = product.out
    reset, update, fresh = gates
    logistic = gates[:2]
    half, one = xp.asarray(0.5, dtype=gates.dtype), xp.asarray(1, dtype=gates.dtype)
    add, multiply, subtract, tanh = xp.add, xp.multiply, xp.subtract, xp.tanh
    for t in order:
        product(state)
        reads = inputs.at(t)
        add(logistic, reads[:2], logistic)
        tanh(logistic, logistic)
        add(logistic, one, logistic)
        add(fresh, cell.hidden_bias, fresh)
        multiply(fresh, reset, fresh)
        add(fresh, reads[2], fresh)
        tanh(fresh, fresh)
        multiply(update, half, update)
        subtract(state, fresh, reset)
        multiply(reset, update, reset)
        state = output[t]
        add(fresh, reset, state)


def _tanh(
    xp: Any, cell: Weights, product: _Product, inputs: _Inputs, state: Any, memory: Any, output: Any, order: range
) -> None:
    gates = product.out[0]
    for t in order:
        product(state)
        xp.add(gates, inputs.at(t)[0], gates)
        state = output[t]
        xp.tanh(gates, state)


def _relu(
    xp: Any, cell: Weights, product: _Product, inputs: _Inputs, state: Any, memory: Any, output: Any, order: range
) -> None:
    gates = product.out[0]
    zeros = xp.zeros_like(gates)
    for t in order:
        product(state)
        xp.add(gates, inputs.at(t)[0], gates)
        state = output[t]
        xp.maximum(gates, zeros, out=state)


_STEPS = {"lstm": _lstm, "gru": _gru, "rnn_tanh": _tanh, "rnn_relu": _relu}
