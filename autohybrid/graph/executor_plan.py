"""What is kept of writing an executor: which lines came from which nodes, and the facts a report needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from autohybrid.graph.node import Head, Node
from autohybrid.tensor.opdef import Shape


@dataclass(frozen=True, slots=True)
class Step:
    """The statements written for one call, or for several that were joined: lines `[first, end)`, from 0."""

    nodes: tuple[Node, ...]
    first: int
    end: int


@dataclass(frozen=True, slots=True)
class ExecutorPlan:
    """The steps of a generated function in order, the shape and dtype of every value, the bytes of its buffers."""

    steps: tuple[Step, ...]
    shapes: Mapping[Head, Shape]
    dtypes: Mapping[Head, str | None]
    buffer_bytes: int
