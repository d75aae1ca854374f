"""Cells made of cells: SequentialRNNCell (one above the other), BidirectionalCell (there and back)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autohybrid import symbol as sym
from autohybrid.rnn.base import BaseRNNCell, RNNParams, Sequences, Weights, normalize_sequence


class _ComposedCell(BaseRNNCell):
    def __init__(self, params: RNNParams | None) -> None:
        self._override_cell_params = params is not None
        super().__init__(prefix="", params=params)

    def _take(self, cell: BaseRNNCell) -> None:
        if self._override_cell_params:
            if not cell._own_params:
                raise AssertionError("give `params` to the composed cell or to its cells, not to both")
            cell.params._params.update(self.params._params)
        self.params._params.update(cell.params._params)
        self._cells.append(cell)

    @property
    def state_info(self) -> list[dict[str, Any]]:
        return [info for cell in self._cells for info in cell.state_info]

    def begin_state(self, **kwargs: Any) -> list[Any]:  # type: ignore[override]  # MXNet takes keywords only
        if self._modified:
            raise AssertionError("this cell was given to a modifier cell; call the modifier cell instead")
        return [state for cell in self._cells for state in cell.begin_state(**kwargs)]

    def unpack_weights(self, args: Weights) -> Weights:
        for cell in self._cells:
            args = cell.unpack_weights(args)
        return args

    def pack_weights(self, args: Weights) -> Weights:
        for cell in self._cells:
            args = cell.pack_weights(args)
        return args

    def _split(self, states: Sequence[Any]) -> list[list[Any]]:
        parts, at = [], 0
        for cell in self._cells:
            count = len(cell.state_info)
            parts.append(list(states[at : at + count]))
            at += count
        return parts


class SequentialRNNCell(_ComposedCell):
    """Cells stacked in the order of `add`."""

    def __init__(self, params: RNNParams | None = None) -> None:
        super().__init__(params)

    def add(self, cell: BaseRNNCell) -> None:
        """Put a cell on top."""
        self._take(cell)

    def __call__(self, inputs: Any, states: Sequence[Any]) -> tuple[Any, list[Any]]:
        self._counter += 1
        new: list[Any] = []
        for cell, own in zip(self._cells, self._split(states)):
            inputs, own = cell(inputs, own)
            new += own
        return inputs, new

    def unroll(
        self,
        length: int,
        inputs: Sequences,
        begin_state: Sequence[Any] | None = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
    ) -> tuple[Sequences, list[Any]]:
        self.reset()
        states = self._split(self.begin_state() if begin_state is None else begin_state)
        new: list[Any] = []
        for cell, own in zip(self._cells, states):
            merge = merge_outputs if cell is self._cells[-1] else None
            inputs, own = cell.unroll(length, inputs, own, layout, merge)
            new += own
        return inputs, new


class BidirectionalCell(_ComposedCell):
    """One cell over the sequence and one over its reverse; the outputs are joined. Only for unrolling."""

    def __init__(
        self, l_cell: BaseRNNCell, r_cell: BaseRNNCell, params: RNNParams | None = None, output_prefix: str = "bi_"
    ) -> None:
        super().__init__(params)
        self._output_prefix = output_prefix
        self._take(l_cell)
        self._take(r_cell)

    def unroll(
        self,
        length: int,
        inputs: Sequences,
        begin_state: Sequence[Any] | None = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
    ) -> tuple[Sequences, list[Any]]:
        self.reset()
        steps, axis = normalize_sequence(length, inputs, layout, False)
        states = self._split(self.begin_state() if begin_state is None else begin_state)
        (there, there_states), (back, back_states) = (
            cell.unroll(length, sequence, own, layout, merge_outputs)
            for cell, sequence, own in zip(self._cells, (steps, steps[::-1]), states)
        )
        if merge_outputs is None:
            merge_outputs = isinstance(there, sym.Symbol) and isinstance(back, sym.Symbol)
        there, back = (normalize_sequence(length, outputs, layout, merge_outputs)[0] for outputs in (there, back))
        new = [there_states, back_states]
        if merge_outputs:
            return sym.Concat(there, sym.reverse(back, axis=axis), dim=2, name=f"{self._output_prefix}out"), new
        joined = [
            sym.Concat(left, right, dim=1, name=f"{self._output_prefix}t{step}")
            for step, (left, right) in enumerate(zip(there, back[::-1]))
        ]
        return joined, new
