"""BaseRNNCell: a recurrent cell made of Symbols, for Module (Gluon's own cells are in `gluon.rnn`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autohybrid import ndarray as nd
from autohybrid import symbol as sym
from autohybrid.ndarray import NDArray

Weights = dict[str, NDArray]
Sequences = Any  # one Symbol with a time axis, or a list with one for each step


class RNNParams:
    """The variables of cells by name; cells that are given the same one share their weights."""

    def __init__(self, prefix: str = "") -> None:
        self._prefix = prefix
        self._params: dict[str, Any] = {}

    def get(self, name: str, **kwargs: Any) -> Any:
        """The variable `prefix + name`, made on first use with these settings."""
        name = self._prefix + name
        if name not in self._params:
            self._params[name] = sym.var(name, **kwargs)
        return self._params[name]


class BaseRNNCell:
    """Base of the cells: `output, states = cell(inputs, states)` for a step, `unroll` for a sequence."""

    def __init__(self, prefix: str = "", params: RNNParams | None = None) -> None:
        self._own_params = params is None
        self._params = RNNParams(prefix) if params is None else params
        self._prefix = prefix
        self._modified = False
        self._cells: list[BaseRNNCell] = []
        self.reset()

    def reset(self) -> None:
        """Count steps from 0 again, before unrolling anew."""
        self._init_counter = -1
        self._counter = -1
        for cell in self._cells:
            cell.reset()

    def __call__(self, inputs: Any, states: Sequence[Any]) -> tuple[Any, list[Any]]:
        raise NotImplementedError(f"{type(self).__name__} cannot be stepped; use unroll")

    @property
    def params(self) -> RNNParams:
        """The variables, to be given to another cell."""
        self._own_params = False
        return self._params

    @property
    def state_info(self) -> list[dict[str, Any]]:
        """Shape (0: the batch) and layout of each state."""
        raise NotImplementedError(f"{type(self).__name__} must define state_info")

    @property
    def state_shape(self) -> list[tuple[int, ...]]:
        """The shape of each state."""
        return [info["shape"] for info in self.state_info]

    @property
    def _gate_names(self) -> Sequence[str]:
        return ()

    def begin_state(self, func: Callable[..., Any] = sym.zeros, **kwargs: Any) -> list[Any]:
        """The first states, made by `func` (zeros; `mx.sym.var` makes them inputs)."""
        if self._modified:
            raise AssertionError("this cell was given to a modifier cell; call the modifier cell instead")
        states = []
        for info in self.state_info:
            self._init_counter += 1
            settings = {**kwargs, **(info or {})}
            states.append(func(name=f"{self._prefix}begin_state_{self._init_counter}", **settings))
        return states

    def unroll(
        self,
        length: int,
        inputs: Sequences,
        begin_state: Sequence[Any] | None = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
    ) -> tuple[Sequences, list[Any]]:
        """`length` steps over `inputs`: the outputs (one Symbol if `merge_outputs`, else a list) and the states."""
        self.reset()
        steps, _ = normalize_sequence(length, inputs, layout, False)
        states = list(self.begin_state() if begin_state is None else begin_state)
        outputs = []
        for step in steps[:length]:
            output, states = self(step, states)
            outputs.append(output)
        return normalize_sequence(length, outputs, layout, merge_outputs)[0], states

    def _get_activation(self, inputs: Any, activation: Any, **kwargs: Any) -> Any:
        """`activate`, as a method: cells written by users call it."""
        return activate(inputs, activation, **kwargs)

    # -- weights by gate ---------------------------------------------------------------------------------------------
    def _parts(self) -> list[tuple[str, list[str]]]:
        """Each packed weight with the names of its parts, one a gate."""
        kinds = [(group, kind) for group in ("i2h", "h2h") for kind in ("weight", "bias")] if self._gate_names else []
        return [
            (f"{self._prefix}{group}_{kind}", [f"{self._prefix}{group}{gate}_{kind}" for gate in self._gate_names])
            for group, kind in kinds
        ]

    def unpack_weights(self, args: Weights) -> Weights:
        """Weights with one array for each gate in place of the packed ones."""
        args = dict(args)
        for packed, parts in self._parts():
            whole = args.pop(packed)
            size = whole.shape[0] // len(parts)
            args.update({name: whole[i * size : (i + 1) * size].copy() for i, name in enumerate(parts)})
        return args

    def pack_weights(self, args: Weights) -> Weights:
        """The reverse of `unpack_weights`."""
        args = dict(args)
        for packed, parts in self._parts():
            args[packed] = nd.concatenate([args.pop(name) for name in parts])
        return args


def activate(inputs: Any, activation: Any, **kwargs: Any) -> Any:
    """`activation` (a name, or a function of a Symbol) applied to `inputs`."""
    if isinstance(activation, str):
        return sym.Activation(inputs, act_type=activation, **kwargs)
    return activation(inputs, **kwargs)


def normalize_sequence(length: int | None, inputs: Sequences, layout: str, merge: bool | None) -> tuple[Sequences, int]:
    """`inputs` as one Symbol (`merge` True), a list of steps (False) or as they are (None); and the time axis."""
    if inputs is None:
        raise AssertionError("unroll needs `inputs`: make variables for them")
    axis = layout.find("T")
    if isinstance(inputs, sym.Symbol):
        if merge is False:
            if len(inputs.list_outputs()) != 1:
                raise AssertionError("unroll does not take a group of symbols; give it a list of them")
            inputs = list(sym.split(inputs, axis=axis, num_outputs=length, squeeze_axis=1))
        return inputs, axis
    if length is not None and len(inputs) != length:
        raise AssertionError(f"there are {len(inputs)} inputs for {length} steps")
    if merge:
        inputs = sym.Concat(*[sym.expand_dims(step, axis=axis) for step in inputs], dim=axis)
    return inputs, axis
