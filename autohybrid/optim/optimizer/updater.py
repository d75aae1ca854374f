"""Updater: an optimizer together with the state of every weight it has seen. What a Trainer and a KVStore call."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from autohybrid.context import Context
from autohybrid.ndarray import NDArray
from autohybrid.optim.optimizer.base import Index, Optimizer, State
from autohybrid.optim.optimizer.state_pickle import dump_states, load_states
from autohybrid.tensor import autograd


class Updater:
    """`updater(index, grad, weight)` updates one weight, or several when all three are lists."""

    def __init__(self, optimizer: Optimizer) -> None:
        self.optimizer = optimizer
        self.states: dict[Index, State] = {}
        self.states_synced: dict[Index, bool] = {}

    @property
    def aggregate_updates(self) -> bool:
        """Whether the optimizer takes several weights at a time."""
        return self.optimizer.aggregate_num > 0

    def __call__(self, index: Index, grad: Any, weight: Any) -> None:
        if not isinstance(index, (list, tuple)):
            index, grad, weight = [index], [grad], [weight]
        indices = [i.decode() if isinstance(i, bytes) else i for i in index]
        grads, weights = ([self._classic(a) for a in arrays] for arrays in (grad, weight))
        if not weights:
            return
        self.optimizer._set_current_context(weights[0].context.device_id)
        for i, w in zip(indices, weights):
            self._prepare_state(i, w)
        # The update is no part of any recorded computation, wherever it is called from.
        with autograd.pause(train_mode=autograd.is_training()):
            if self.aggregate_updates:
                self._update_together(indices, grads, weights)
            else:
                for i, g, w in zip(indices, grads, weights):
                    self.optimizer.update_multi_precision(i, w, g, self.states[i])

    def _classic(self, array: NDArray) -> NDArray:
        """The array as a classic NDArray. Raises ValueError for a numpy-mode array if the optimizer is classic."""
        classic = array.as_nd_ndarray()
        if classic is not array and not self.optimizer.allow_np_array:
            raise ValueError("this optimizer was made outside numpy mode and cannot update mx.np arrays")
        return classic

    def _prepare_state(self, index: Index, weight: NDArray) -> None:
        if index not in self.states:
            self.states[index] = self.optimizer.create_state_multi_precision(index, weight)
        elif not self.states_synced[index]:
            self.states[index] = self.sync_state_context(self.states[index], weight.context)
        self.states_synced[index] = True

    def _update_together(self, indices: Sequence[Index], grads: Sequence[NDArray], weights: Sequence[NDArray]) -> None:
        def dtype_of(position: int) -> str:
            return weights[position].dtype.__name__

        size = self.optimizer.aggregate_num
        for _, same in groupby(sorted(range(len(indices)), key=dtype_of), key=dtype_of):
            positions = list(same)
            for start in range(0, len(positions), size):
                part = positions[start : start + size]
                names = [indices[p] for p in part]
                states = [self.states[name] for name in names]
                self.optimizer.update_multi_precision(
                    names, [weights[p] for p in part], [grads[p] for p in part], states
                )

    def sync_state_context(self, state: State, context: Context) -> State:
        """`state` with its arrays on `context`."""
        if isinstance(state, NDArray):
            return state.as_in_context(context)
        if isinstance(state, (tuple, list)):
            return type(state)(self.sync_state_context(each, context) for each in state)
        return state

    def get_states(self, dump_optimizer: bool = False) -> bytes:
        """The states, and with `dump_optimizer` the optimizer too, as bytes for `set_states`."""
        return dump_states((self.states, self.optimizer) if dump_optimizer else self.states)

    def set_states(self, states: bytes) -> None:
        """Take the states (and the optimizer, if it is there) from bytes that `get_states` gave.

        Raises MXNetError for bytes that are no optimizer states.
        """
        loaded = load_states(states)
        if isinstance(loaded, tuple) and len(loaded) == 2:
            self.states, self.optimizer = loaded
        else:
            self.states = loaded
        self.states_synced = dict.fromkeys(self.states, False)


def get_updater(optimizer: Optimizer) -> Updater:
    """An Updater for `optimizer`."""
    return Updater(optimizer)
