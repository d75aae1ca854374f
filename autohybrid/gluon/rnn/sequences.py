"""Sequences of steps: one tensor with a time axis, or a list of tensors; masking, reversing, first states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autohybrid import ndarray
from autohybrid.context import Context
from autohybrid.gluon.structure import is_symbol
from autohybrid.tensor.array import NDArray


def is_tensor(value: Any) -> bool:
    """Whether `value` is one array or symbol, not a list of them."""
    return isinstance(value, NDArray) or is_symbol(value)


def operators_for(value: Any) -> Any:
    """`mx.nd` for an array (or a list of them), `mx.sym` for a symbol."""
    first = value if is_tensor(value) else value[0]
    if not is_symbol(first):
        return ndarray
    from autohybrid import symbol

    return symbol


def format_sequence(
    length: int | None, inputs: Any, layout: str, merge: bool | None, in_layout: str | None = None
) -> tuple[Any, int, Any, int]:
    """`inputs` as one tensor (`merge=True`), a list (`False`) or as it is (None).

    Returns it with the time axis in `layout`, the operators for it (`mx.nd` or `mx.sym`) and the batch size (0 for
    symbols). `in_layout` is that of the inputs where it differs. Raises AssertionError when the number of steps is not
    `length`.
    """
    if inputs is None:
        raise AssertionError("unroll needs `inputs`: an array, a symbol, or a list with one for each step")
    axis = layout.find("T")
    in_axis = axis if in_layout is None else in_layout.find("T")
    F = operators_for(inputs)
    batch_size = 0
    if not is_tensor(inputs):
        if length is not None and len(inputs) != length:
            raise AssertionError(f"{len(inputs)} inputs were given for {length} steps")
        if F is ndarray:
            batch_size = inputs[0].shape[0]
        if merge is True:
            inputs, in_axis = F.stack(*inputs, axis=axis), axis
    elif F is ndarray:
        batch_size = inputs.shape[layout.find("N")]
        if merge is False:
            steps = inputs.shape[in_axis]
            if length is not None and length != steps:
                raise AssertionError(f"the inputs have {steps} steps along axis {in_axis}, not {length}")
            inputs = as_list(F.split(inputs, axis=in_axis, num_outputs=steps, squeeze_axis=1))
    elif merge is False:
        if len(inputs.list_outputs()) != 1:
            raise AssertionError("a symbol with several outputs cannot be unrolled; give `list(symbol)`")
        inputs = list(F.split(inputs, axis=in_axis, num_outputs=length, squeeze_axis=1))
    if is_tensor(inputs) and axis != in_axis:
        inputs = F.swapaxes(inputs, dim1=axis, dim2=in_axis)
    return inputs, axis, F, batch_size


def as_list(value: Any) -> list[Any]:
    """The outputs of an operator as a list, also when there is only one."""
    return list(value) if isinstance(value, (list, tuple)) or is_symbol(value) else [value]


def first_states(cell: Any, F: Any, begin_state: Any, inputs: Any, batch_size: int) -> Any:
    """`begin_state` if given, else zeros from the cell on the device of the inputs."""
    if begin_state is not None:
        return begin_state
    if F is not ndarray:
        return cell.begin_state(func=F.zeros, batch_size=batch_size)
    first = inputs if is_tensor(inputs) else inputs[0]
    with Context(first._ctx):
        return cell.begin_state(func=F.zeros, batch_size=batch_size)


def mask_after(F: Any, data: Any, length: int, valid_length: Any, time_axis: int, merge: bool | None) -> Any:
    """Zeros in place of the steps from `valid_length` (one number for each sequence) on; a list unless `merge`."""
    if not is_tensor(data):
        data = F.stack(*data, axis=time_axis)
    masked = F.SequenceMask(data, sequence_length=valid_length, use_sequence_length=True, axis=time_axis)
    if merge:
        return masked
    return as_list(F.split(masked, num_outputs=length, axis=time_axis, squeeze_axis=True))


def reverse_steps(sequences: Sequence[Any], steps: int, valid_length: Any = None) -> list[Any]:
    """The steps in reverse; with `valid_length`, each sequence's valid steps reversed and the rest left in place."""
    if valid_length is None:
        return list(reversed(sequences))
    F = operators_for(sequences)
    turned = F.SequenceReverse(F.stack(*sequences, axis=0), sequence_length=valid_length, use_sequence_length=True)
    return as_list(F.split(turned, axis=0, num_outputs=steps, squeeze_axis=True))


def last_valid(F: Any, states: Sequence[Sequence[Any]], valid_length: Any) -> list[Any]:
    """Each sequence's states after its last valid step, from the states after every step."""
    return [
        F.SequenceLast(F.stack(*steps, axis=0), sequence_length=valid_length, use_sequence_length=True, axis=0)
        for steps in zip(*states)
    ]
