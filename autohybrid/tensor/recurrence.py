"""The fused recurrent networks behind RNN: parameter layout, forward and backward through time, on any array library.

Data is (time, batch, width). Every function also runs on `tensor/dual.py` Duals, which gives second derivatives.
The parameter vector holds the weights of all layers and directions (input, hidden, projection), then all biases.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from autohybrid.tensor.dual import clip, concatenate, relu, sigmoid, stack, tanh, transposed, value_of

GATES = {"rnn_relu": 1, "rnn_tanh": 1, "lstm": 4, "gru": 3}


@dataclass(frozen=True, slots=True)
class Network:
    """The sizes of a recurrent network. `projection` is 0 where the hidden state is the output itself."""

    mode: str
    layers: int
    directions: int
    width: int
    hidden: int
    projection: int
    clip: tuple[float, float] | None = None

    @property
    def state(self) -> int:
        """The width of the hidden state that a step hands on."""
        return self.projection or self.hidden

    def input_width(self, layer: int) -> int:
        """The width of what a layer reads."""
        return self.width if layer == 0 else self.state * self.directions

    def weight_shapes(self, layer: int) -> list[tuple[int, int]]:
        """The shapes of one layer's weights: input, hidden, and the projection where there is one."""
        rows = GATES[self.mode] * self.hidden
        shapes = [(rows, self.input_width(layer)), (rows, self.state)]
        return [*shapes, (self.projection, self.hidden)] if self.projection else shapes

    @property
    def size(self) -> int:
        """The number of parameters."""
        biases = 2 * GATES[self.mode] * self.hidden
        per_layer = [sum(r * c for r, c in self.weight_shapes(layer)) + biases for layer in range(self.layers)]
        return self.directions * sum(per_layer)


class Cell(NamedTuple):
    """The parameters of one layer in one direction; `wr` is None without projection."""

    wx: Any
    wh: Any
    wr: Any
    bx: Any
    bh: Any


class Trace(NamedTuple):
    """What one direction of one layer leaves for its backward pass, each per step and in order of time."""

    reads: Any
    states: Any
    cells: Any
    steps: list[tuple[Any, ...]]


def split(network: Network, parameters: Any) -> list[Cell]:
    """The parameter vector as cells, layer by layer and within it direction by direction."""
    weights, start = [], 0
    for layer in range(network.layers):
        for _ in range(network.directions):
            parts = []
            for rows, columns in network.weight_shapes(layer):
                parts.append(parameters[start : start + rows * columns].reshape(rows, columns))
                start += rows * columns
            weights.append(parts)
    cells, rows = [], GATES[network.mode] * network.hidden
    for parts in weights:
        bx, bh = parameters[start : start + rows], parameters[start + rows : start + 2 * rows]
        cells.append(Cell(parts[0], parts[1], parts[2] if network.projection else None, bx, bh))
        start += 2 * rows
    return cells


def join(xp: Any, cells: list[Cell]) -> Any:
    """The inverse of `split`."""
    weights = [w.reshape(-1) for cell in cells for w in cell[:3] if w is not None]
    return concatenate(xp, [*weights, *[b for cell in cells for b in cell[3:]]], 0)


def forward(
    xp: Any, network: Network, data: Any, parameters: Any, state: Any, cell_state: Any, lengths: Any, masks: Any
) -> tuple[Any, Any, Any, list[Trace]]:
    """Output, last states, last cell states (None but for lstm) and the traces.

    `masks` holds what multiplies the input of every layer but the first (dropout), or is None.
    """
    cells = split(network, parameters)
    inside = None if lengths is None else _inside(xp, value_of(data), lengths)
    reads, traces, states, memories = data, [], [], []
    for layer in range(network.layers):
        if layer and masks is not None:
            reads = reads * masks[layer - 1]
        outputs = []
        for direction in range(network.directions):
            index = layer * network.directions + direction
            memory = cell_state[index] if network.mode == "lstm" else None
            output, last, memory, trace = _run(
                xp, network, cells[index], reads, state[index], memory, inside, direction == 1
            )
            outputs.append(output)
            states.append(last)
            memories.append(memory)
            traces.append(trace)
        reads = outputs[0] if len(outputs) == 1 else concatenate(xp, outputs, 2)
    last_cells = stack(xp, memories) if network.mode == "lstm" else None
    return reads, stack(xp, states), last_cells, traces


