"""VariationalDropoutCell: the same dropout masks at every step of a sequence."""

from __future__ import annotations

from typing import Any

from autohybrid.gluon.rnn.modifiers import ModifierCell, refuse_bidirectional
from autohybrid.gluon.rnn.sequences import first_states, format_sequence, is_tensor, mask_after

__all__ = ["VariationalDropoutCell"]


class VariationalDropoutCell(ModifierCell):
    """Dropout on inputs, first state and outputs of `base_cell`, with masks drawn once a sequence (`reset()`)."""

    #: What a step leaves for the next one, until `reset()`.
    _carried_attributes = frozenset(("drop_inputs_mask", "drop_states_mask", "drop_outputs_mask"))

    def __init__(
        self, base_cell: Any, drop_inputs: float = 0.0, drop_states: float = 0.0, drop_outputs: float = 0.0
    ) -> None:
        if drop_states:
            refuse_bidirectional(base_cell, "dropout of states")
        super().__init__(base_cell)
        self.drop_inputs = drop_inputs
        self.drop_states = drop_states
        self.drop_outputs = drop_outputs
        self._forget_masks()

    def _alias(self) -> str:
        return "vardrop"

    def _forget_masks(self) -> None:
        self.drop_inputs_mask = None
        self.drop_states_mask = None
        self.drop_outputs_mask = None

    def reset(self) -> None:
        """Forget the masks too."""
        super().reset()
        self._forget_masks()

    def hybrid_forward(self, F: Any, inputs: Any, states: Any) -> Any:
        if self.drop_states:
            if self.drop_states_mask is None:
                self.drop_states_mask = F.Dropout(F.ones_like(states[0]), p=self.drop_states)
            states = [states[0] * self.drop_states_mask, *states[1:]]
        if self.drop_inputs:
            if self.drop_inputs_mask is None:
                self.drop_inputs_mask = F.Dropout(F.ones_like(inputs), p=self.drop_inputs)
            inputs = inputs * self.drop_inputs_mask
        output, new_states = self.base_cell(inputs, states)
        if self.drop_outputs:
            if self.drop_outputs_mask is None:
                self.drop_outputs_mask = F.Dropout(F.ones_like(output), p=self.drop_outputs)
            output = output * self.drop_outputs_mask
        return output, new_states

    def __repr__(self) -> str:
        return f"{type(self).__name__}(p_out = {self.drop_outputs}, p_state = {self.drop_states})"

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: Any = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
        valid_length: Any = None,
    ) -> tuple[Any, list[Any]]:
        """Without dropout of states, dropout is applied to the whole sequence at once; see `RecurrentCell.unroll`."""
        if self.drop_states:
            return super().unroll(length, inputs, begin_state, layout, merge_outputs, valid_length=valid_length)
        self.reset()
        inputs, axis, F, batch_size = format_sequence(length, inputs, layout, True)
        states = first_states(self, F, begin_state, inputs, batch_size)
        if self.drop_inputs:
            inputs = F.Dropout(inputs, p=self.drop_inputs, axes=(axis,))
        outputs, states = self._with_base(
            lambda base: base.unroll(length, inputs, states, layout, merge_outputs=True, valid_length=valid_length)
        )
        if self.drop_outputs:
            outputs = F.Dropout(outputs, p=self.drop_outputs, axes=(axis,))
        merge = is_tensor(outputs) if merge_outputs is None else merge_outputs
        outputs = format_sequence(length, outputs, layout, merge)[0]
        if valid_length is not None:
            outputs = mask_after(F, outputs, length, valid_length, axis, merge)
        return outputs, states
