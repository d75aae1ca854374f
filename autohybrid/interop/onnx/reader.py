"""An ONNX call that is being read: its operands as symbols, and as arrays where their values are known beforehand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

from autohybrid.errors import MXNetError
from autohybrid.graph.compose import var
from autohybrid.graph.inference import extend_dtypes, extend_shapes
from autohybrid.graph.node import Head
from autohybrid.graph.symbol import Symbol
from autohybrid.tensor.opdef import Shape

Host = np.ndarray[Any, Any]


@dataclass(slots=True)
class Values:
    """What is known of the values by name: symbols, and arrays for constants and what follows from constants alone.

    An array becomes a variable, which is a parameter of the result, when an operator needs it as an operand.
    """

    onnx: ModuleType
    symbols: dict[str, Symbol] = field(default_factory=dict)
    arrays: dict[str, Host] = field(default_factory=dict)
    parameters: dict[str, Host] = field(default_factory=dict)
    shapes: dict[Head, Shape] = field(default_factory=dict)
    dtypes: dict[Head, str | None] = field(default_factory=dict)

    def symbol(self, name: str) -> Symbol:
        """The value as a symbol."""
        if name not in self.symbols:
            self.symbols[name] = self.parameter(name, self.arrays[name])
        return self.symbols[name]

    def parameter(self, name: str, values: Host) -> Symbol:
        """A variable with these values. Truth values are numbers, and scalars have one axis, as arrays of MXNet do."""
        held = np.atleast_1d(values.astype(np.float32) if values.dtype == np.bool_ else values)
        self.parameters[name] = held
        return self.known(var(name, shape=held.shape, dtype=held.dtype.name))

    def known(self, symbol: Symbol) -> Symbol:
        """The same symbol, its shapes and dtypes inferred."""
        extend_shapes(symbol._heads, self.shapes)
        extend_dtypes(symbol._heads, self.dtypes)
        return symbol

    def shape(self, symbol: Symbol) -> Shape:
        """The shape of its first output; unknown extents are -1, an unknown shape is None."""
        return self.shapes[self.known(symbol)._heads[0]]


@dataclass(frozen=True, slots=True)
class OnnxCall:
    """One node of an ONNX model."""

    values: Values
    kind: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any]
    opset: int

    def has(self, index: int) -> bool:
        """Whether the optional operand was given."""
        return index < len(self.inputs) and bool(self.inputs[index])

    def data(self, index: int = 0) -> Any:
        """An operand as a symbol, to call methods and operators of."""
        return self.values.symbol(self.inputs[index])

    def operands(self) -> list[Any]:
        """All operands as symbols."""
        return [self.data(index) for index in range(len(self.inputs))]

    def find(self, index: int) -> Host | None:
        """The values of an operand where they are constant."""
        return self.values.arrays.get(self.inputs[index]) if self.has(index) else None

    def require(self, index: int, what: str) -> Host:
        """The values of an operand that must be constant."""
        found = self.find(index)
        if found is None:
            raise self.refuse(
                f"its {what} `{self.inputs[index]}` is computed when the model runs; give the shape of every input, "
                "from which it may follow (`shapes=`, or `--shape NAME=SHAPE` on the command line)"
            )
        return found

    def numbers(self, index: int, what: str) -> list[int]:
        """A constant operand as a list of whole numbers."""
        return [int(each) for each in self.require(index, what).ravel()]

    def option(self, name: str, default: Any = None) -> Any:
        """An attribute."""
        return self.attributes.get(name, default)

    def shape(self, index: int = 0, start: int = 0) -> tuple[int, ...]:
        """The shape of an operand, from axis `start` on. Raises MXNetError unless all of that is known."""
        found = self.values.shape(self.data(index))
        found = None if found is None else found[start:]
        if found is None or -1 in found:
            raise self.refuse(
                f"the shape of `{self.inputs[index]}` is not known; give the shape of every input (`shapes=`, or "
                "`--shape NAME=SHAPE` on the command line)"
            )
        return found

    def rank(self, index: int = 0) -> int:
        """The number of axes of an operand."""
        found = self.values.shape(self.data(index))
        return len(found) if found is not None else len(self.shape(index))

    def dtype(self, index: int = 0) -> str | None:
        """The dtype of an operand, where it is known."""
        symbol = self.values.known(self.data(index))
        return self.values.dtypes[symbol._heads[0]]

    def constant(self, hint: str, values: Any, dtype: Any = np.float32) -> Any:
        """A parameter that the model does not hold as such."""
        return self.values.parameter(f"{self.name}_{hint}", np.asarray(values, dtype))

    def refuse(self, what: str) -> MXNetError:
        """The error that says what of this call cannot be read."""
        return MXNetError(f"ONNX operator {self.kind} (`{self.name}`) cannot be read: {what}")


#: Makes the symbol of a call, or those of its outputs.
Reading = Callable[[OnnxCall], Any]