def backward(
    xp: Any,
    network: Network,
    parameters: Any,
    traces: list[Trace],
    heads: tuple[Any, Any, Any],
    lengths: Any,
    masks: Any,
) -> tuple[Any, Any, Any, Any]:
    """Gradients of data, parameters, state and cell state from those of output, states and cell states."""
    cells = split(network, parameters)
    head, state_heads, cell_heads = heads
    inside = None if lengths is None else _inside(xp, value_of(traces[0].reads), lengths)
    gradients: list[Any] = [None] * len(cells)
    states: list[Any] = [None] * len(cells)
    memories: list[Any] = [None] * len(cells)
    for layer in reversed(range(network.layers)):
        to_reads = None
        for direction in range(network.directions):
            index = layer * network.directions + direction
            part = head[:, :, direction * network.state : (direction + 1) * network.state]
            memory = cell_heads[index] if network.mode == "lstm" else None
            found = _run_back(
                xp, network, cells[index], traces[index], part, state_heads[index], memory, inside, direction == 1
            )
            gradients[index], states[index], memories[index] = found[1:]
            to_reads = found[0] if to_reads is None else to_reads + found[0]
        head = to_reads * masks[layer - 1] if layer and masks is not None else to_reads
    to_cells = stack(xp, memories) if network.mode == "lstm" else None
    return head, join(xp, gradients), stack(xp, states), to_cells


def _inside(xp: Any, data: Any, lengths: Any) -> Any:
    """(time, batch, 1): 1 at the steps of each sequence, 0 behind its end."""
    return (xp.arange(data.shape[0])[:, None] < lengths)[:, :, None].astype(data.dtype)


def _run(
    xp: Any, network: Network, cell: Cell, reads: Any, state: Any, memory: Any, inside: Any, backwards: bool
) -> tuple[Any, Any, Any, Trace]:
    """One layer in one direction."""
    steps, batch, width = reads.shape
    separate = network.mode == "gru"  # its reset gate multiplies the hidden part with its bias
    gates = reads.reshape(steps * batch, width) @ cell.wx.T + (cell.bx if separate else cell.bx + cell.bh)
    gates = gates.reshape(steps, batch, -1)
    hidden_weight = transposed(xp, cell.wh)
    outputs: list[Any] = [None] * steps
    states, memories, saved = list(outputs), list(outputs), list(outputs)
    for t in reversed(range(steps)) if backwards else range(steps):
        states[t], memories[t] = state, memory
        recurrent = state @ hidden_weight
        if separate:
            recurrent = recurrent + cell.bh
        new, new_memory, saved[t] = _STEP[network.mode](xp, network, gates[t], recurrent, state, memory)
        if cell.wr is not None:
            saved[t] = (*saved[t], new)
            new = new @ cell.wr.T
        outputs[t] = new
        if inside is not None:
            here = inside[t]
            outputs[t] = new * here
            new = outputs[t] + state * (1 - here)
            if memory is not None:
                new_memory = new_memory * here + memory * (1 - here)
        state, memory = new, new_memory
    trace = Trace(reads, stack(xp, states), memories, saved)
    return stack(xp, outputs), state, memory, trace


def _run_back(
    xp: Any,
    network: Network,
    cell: Cell,
    trace: Trace,
    head: Any,
    to_state: Any,
    to_memory: Any,
    inside: Any,
    backwards: bool,
) -> tuple[Any, Cell, Any, Any]:
    """Gradients of one layer in one direction: what it read, its parameters, its first state and cell state."""
    steps, batch, width = trace.reads.shape
    to_gates: list[Any] = [None] * steps
    to_recurrent, to_projected, kept = list(to_gates), list(to_gates), list(to_gates)
    for t in range(steps) if backwards else reversed(range(steps)):
        to_new, to_new_memory = to_state + head[t], to_memory
        passed = passed_memory = None
        if inside is not None:
            here = inside[t]
            to_new, passed = to_new * here, to_state * (1 - here)
            if to_memory is not None:
                to_new_memory, passed_memory = to_memory * here, to_memory * (1 - here)
        saved = trace.steps[t]
        if cell.wr is not None:
            to_projected[t], kept[t] = to_new, saved[-1]
            to_new = to_new @ cell.wr
        to_gates[t], to_recurrent[t], direct, to_memory = _STEP_BACK[network.mode](
            xp, network, saved, trace.states[t], trace.cells[t], to_new, to_new_memory
        )
        to_state = to_recurrent[t] @ cell.wh
        for extra in (direct, passed):
            to_state = to_state if extra is None else to_state + extra
        if passed_memory is not None:
            to_memory = to_memory + passed_memory
    gates = stack(xp, to_gates).reshape(steps * batch, -1)
    recurrent = gates if network.mode != "gru" else stack(xp, to_recurrent).reshape(steps * batch, -1)
    to_wr = None
    if cell.wr is not None:
        rows = stack(xp, to_projected).reshape(steps * batch, -1)
        to_wr = rows.T @ stack(xp, kept).reshape(steps * batch, -1)
    gradient = Cell(
        gates.T @ trace.reads.reshape(steps * batch, width),
        recurrent.T @ trace.states.reshape(steps * batch, -1),
        to_wr,
        gates.sum(axis=0),
        recurrent.sum(axis=0),
    )
    return (gates @ cell.wx).reshape(steps, batch, width), gradient, to_state, to_memory


