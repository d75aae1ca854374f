"""Unrolling by the `foreach` operator: the number of steps is that of the data, not of the graph."""

from __future__ import annotations

from typing import Any

from autohybrid.gluon.rnn.sequences import as_list, format_sequence

__all__ = ["dynamic_unroll"]


def dynamic_unroll(
    cell: Any,
    inputs: Any,
    begin_state: Any,
    drop_inputs: float = 0,
    drop_outputs: float = 0,
    layout: str = "TNC",
    valid_length: Any = None,
) -> tuple[Any, Any]:
    """Run `cell` over all steps of `inputs` (one tensor in `layout`); outputs in the same layout, and last states.

    `drop_inputs`, `drop_outputs`: dropout with one mask for all steps. With `valid_length`, `(batch,)`, states stop at
    the end of each sequence and later outputs are zero.
    """
    inputs, axis, F, _ = format_sequence(0, inputs, layout, True)
    axes = list(range(len(layout)))
    axes[0], axes[axis] = axis, 0
    if axis != 0:
        inputs = F.transpose(inputs, axes=axes)
    if drop_inputs:
        inputs = F.Dropout(inputs, p=drop_inputs, axes=(axis,))
    if valid_length is None:
        outputs, states = F.contrib.foreach(cell, inputs, begin_state)
    else:
        counted = [*as_list(begin_state), F.zeros((1,))]
        outputs, states = F.contrib.foreach(_held_after_end(cell, F, valid_length), inputs, counted)
        states = states[:-1]
    if drop_outputs:
        outputs = F.Dropout(outputs, p=drop_outputs, axes=(axis,))
    if axis != 0:
        outputs = F.transpose(outputs, axes=axes)
    if valid_length is not None:
        outputs = F.SequenceMask(outputs, sequence_length=valid_length, use_sequence_length=True, axis=axis)
    return outputs, states


def _held_after_end(cell: Any, F: Any, valid_length: Any) -> Any:
    """A step whose last state counts the steps, and which keeps the states of sequences that have ended."""

    def step(inputs: Any, states: Any) -> tuple[Any, list[Any]]:
        held, count = states[:-1], states[-1]
        output, new_states = cell(inputs, held)
        running = F.broadcast_greater(valid_length, count)
        kept = [F.where(running, new, old) for new, old in zip(new_states, held)]
        return output, [*kept, count + 1]

    return step
