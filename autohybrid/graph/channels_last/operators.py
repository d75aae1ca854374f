"""The operators that passes put into graphs for values (n, height, width, channels). They are not in the catalogue.

Each has a kernel over fresh memory, and a template that takes memory, and the views of it, from the plan of the graph.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from autohybrid.graph.call_site import CallSite
from autohybrid.graph.channels_last.memory import WorkingMemory
from autohybrid.graph.node import Node
from autohybrid.tensor.attrs import Attrs
from autohybrid.tensor.channels_last.layer import Border, Layer, Strategy
from autohybrid.tensor.channels_last.pool import SlidingPool
from autohybrid.tensor.channels_last.shared import Shared
from autohybrid.tensor.opdef import OpDef


def make_attrs(**values: Any) -> Attrs:
    """Attributes of an operator of this file: hashable objects that passes made."""
    return Attrs(values, {})


def _convolution_inputs(attrs: Attrs) -> tuple[str, ...]:
    finish = attrs.strategy.finish
    optional = (("bias", finish.has_bias), ("residual", finish.has_residual))
    return ("data", "weight", *[name for name, is_there in optional if is_there])


def _convolution_kernel(xp: Any, attrs: Attrs, data: Any, weight: Any, *rest: Any) -> Any:
    strategy = attrs.strategy
    names = _convolution_inputs(attrs)[2:]
    given = dict(zip(names, rest))
    whole = xp.zeros(strategy.border.shape(data.shape), data.dtype)
    strategy.border.inner(whole)[...] = data
    output = xp.empty(strategy.layer.output, data.dtype)
    residual = given.get("residual")
    scratch = [xp.empty(shape, data.dtype) for shape in strategy.scratch()]
    bound = strategy.bind(whole, output, None if residual is None else xp.ascontiguousarray(residual), scratch)
    strategy.run(bound, weight, given.get("bias"))
    return output


def _bind_convolution(strategy: Strategy, data: Any, output: Any, residual: Any, *scratch: Any) -> Any:
    return strategy.bind(data, output, residual, scratch)


def _convolution_lines(call: CallSite) -> list[str] | None:
    strategy, memory = call.attrs.strategy, WorkingMemory(call)
    if call.scope.arena.is_shared:
        return None
    names = dict(zip(_convolution_inputs(call.attrs), call.inputs))
    residual = memory.input(len(call.inputs) - 1) if "residual" in names else (None, Border())
    sources = [memory.input(0, strategy.border), memory.output(), residual, *memory.scratch(strategy.scratch())]
    views = memory.bind(f"{call.out}_views", partial(_bind_convolution, strategy), sources)
    run = call.constant(type(strategy).__name__.lower(), strategy.run)
    return [*memory.lines, f"{run}({views}, {names['weight']}, {names.get('bias')})"]


def _convolution_flops(attrs: Attrs, inputs: Sequence[Any], output: Sequence[int]) -> int:
    """As many as the convolution has by its definition, whatever the strategy takes."""
    layer: Layer = attrs.strategy.layer
    return 2 * math.prod(output) * math.prod(layer.window.kernel) * layer.data[3] // layer.groups


CONVOLUTION = OpDef(
    "_channels_last_convolution",
    _convolution_kernel,
    inputs=("data", "weight", "bias", "residual"),
    active_inputs=_convolution_inputs,
    wants_border=lambda attrs: attrs.strategy.border,
    fast=_convolution_lines,
    flops=_convolution_flops,
    doc="A convolution by `strategy`, with a packed weight, and how its results are finished.",
)


def is_shared(node: Node) -> bool:
    """Whether several threads compute a call together."""
    return node.op is CONVOLUTION and node.attrs is not None and isinstance(node.attrs.strategy, Shared)


def _pool_inputs(attrs: Attrs) -> tuple[str, ...]:
    return ("data", "bias") if attrs.pool.finish.has_bias else ("data",)


def _pool_kernel(xp: Any, attrs: Attrs, data: Any, bias: Any = None) -> Any:
    pool = attrs.pool
    output = xp.empty(pool.output, data.dtype)
    scratch = [xp.empty(shape, data.dtype) for shape in pool.scratch()]
    pool.run(pool.bind(data, output, scratch), output, bias)
    return output


def _bind_pool(pool: SlidingPool, data: Any, output: Any, *scratch: Any) -> Any:
    return pool.bind(data, output, scratch)


def _pool_lines(call: CallSite) -> list[str] | None:
    pool, memory = call.attrs.pool, WorkingMemory(call)
    if call.scope.arena.is_shared:
        return None
    sources = [memory.input(0), memory.output(), *memory.scratch(pool.scratch())]
    views = memory.bind(f"{call.out}_views", partial(_bind_pool, pool), sources)
    arguments = ", ".join([views, call.out, *call.inputs[1:]])
    return [*memory.lines, f"{call.constant('pool', pool.run)}({arguments})"]


POOLING = OpDef(
    "_channels_last_pooling",
    _pool_kernel,
    inputs=("data", "bias"),
    active_inputs=_pool_inputs,
    fast=_pool_lines,
    doc="Maxima, sums or means over windows: `pool`.",
)


def _fill(output: Any, data: Any) -> None:
    """Data (n, channels, height, width) into an output (n, height, width, channels)."""
    if data.shape[1] > _FEW_CHANNELS:
        np.copyto(output, data.transpose(0, 2, 3, 1))
        return
    for channel in range(data.shape[1]):
        np.copyto(output[..., channel], data[:, channel])


#: Up to this many channels, one channel after the other is copied.
_FEW_CHANNELS = 4


def _enter_kernel(xp: Any, attrs: Attrs, data: Any) -> Any:
    return xp.ascontiguousarray(data.transpose(0, 2, 3, 1))


def _enter_lines(call: CallSite) -> list[str] | None:
    if call.scope.arena.is_shared:
        return None
    name, _ = WorkingMemory(call).output()
    return [f"{call.constant('channels_last', _fill)}({name}, {call.inputs[0]})"]


TO_CHANNELS_LAST = OpDef(
    "_to_channels_last",
    _enter_kernel,
    fast=_enter_lines,
    doc="A copy of data (n, channels, height, width) with the channels last.",
)


def _concat_kernel(xp: Any, attrs: Attrs, *parts: Any) -> Any:
    return xp.concatenate(parts, axis=3)


def _concat_lines(call: CallSite) -> list[str] | None:
    if call.scope.arena.is_shared:
        return None
    name, _ = WorkingMemory(call).output()
    lines, start = [], 0
    for part, shape in zip(call.inputs, call.shapes):
        lines.append(f"{name}[..., {start}:{start + shape[3]}] = {part}")
        start += shape[3]
    return lines


def _concat_inputs(attrs: Attrs) -> tuple[str, ...]:
    return tuple(f"arg{i}" for i in range(attrs.count))


CONCAT = OpDef(
    "_channels_last_concat",
    _concat_kernel,
    active_inputs=_concat_inputs,
    fast=_concat_lines,
    doc="The channels of `count` inputs behind each other.",
)