def _plain_step(xp: Any, network: Network, gates: Any, recurrent: Any, state: Any, memory: Any) -> tuple[Any, Any, Any]:
    bend = relu if network.mode == "rnn_relu" else tanh
    new = bend(xp, gates + recurrent)
    return new, None, (new,)


def _plain_back(
    xp: Any, network: Network, saved: Any, state: Any, memory: Any, to_new: Any, to_memory: Any
) -> tuple[Any, Any, Any, Any]:
    new = saved[0]
    slope = value_of(new) > 0 if network.mode == "rnn_relu" else 1 - new * new
    gates = to_new * slope
    return gates, gates, None, None


def _lstm_step(xp: Any, network: Network, gates: Any, recurrent: Any, state: Any, memory: Any) -> tuple[Any, Any, Any]:
    n = network.hidden
    gates = gates + recurrent
    inlet, forget = sigmoid(xp, gates[:, :n]), sigmoid(xp, gates[:, n : 2 * n])
    fresh, outlet = tanh(xp, gates[:, 2 * n : 3 * n]), sigmoid(xp, gates[:, 3 * n :])
    raw = forget * memory + inlet * fresh
    new_memory = raw if network.clip is None else clip(xp, raw, *network.clip)
    bent = tanh(xp, new_memory)
    return outlet * bent, new_memory, (inlet, forget, fresh, outlet, bent, raw)


def _lstm_back(
    xp: Any, network: Network, saved: Any, state: Any, memory: Any, to_new: Any, to_memory: Any
) -> tuple[Any, Any, Any, Any]:
    inlet, forget, fresh, outlet, bent, raw = saved[:6]
    to_memory = to_memory + to_new * outlet * (1 - bent * bent)
    if network.clip is not None:
        low, high = network.clip
        to_memory = to_memory * ((value_of(raw) >= low) & (value_of(raw) <= high))
    parts = [
        to_memory * fresh * inlet * (1 - inlet),
        to_memory * memory * forget * (1 - forget),
        to_memory * inlet * (1 - fresh * fresh),
        to_new * bent * outlet * (1 - outlet),
    ]
    gates = concatenate(xp, parts, 1)
    return gates, gates, None, to_memory * forget


def _gru_step(xp: Any, network: Network, gates: Any, recurrent: Any, state: Any, memory: Any) -> tuple[Any, Any, Any]:
    n = network.hidden
    both = sigmoid(xp, gates[:, : 2 * n] + recurrent[:, : 2 * n])
    reset, update, hidden = both[:, :n], both[:, n:], recurrent[:, 2 * n :]
    fresh = tanh(xp, gates[:, 2 * n :] + reset * hidden)
    return fresh + update * (state - fresh), None, (reset, update, fresh, hidden)


def _gru_back(
    xp: Any, network: Network, saved: Any, state: Any, memory: Any, to_new: Any, to_memory: Any
) -> tuple[Any, Any, Any, Any]:
    reset, update, fresh, hidden = saved
    to_fresh = to_new * (1 - update) * (1 - fresh * fresh)
    to_reset = to_fresh * hidden * reset * (1 - reset)
    to_update = to_new * (state - fresh) * update * (1 - update)
    gates = concatenate(xp, [to_reset, to_update, to_fresh], 1)
    return gates, concatenate(xp, [to_reset, to_update, to_fresh * reset], 1), to_new * update, None


_STEP = {"rnn_relu": _plain_step, "rnn_tanh": _plain_step, "lstm": _lstm_step, "gru": _gru_step}
_STEP_BACK = {"rnn_relu": _plain_back, "rnn_tanh": _plain_back, "lstm": _lstm_back, "gru": _gru_back}
