"""The ONNX graph that is being written, and a call of one operator with all that is known of it."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

from autohybrid.errors import MXNetError
from autohybrid.graph.node import Head, Node
from autohybrid.tensor.attrs import Attrs

Host = np.ndarray[Any, Any]
#: The operator set that the tables are written for.
OPSET = 17


def load_onnx(purpose: str = "writing") -> ModuleType:
    """The package `onnx`. Raises MXNetError that says how to get it."""
    try:
        return importlib.import_module("onnx")
    except ImportError as error:
        raise MXNetError(f"{purpose} ONNX needs the package onnx: `pip install 'autohybrid[onnx]'`") from error


@dataclass(slots=True)
class GraphWriter:
    """Nodes and constants in the order in which they were added."""

    onnx: ModuleType
    names: Mapping[Head, str]
    nodes: list[Any] = field(default_factory=list)
    #: Parameters, and what follows from them alone.
    known: dict[str, Host] = field(default_factory=dict)
    initializers: dict[str, Any] = field(default_factory=dict)
    _count: int = 0
    _node_names: set[str] = field(default_factory=set)

    def fresh(self, hint: str) -> str:
        """A name that no other value has."""
        self._count += 1
        return f"{hint}/{self._count}"

    def constant(self, hint: str, values: Any, dtype: Any = None) -> str:
        """The name of a constant."""
        name = self.fresh(hint)
        self.add_initializer(name, np.asarray(values, dtype))
        return name

    def add_initializer(self, name: str, values: Host) -> None:
        """A constant under this very name: a parameter."""
        self.known[name] = values
        self.initializers[name] = self.onnx.numpy_helper.from_array(np.array(values, order="C"), name)

    def emit(self, kind: str, inputs: Sequence[str], outputs: Sequence[str], name: str, **attributes: Any) -> None:
        """Add a node. A name that another node has gets a number."""
        own = self.fresh(name) if name in self._node_names else name
        self._node_names.add(own)
        self.nodes.append(self.onnx.helper.make_node(kind, list(inputs), list(outputs), name=own, **attributes))


@dataclass(frozen=True, slots=True)
class Call:
    """One call of an operator: names, shapes and dtypes of its inputs, and the names that its outputs must get."""

    writer: GraphWriter
    node: Node
    inputs: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    dtypes: tuple[str, ...]
    outputs: tuple[str, ...]
    out_shapes: tuple[tuple[int, ...], ...]

    @property
    def attrs(self) -> Attrs:
        """The operator's attributes."""
        assert self.node.attrs is not None
        return self.node.attrs

    def add(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """An intermediate value: the result of an ONNX operator."""
        name = self.writer.fresh(self.node.name)
        self.writer.emit(kind, inputs, [name], name, **attributes)
        return name

    def result(self, kind: str, *inputs: str, **attributes: Any) -> None:
        """The outputs of the call, from an ONNX operator."""
        self.writer.emit(kind, inputs, self.outputs, self.node.name, **attributes)

    def constant(self, values: Any, dtype: Any = None) -> str:
        """A constant, in the dtype of the first input where none is given."""
        return self.writer.constant(self.node.name, values, dtype or self.dtypes[0])

    def whole(self, values: Any) -> str:
        """A constant of whole numbers, as ONNX wants shapes and axes."""
        return self.writer.constant(self.node.name, values, np.int64)

    def known(self, index: int) -> Host:
        """The values of an operand that is a parameter, or follows from parameters."""
        values = self.writer.known.get(self.inputs[index])
        if values is None:
            raise self.refuse(f"`{self.inputs[index]}` is not a parameter")
        return values

    def refuse(self, what: str) -> MXNetError:
        """The error that says what of this call has no counterpart."""
        assert self.node.op is not None
        return MXNetError(f"operator {self.node.op.name} ({self.node.name}) cannot be written to ONNX: {what}")
