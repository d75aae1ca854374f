"""Node: one operator call (or variable) of a graph, and the orders in which nodes are visited."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

from autohybrid.spans import Span
from autohybrid.tensor.attrs import Attrs
from autohybrid.tensor.opdef import OpDef

_order = itertools.count()


class Node:
    """One call of an operator, or a variable (`op` is None). Never changed after it is made.

    `inputs` are (node, output index) pairs. `order` grows with creation, so sorting by it is a topological order in
    which random numbers are drawn as the program would. `notes` are the text attributes of a Symbol that are no
    operator attributes (`__shape__`, `__lr_mult__`, `__ctx_group__`...). `span` is the user's expression, where known.
    `versions` are the counters beside the inputs of a node that was read from a file, which writes them again.
    """

    __slots__ = ("attrs", "extra", "inputs", "name", "notes", "op", "order", "span", "versions")

    def __init__(
        self,
        op: OpDef | None,
        attrs: Attrs | None,
        inputs: Iterable[tuple[Node, int]],
        name: str,
        notes: dict[str, str] | None = None,
        span: Span | None = None,
        extra: Any = None,
        versions: tuple[int, ...] | None = None,
    ) -> None:
        self.op = op
        self.attrs = attrs
        self.inputs = tuple(inputs)
        self.name = name
        self.notes = notes if notes is not None else {}
        self.span = span
        self.extra = extra  # what the maker needs to keep with the node: subgraphs, a CustomOp's property object
        self.versions = versions
        self.order = next(_order)

    @property
    def is_variable(self) -> bool:
        return self.op is None

    @property
    def output_count(self) -> int:
        """Number of outputs, hidden ones included."""
        return 1 if self.op is None else len(self.op.output_names(self._attrs))

    @property
    def visible_count(self) -> int:
        """Number of outputs that the caller of the operator sees."""
        return 1 if self.op is None else self.op.visible_outputs(self._attrs)

    @property
    def _attrs(self) -> Attrs:
        assert self.attrs is not None
        return self.attrs

    def input_names(self) -> tuple[str, ...]:
        """The operator's names of the inputs."""
        return () if self.op is None else self.op.input_names(self._attrs)

    def output_label(self, index: int) -> str:
        """MXNet's name of an output: `dense0_fwd_output`, `split0_output1`; a variable is its own name."""
        if self.op is None:
            return self.name
        return f"{self.name}_{self.op.output_names(self._attrs)[index]}"

    def __repr__(self) -> str:
        return f"<{self.op.name if self.op else 'variable'} {self.name}>"


Head = tuple[Node, int]


def depth_first(heads: Iterable[Head]) -> list[Node]:
    """Every node the heads need, inputs before users, left to right: the order of MXNet's lists and files."""
    done: set[Node] = set()
    result: list[Node] = []
    for head, _ in heads:
        stack: list[tuple[Node, Iterator[Head]]] = []
        if head not in done:
            done.add(head)
            stack.append((head, iter(head.inputs)))
        while stack:
            node, rest = stack[-1]
            for child, _ in rest:
                if child in done:
                    continue
                done.add(child)
                if child.inputs:
                    stack.append((child, iter(child.inputs)))
                    break
                result.append(child)
            else:
                result.append(node)
                stack.pop()
    return result


def program_order(heads: Iterable[Head]) -> list[Node]:
    """Every node the heads need, in the order in which the nodes were made."""
    return sorted(depth_first(heads), key=lambda node: node.order)


def auxiliary_variables(nodes: Iterable[Node]) -> set[Node]:
    """The variables that are auxiliary states: some operator takes them as one of its `aux` inputs."""
    found = set()
    for node in nodes:
        if node.op is None or node.attrs is None or not node.op.aux:
            continue
        names = node.op.aux_names(node.attrs)
        for (source, _), name in zip(node.inputs, node.input_names()):
            if name in names and source.is_variable:
                found.add(source)
    return found
