"""Cells made of cells: one on top of the other, and two directions side by side."""

from __future__ import annotations

from typing import Any

from autohybrid.gluon.block import Block
from autohybrid.gluon.parameter_dict import ParameterDict
from autohybrid.gluon.rnn.recurrent import HybridRecurrentCell, RecurrentCell
from autohybrid.gluon.rnn.sequences import first_states, format_sequence, is_tensor, mask_after, reverse_steps

__all__ = ["BidirectionalCell", "HybridSequentialRNNCell", "SequentialRNNCell"]


class _CellStack(RecurrentCell):
    """What both stacks share: the states of all cells are one list, first cell first."""

    _children: dict[str, Any]

    def add(self, cell: Block) -> None:
        """Put a cell on top."""
        self.register_child(cell)

    def __repr__(self) -> str:
        lines = []
        for key, cell in self._children.items():
            inner = repr(cell).replace("\n", "\n  ")
            lines.append(f"({key}): {inner}")
        return f"{type(self).__name__}(\n" + "\n".join(lines) + "\n)"

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """The states of all cells."""
        return [info for cell in self._children.values() for info in cell.state_info(batch_size)]

    def begin_state(self, **kwargs: Any) -> list[Any]:  # type: ignore[override]  # MXNet takes keywords only here
        """States to begin with for all cells."""
        self._refuse_modified()
        return [state for cell in self._children.values() for state in cell.begin_state(**kwargs)]

    def _step(self, inputs: Any, states: Any) -> tuple[Any, list[Any]]:
        new_states: list[Any] = []
        position = 0
        for cell in self._children.values():
            if isinstance(cell, BidirectionalCell):
                raise AssertionError(f"`{self.name}` holds a BidirectionalCell and cannot be stepped; use unroll()")
            count = len(cell.state_info())
            inputs, own = cell(inputs, states[position : position + count])
            position += count
            new_states += own
        return inputs, new_states

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: Any = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
        valid_length: Any = None,
    ) -> tuple[Any, list[Any]]:
        """Unroll each cell over the outputs of the one below; see `RecurrentCell.unroll`."""
        self.reset()
        inputs, _, F, batch_size = format_sequence(length, inputs, layout, None)
        states = first_states(self, F, begin_state, inputs, batch_size)
        cells = list(self._children.values())
        new_states: list[Any] = []
        position = 0
        for cell in cells:
            count = len(cell.state_info())
            inputs, own = cell.unroll(
                length,
                inputs=inputs,
                begin_state=states[position : position + count],
                layout=layout,
                merge_outputs=merge_outputs if cell is cells[-1] else None,
                valid_length=valid_length,
            )
            position += count
            new_states.extend(own)
        return inputs, new_states

    def __getitem__(self, index: int) -> Any:
        return list(self._children.values())[index]

    def __len__(self) -> int:
        return len(self._children)


class SequentialRNNCell(_CellStack):
    """Cells on top of one another, of any kind."""

    def forward(self, inputs: Any, states: Any) -> Any:
        return self._step(inputs, states)


class HybridSequentialRNNCell(_CellStack, HybridRecurrentCell):
    """Hybrid cells on top of one another."""

    def __init__(self, prefix: str | None = None, params: ParameterDict | None = None) -> None:
        super().__init__(prefix=prefix, params=params)

    def hybrid_forward(self, F: Any, inputs: Any, states: Any) -> Any:
        return self._step(inputs, states)


class BidirectionalCell(HybridRecurrentCell):
    """`l_cell` forwards and `r_cell` backwards over a sequence, their outputs joined. Only `unroll` works."""

    def __init__(self, l_cell: Block, r_cell: Block, output_prefix: str = "bi_") -> None:
        super().__init__(prefix="", params=None)
        self.register_child(l_cell, "l_cell")
        self.register_child(r_cell, "r_cell")
        self._output_prefix = output_prefix

    def __call__(self, inputs: Any, states: Any) -> Any:
        """Refused: the backward direction needs the whole sequence."""
        raise NotImplementedError("a BidirectionalCell cannot be stepped: it needs the whole sequence; use unroll()")

    def __repr__(self) -> str:
        cells = self._children
        return f"{type(self).__name__}(forward={cells['l_cell']}, backward={cells['r_cell']})"

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """The states of both cells."""
        return [info for cell in self._cells() for info in cell.state_info(batch_size)]

    def begin_state(self, **kwargs: Any) -> list[Any]:  # type: ignore[override]  # MXNet takes keywords only here
        """States to begin with for both cells."""
        self._refuse_modified()
        return [state for cell in self._cells() for state in cell.begin_state(**kwargs)]

    def _cells(self) -> list[Any]:
        return list(self._children.values())

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: Any = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
        valid_length: Any = None,
    ) -> tuple[Any, list[Any]]:
        """Unroll both directions; see `RecurrentCell.unroll`. The backward cell starts at each sequence's valid end."""
        self.reset()
        inputs, axis, F, batch_size = format_sequence(length, inputs, layout, False)
        states = first_states(self, F, begin_state, inputs, batch_size)
        forward, backward = self._cells()
        split = len(forward.state_info(batch_size))
        there, there_states = forward.unroll(
            length, inputs=inputs, begin_state=states[:split], layout=layout, merge_outputs=merge_outputs,
            valid_length=valid_length,
        )  # fmt: skip
        back, back_states = backward.unroll(
            length, inputs=reverse_steps(inputs, length, valid_length), begin_state=states[split:], layout=layout,
            merge_outputs=False, valid_length=valid_length,
        )  # fmt: skip
        back = reverse_steps(back, length, valid_length)
        if merge_outputs is None:
            merge_outputs = is_tensor(there)
        there = format_sequence(None, there, layout, merge_outputs)[0]
        back = format_sequence(None, back, layout, merge_outputs)[0]
        outputs: Any
        if merge_outputs:
            outputs = F.concat(there, back, dim=2, name=f"{self._output_prefix}out")
        else:
            outputs = [
                F.concat(left, right, dim=1, name=f"{self._output_prefix}t{step}")
                for step, (left, right) in enumerate(zip(there, back))
            ]
        if valid_length is not None:
            outputs = mask_after(F, outputs, length, valid_length, axis, merge_outputs)
        return outputs, there_states + back_states
