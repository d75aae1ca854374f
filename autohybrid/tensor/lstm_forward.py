"""The forward pass of plain LSTM layers, without what a backward pass would need: the fast way of `recurrence.forward`.

The logistic function of three gates goes through tanh (`sigmoid(x) = tanh(x / 2) / 2 + 1 / 2`), so one tanh serves all
four; halving is exact in floating point. Gates are laid out in column tiles (tiles, batch, columns): every gate is one
block of memory, and a small product of a few rows with a tile needs no packing inside the matrix library.
"""

from __future__ import annotations

from typing import Any

from autohybrid.tensor.recurrence import Cell, Network, split

_COLUMNS = 128
_FEW_ROWS = 64


def is_plain_lstm(network: Network, lengths: Any) -> bool:
    """Whether this pass covers the network: LSTM without projection, clipping or sequences of different lengths."""
    return network.mode == "lstm" and not network.projection and network.clip is None and lengths is None


def forward(
    xp: Any, network: Network, data: Any, parameters: Any, state: Any, memory: Any, masks: Any
) -> tuple[Any, Any, Any]:
    """Output (time, batch, width), last states and cell states (cells, batch, hidden), as `recurrence.forward`."""
    cells = split(network, parameters)
    steps, batch, _ = data.shape
    last_states, last_memories = xp.empty_like(state), xp.empty_like(memory)
    reads = data
    for layer in range(network.layers):
        if layer and masks is not None:
            reads = reads * masks[layer - 1]
        output = xp.empty((steps, batch, network.hidden * network.directions), dtype=data.dtype)
        for direction in range(network.directions):
            index = layer * network.directions + direction
            part = output[:, :, direction * network.hidden : (direction + 1) * network.hidden]
            last_memories[index] = _run(xp, cells[index], reads, state[index], memory[index], part, direction == 1)
            last_states[index] = part[0 if direction == 1 else -1]
        reads = output
    return reads, last_states, last_memories


def _run(xp: Any, cell: Cell, reads: Any, state: Any, memory: Any, output: Any, backwards: bool) -> Any:
    """One layer in one direction, written into `output`; the last cell state."""
    steps, batch, width = reads.shape
    hidden = cell.wh.shape[1]
    columns = _COLUMNS if hidden % _COLUMNS == 0 and batch < _FEW_ROWS else hidden
    tiles = hidden // columns
    one, half = reads.dtype.type(1), reads.dtype.type(0.5)
    halves = xp.repeat(xp.asarray([half, half, one, half]), hidden)
    read = reads.reshape(steps * batch, width) @ cell.wx.T
    read += cell.bx + cell.bh
    read *= halves
    read = read.reshape(steps, batch, 4 * tiles, columns).transpose(0, 2, 1, 3)
    weight = (cell.wh.T * halves).reshape(hidden, 4 * tiles, columns).transpose(1, 0, 2).copy()
    scale = halves.reshape(4, tiles, 1, columns)
    shift = one - scale  # 1/2 for the logistic gates, 0 for the other one

    def tiled(array: Any) -> Any:
        return array.reshape(batch, tiles, columns).transpose(1, 0, 2)

    gates = xp.empty((4 * tiles, batch, columns), dtype=reads.dtype)
    inlet, forget, fresh, outlet = parts = gates.reshape(4, tiles, batch, columns)
    memory = tiled(memory).copy()
    for t in reversed(range(steps)) if backwards else range(steps):
        xp.matmul(state, weight, out=gates)
        xp.add(gates, read[t], out=gates)
        xp.tanh(gates, out=gates)
        xp.multiply(parts, scale, out=parts)
        xp.add(parts, shift, out=parts)
        xp.multiply(memory, forget, out=memory)
        xp.multiply(inlet, fresh, out=inlet)
        xp.add(memory, inlet, out=memory)
        xp.tanh(memory, out=fresh)
        state = output[t]
        xp.multiply(outlet, fresh, out=tiled(state))
    return memory.transpose(1, 0, 2).reshape(batch, hidden)
