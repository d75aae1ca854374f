"""Cells around cells: DropoutCell between them, ZoneoutCell and ResidualCell around one."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from typing import Any

from autohybrid import symbol as sym
from autohybrid.rnn.base import BaseRNNCell, RNNParams, Sequences, Weights, normalize_sequence
from autohybrid.rnn.fused_cell import FusedRNNCell
from autohybrid.rnn.stacked_cells import BidirectionalCell


class DropoutCell(BaseRNNCell):
    """Drops parts of its input; has no state."""

    def __init__(self, dropout: float, prefix: str = "dropout_", params: RNNParams | None = None) -> None:
        super().__init__(prefix, params)
        if not isinstance(dropout, numbers.Number):
            raise AssertionError(f"dropout must be a number, not {type(dropout).__name__}")
        self.dropout = dropout

    @property
    def state_info(self) -> list[dict[str, Any]]:
        return []

    def __call__(self, inputs: Any, states: Sequence[Any]) -> tuple[Any, list[Any]]:
        return (sym.Dropout(inputs, p=self.dropout) if self.dropout > 0 else inputs), list(states)

    def unroll(
        self,
        length: int,
        inputs: Sequences,
        begin_state: Sequence[Any] | None = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
    ) -> tuple[Sequences, list[Any]]:
        self.reset()
        inputs, _ = normalize_sequence(length, inputs, layout, merge_outputs)
        if isinstance(inputs, sym.Symbol):
            return self(inputs, [])
        return super().unroll(length, inputs, begin_state, layout, merge_outputs)


class ModifierCell(BaseRNNCell):
    """Base of the cells that change what another cell does; that cell is then used through this one only."""

    def __init__(self, base_cell: BaseRNNCell) -> None:
        super().__init__()
        base_cell._modified = True
        self.base_cell = base_cell
        self._cells = [base_cell]

    @property
    def params(self) -> RNNParams:
        self._own_params = False
        return self.base_cell.params

    @property
    def state_info(self) -> list[dict[str, Any]]:
        return self.base_cell.state_info

    def begin_state(self, func: Callable[..., Any] = sym.zeros, **kwargs: Any) -> list[Any]:
        if self._modified:
            raise AssertionError("this cell was given to a modifier cell; call the modifier cell instead")
        self.base_cell._modified = False
        states = self.base_cell.begin_state(func=func, **kwargs)
        self.base_cell._modified = True
        return states

    def unpack_weights(self, args: Weights) -> Weights:
        return self.base_cell.unpack_weights(args)

    def pack_weights(self, args: Weights) -> Weights:
        return self.base_cell.pack_weights(args)


class ZoneoutCell(ModifierCell):
    """Keeps the previous output and state of some units, at random, while training."""

    def __init__(self, base_cell: BaseRNNCell, zoneout_outputs: float = 0.0, zoneout_states: float = 0.0) -> None:
        if isinstance(base_cell, (FusedRNNCell, BidirectionalCell)):
            raise AssertionError(
                f"zoneout needs a cell that steps, and {type(base_cell).__name__} does not: unfuse it, or put the "
                "ZoneoutCell around the cells inside"
            )
        super().__init__(base_cell)
        self.zoneout_outputs = zoneout_outputs
        self.zoneout_states = zoneout_states

    def reset(self) -> None:
        super().reset()
        self.prev_output: Any = None

    def __call__(self, inputs: Any, states: Sequence[Any]) -> tuple[Any, list[Any]]:
        output, new = self.base_cell(inputs, states)
        previous = sym.zeros((0, 0)) if self.prev_output is None else self.prev_output
        output = _mixed(self.zoneout_outputs, output, previous)
        self.prev_output = output
        return output, [_mixed(self.zoneout_states, fresh, old) for fresh, old in zip(new, states)]


def _mixed(share: float, fresh: Any, old: Any) -> Any:
    """`fresh`, with a random `share` of its elements taken from `old` while training."""
    if share == 0.0:
        return fresh
    return sym.where(sym.Dropout(sym.ones_like(fresh), p=share), fresh, old)


class ResidualCell(ModifierCell):
    """Adds the input to the output."""

    def __call__(self, inputs: Any, states: Sequence[Any]) -> tuple[Any, list[Any]]:
        output, new = self.base_cell(inputs, states)
        return _plus(output, inputs), new

    def unroll(
        self,
        length: int,
        inputs: Sequences,
        begin_state: Sequence[Any] | None = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
    ) -> tuple[Sequences, list[Any]]:
        self.reset()
        self.base_cell._modified = False
        outputs, states = self.base_cell.unroll(length, inputs, begin_state, layout, merge_outputs)
        self.base_cell._modified = True
        merged = isinstance(outputs, sym.Symbol) if merge_outputs is None else merge_outputs
        inputs, _ = normalize_sequence(length, inputs, layout, merged)
        if merged:
            return _plus(outputs, inputs), states
        return [_plus(output, step) for output, step in zip(outputs, inputs)], states


def _plus(output: Any, inputs: Any) -> Any:
    return sym.elemwise_add(output, inputs, name=f"{output.name}_plus_residual")
