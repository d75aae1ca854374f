"""RecurrentCell: one step of a recurrent network, and how it is unrolled over a sequence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autohybrid import ndarray
from autohybrid.gluon.block import Block
from autohybrid.gluon.hybrid_block import HybridBlock
from autohybrid.gluon.nn.activations import LeakyReLU
from autohybrid.gluon.parameter_dict import ParameterDict
from autohybrid.gluon.rnn.sequences import first_states, format_sequence, last_valid, mask_after
from autohybrid.tensor.tape import state

__all__ = ["HybridRecurrentCell", "RecurrentCell"]


class RecurrentCell(Block):
    """One step: `output, states = cell(inputs, states)`, the states being a list. Override `state_info` and `forward`.

    Inputs are `(batch, input_size)`. `reset()` before stepping through another sequence.
    """

    #: Attributes that number steps, for the names of operators, or say who may call; a graph does not depend on them.
    _bookkeeping = frozenset(("_counter", "_init_counter", "_modified"))

    def __init__(self, prefix: str | None = None, params: ParameterDict | None = None) -> None:
        super().__init__(prefix=prefix, params=params)
        #: Whether a modifier cell (Zoneout...) has taken this one over, so that only the modifier may be called.
        self._modified = False
        self.reset()

    def reset(self) -> None:
        """Forget the step that was reached, here and in the cells inside."""
        self._init_counter = -1
        self._counter = -1
        if state.builder is not None:
            state.builder.restarted.add(id(self))
        for cell in self._children.values():
            reset = getattr(cell, "reset", None)
            if reset is not None:
                reset()

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """Shape and layout of each state; to be overridden."""
        raise NotImplementedError(f"{type(self).__name__} must define state_info(self, batch_size=0)")

    def begin_state(self, batch_size: int = 0, func: Callable[..., Any] = ndarray.zeros, **kwargs: Any) -> list[Any]:
        """States to begin with, made by `func(name=..., shape=..., **kwargs)` (zeros by default).

        Raises AssertionError when a modifier cell has taken this one over.
        """
        self._refuse_modified()
        states = []
        for info in self.state_info(batch_size):
            self._init_counter += 1
            states.append(func(name=f"{self._prefix}begin_state_{self._init_counter}", **{**(info or {}), **kwargs}))
        return states

    def _refuse_modified(self) -> None:
        if self._modified:
            raise AssertionError(
                f"cell `{self.name}` was given to a modifier cell (such as ZoneoutCell); call that one instead"
            )

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: Any = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
        valid_length: Any = None,
    ) -> tuple[Any, list[Any]]:
        """Step through `length` steps of `inputs`: one tensor in `layout`, or a list with one for each step.

        Returns the outputs (one tensor if `merge_outputs`, a list if False, as the inputs come if None) and the last
        states. With `valid_length`, `(batch,)`, outputs after the end of a sequence are zero and its states are those
        of its last valid step.
        """
        self.reset()
        inputs, axis, F, batch_size = format_sequence(length, inputs, layout, False)
        states = first_states(self, F, begin_state, inputs, batch_size)
        outputs: Any = []
        history = []
        for step in range(length):
            output, states = self(inputs[step], states)
            outputs.append(output)
            if valid_length is not None:
                history.append(states)
        if valid_length is not None:
            states = last_valid(F, history, valid_length)
            outputs = mask_after(F, outputs, length, valid_length, axis, True)
        return format_sequence(length, outputs, layout, merge_outputs)[0], states

    def _get_activation(self, F: Any, inputs: Any, activation: Any, **kwargs: Any) -> Any:
        """Apply an activation given by name, as a LeakyReLU layer, or as any callable."""
        if activation in ("tanh", "relu", "sigmoid", "softsign"):
            return getattr(F, activation)(inputs, **kwargs)
        if isinstance(activation, str):
            return F.Activation(inputs, act_type=activation, **kwargs)
        if isinstance(activation, LeakyReLU):
            return F.LeakyReLU(inputs, act_type="leaky", slope=activation._alpha, **kwargs)
        return activation(inputs, **kwargs)

    def __call__(self, inputs: Any, states: Any) -> Any:
        """One step. Raises as the cell does for states of the wrong number or shape."""
        self._counter += 1
        return super().__call__(inputs, states)


class HybridRecurrentCell(RecurrentCell, HybridBlock):
    """A RecurrentCell that can become a graph: override `state_info` and `hybrid_forward(F, inputs, states, ...)`."""

    def hybrid_forward(self, F: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must define hybrid_forward(self, F, inputs, states)")
