"""Cells that change another cell: dropout between layers, zoneout, residual connections."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

from autohybrid import ndarray
from autohybrid.gluon.parameter_dict import ParameterDict
from autohybrid.gluon.rnn.recurrent import HybridRecurrentCell
from autohybrid.gluon.rnn.sequences import format_sequence, is_tensor, mask_after
from autohybrid.gluon.rnn.stacks import BidirectionalCell

__all__ = ["DropoutCell", "ModifierCell", "ResidualCell", "ZoneoutCell"]


class DropoutCell(HybridRecurrentCell):
    """Dropout on the inputs of each step; has no states. `axes` as for nn.Dropout."""

    def __init__(
        self, rate: float, axes: Any = (), prefix: str | None = None, params: ParameterDict | None = None
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        if not isinstance(rate, numbers.Number):
            raise AssertionError(f"`rate` must be a number, not {rate!r}")
        self._rate = rate
        self._axes = axes

    def __repr__(self) -> str:
        return f"{type(self).__name__}(rate={self._rate}, axes={self._axes})"

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """None."""
        return []

    def _alias(self) -> str:
        return "dropout"

    def hybrid_forward(self, F: Any, inputs: Any, states: Any) -> Any:
        if self._rate > 0:
            inputs = F.Dropout(data=inputs, p=self._rate, axes=self._axes, name=f"t{self._counter}_fwd")
        return inputs, states

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: Any = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
        valid_length: Any = None,
    ) -> tuple[Any, list[Any]]:
        """Dropout on the whole sequence at once where it is one tensor; see `RecurrentCell.unroll`."""
        self.reset()
        inputs, _, F, _ = format_sequence(length, inputs, layout, merge_outputs)
        if is_tensor(inputs):
            return self.hybrid_forward(F, inputs, begin_state or [])  # type: ignore[no-any-return]
        return super().unroll(length, inputs, begin_state, layout, merge_outputs, None)


class ModifierCell(HybridRecurrentCell):
    """Base of cells that change how `base_cell` computes; parameters and states are the base cell's.

    From then on only the modifier may be called. Raises AssertionError for a cell that is modified already.
    """

    def __init__(self, base_cell: Any) -> None:
        if base_cell._modified:
            raise AssertionError(f"cell `{base_cell.name}` is modified already; a cell can be modified once")
        base_cell._modified = True
        super().__init__(prefix=base_cell.prefix + self._alias(), params=None)
        self.base_cell = base_cell

    @property
    def params(self) -> ParameterDict:
        """The base cell's parameters."""
        return self.base_cell.params  # type: ignore[no-any-return]

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """The base cell's states."""
        return self.base_cell.state_info(batch_size)  # type: ignore[no-any-return]

    def begin_state(self, batch_size: int = 0, func: Callable[..., Any] = ndarray.zeros, **kwargs: Any) -> list[Any]:
        """The base cell's states to begin with: arrays, unless `func` makes symbols."""
        self._refuse_modified()
        if batch_size:
            kwargs["batch_size"] = batch_size
        return self._with_base(lambda base: base.begin_state(func=func, **kwargs))  # type: ignore[no-any-return]

    def _with_base(self, use: Callable[[Any], Any]) -> Any:
        """Call the base cell as if it were not modified."""
        self.base_cell._modified = False
        try:
            return use(self.base_cell)
        finally:
            self.base_cell._modified = True

    def hybrid_forward(self, F: Any, inputs: Any, states: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must define hybrid_forward(self, F, inputs, states)")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_cell})"


class ZoneoutCell(ModifierCell):
    """Zoneout: in train mode some outputs and states keep their value of the step before, with these probabilities."""

    #: What a step leaves for the next one, until `reset()`.
    _carried_attributes = frozenset(("_prev_output",))

    def __init__(self, base_cell: Any, zoneout_outputs: float = 0.0, zoneout_states: float = 0.0) -> None:
        refuse_bidirectional(base_cell, "zoneout")
        super().__init__(base_cell)
        self.zoneout_outputs = zoneout_outputs
        self.zoneout_states = zoneout_states
        self._prev_output = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}(p_out={self.zoneout_outputs}, p_state={self.zoneout_states}, {self.base_cell})"

    def _alias(self) -> str:
        return "zoneout"

    def reset(self) -> None:
        """Forget the last output too."""
        super().reset()
        self._prev_output = None

    def hybrid_forward(self, F: Any, inputs: Any, states: Any) -> Any:
        output, new_states = self.base_cell(inputs, states)
        previous = F.zeros_like(output) if self._prev_output is None else self._prev_output
        if self.zoneout_outputs:
            output = F.where(_keep(F, self.zoneout_outputs, output), output, previous)
        if self.zoneout_states:
            new_states = [F.where(_keep(F, self.zoneout_states, new), new, old) for new, old in zip(new_states, states)]
        self._prev_output = output
        return output, new_states


def _keep(F: Any, rate: float, like: Any) -> Any:
    """A mask: zero with probability `rate` in train mode, never otherwise."""
    return F.Dropout(F.ones_like(like), p=rate)


class ResidualCell(ModifierCell):
    """Adds the inputs to the outputs of `base_cell`; both must have one shape."""

    def hybrid_forward(self, F: Any, inputs: Any, states: Any) -> Any:
        output, states = self.base_cell(inputs, states)
        return F.elemwise_add(output, inputs, name=f"t{self._counter}_fwd"), states

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: Any = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
        valid_length: Any = None,
    ) -> tuple[Any, list[Any]]:
        """Unroll the base cell, then add the inputs; see `RecurrentCell.unroll`."""
        self.reset()
        outputs, states = self._with_base(
            lambda base: base.unroll(
                length, inputs=inputs, begin_state=begin_state, layout=layout, merge_outputs=merge_outputs,
                valid_length=valid_length,
            )
        )  # fmt: skip
        merge = is_tensor(outputs) if merge_outputs is None else merge_outputs
        inputs, axis, F, _ = format_sequence(length, inputs, layout, merge)
        if valid_length is not None:
            inputs = mask_after(F, inputs, length, valid_length, axis, merge)
        if merge:
            return F.elemwise_add(outputs, inputs), states
        return [F.elemwise_add(left, right) for left, right in zip(outputs, inputs)], states


def refuse_bidirectional(cell: Any, what: str) -> None:
    """Raises AssertionError for a cell that runs in both directions: it has no steps to change."""
    if isinstance(cell, BidirectionalCell) or any(isinstance(c, BidirectionalCell) for c in cell._children.values()):
        raise AssertionError(
            f"{what} needs steps, which a BidirectionalCell does not have; apply it to the cells inside"
        )
