"""Initializers made of others: by name pattern (Mixed), from loaded arrays (Load), part by part (FusedRNN)."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from autohybrid.ndarray import NDArray
from autohybrid.optim.initializer.base import InitDesc, Initializer, create, register

_GATES = {"rnn_relu": ("",), "rnn_tanh": ("",), "lstm": ("_i", "_f", "_c", "_o"), "gru": ("_r", "_z", "_o")}


class Load:
    """Takes arrays from a dict or a `.params` file by name (`arg:`/`aux:` prefixes dropped), others from a default.

    Calling it raises AssertionError when the shape differs, or when a name is missing and there is no default.
    """

    def __init__(self, param: Any, default_init: Callable[[str, NDArray], None] | None = None, verbose: bool = False):
        if isinstance(param, str):
            from autohybrid import ndarray

            param = ndarray.load(param)
        if not isinstance(param, dict):
            raise AssertionError("Load needs a dict of arrays, or the name of a file that holds one")
        self.param: Mapping[str, NDArray] = {re.sub("^(arg|aux):", "", name): array for name, array in param.items()}
        self.default_init = default_init
        self.verbose = verbose

    def __call__(self, name: str, arr: NDArray) -> None:
        found = self.param.get(name)
        if found is None:
            if self.default_init is None:
                raise AssertionError(f"`{name}` is not among the loaded arrays and there is no default initializer")
            self.default_init(name, arr)
        elif found.shape != arr.shape:
            raise AssertionError(f"`{name}` has shape {arr.shape}, the loaded array has shape {found.shape}")
        else:
            arr[:] = found
        if self.verbose:
            logging.info("initialized %s by %s", name, "default" if found is None else "loading")


class Mixed:
    """The first initializer whose regular expression matches the start of the name."""

    def __init__(self, patterns: Sequence[str], initializers: Sequence[Callable[[str, NDArray], None]]) -> None:
        if len(patterns) != len(initializers):
            raise AssertionError(f"{len(patterns)} patterns, but {len(initializers)} initializers")
        self.map = [(re.compile(pattern), init) for pattern, init in zip(patterns, initializers)]

    def __call__(self, name: str, arr: NDArray) -> None:
        for pattern, init in self.map:
            if pattern.match(name):
                init(name, arr)
                return
        raise ValueError(f"no pattern matches the name `{name}`; end the list with '.*' and a default initializer")


@register
class FusedRNN(Initializer):
    """Fills the one parameter vector of a fused RNN operator, weight by weight, as its unfused cells would be.

    `init` (an Initializer, its JSON, or None for the global one) fills the parts; an LSTM's forget gates get
    `forget_bias`.
    """

    def __init__(
        self,
        init: Initializer | str | None,
        num_hidden: int,
        num_layers: int,
        mode: str,
        bidirectional: bool = False,
        forget_bias: float = 1.0,
    ) -> None:
        part = create(init) if isinstance(init, str) else init
        super().__init__(
            init=None if part is None else part.dumps(),
            num_hidden=num_hidden,
            num_layers=num_layers,
            mode=mode,
            bidirectional=bidirectional,
            forget_bias=forget_bias,
        )
        self._init = part
        self._hidden = num_hidden
        self._layers = num_layers
        self._mode = mode
        self._directions = ("l", "r") if bidirectional else ("l",)
        self._forget_bias = forget_bias

    def _init_weight(self, name: str, arr: NDArray) -> None:
        at = 0
        fill = self._init or getattr(name, "global_init", None)
        if fill is None:
            raise ValueError("FusedRNN without an initializer of its own needs an InitDesc with a global one")
        for part, shape in self._parts(arr.size):
            size = shape[0] * (shape[1] if len(shape) > 1 else 1)
            piece: NDArray = arr[at : at + size].reshape(shape)
            desc = InitDesc(part, global_init=fill)
            if self._mode == "lstm" and part.endswith("_f_bias"):
                piece[:] = self._forget_bias
            else:
                fill(desc, piece)
            arr[at : at + size] = piece.reshape((size,))
            at += size

    def _parts(self, total: int) -> Iterator[tuple[str, tuple[int, ...]]]:
        hidden, gates = self._hidden, _GATES[self._mode]
        width = len(self._directions)
        for layer in range(self._layers):
            inputs = self._input_size(total) if layer == 0 else hidden * width
            for direction in self._directions:
                for group, columns in (("i2h", inputs), ("h2h", hidden)):
                    for gate in gates:
                        yield f"{direction}{layer}_{group}{gate}_weight", (hidden, columns)
        for layer in range(self._layers):
            for direction in self._directions:
                for group in ("i2h", "h2h"):
                    for gate in gates:
                        yield f"{direction}{layer}_{group}{gate}_bias", (hidden,)

    def _input_size(self, total: int) -> int:
        hidden, width = self._hidden, len(self._directions)
        rows = len(_GATES[self._mode]) * hidden
        later = (self._layers - 1) * (hidden * width + hidden + 2)
        return total // width // rows - later - hidden - 2
