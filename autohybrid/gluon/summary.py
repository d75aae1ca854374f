"""The table that `Block.summary` prints: layers, output shapes, numbers of parameters."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from autohybrid.tensor.array import NDArray

if TYPE_CHECKING:
    from autohybrid.gluon.block import Block

_WIDTH = 80


@dataclass(frozen=True, slots=True)
class _Row:
    """One layer: its name in the table, shapes of its outputs, and counts of its own parameters' elements."""

    layer: str
    shapes: str
    parameters: int = 0
    trainable: int = 0
    shared: int = 0


def print_summary(block: Block, inputs: tuple[Any, ...]) -> None:
    """Run `block` on `inputs` once and print what passed through each layer."""
    rows = [_Row("Input", _shapes(inputs))]
    handles: list[Any] = []
    seen: set[int] = set()

    def watch(layer: Block) -> None:
        from autohybrid.gluon.nn.containers import HybridSequential, Sequential

        if getattr(layer, "_active", False):
            raise AssertionError(
                f"summary() needs imperative calls: `{layer.name}` is hybridized; hybridize(False) first"
            )
        if not isinstance(layer, (Sequential, HybridSequential)):
            handles.append(layer.register_forward_hook(record))

    def record(layer: Block, _: Any, outputs: Any) -> None:
        sizes = [(id(p), p.data().size, p.grad_req != "null") for p in layer.params.values()]
        rows.append(
            _Row(
                f"{type(layer).__name__}-{len(rows)}",
                _shapes(outputs),
                sum(size for _, size, _ in sizes),
                sum(size for _, size, trains in sizes if trains),
                sum(size for key, size, _ in sizes if key in seen),
            )
        )
        seen.update(key for key, _, _ in sizes)

    try:
        block.apply(watch)
        block(*inputs)
    finally:
        for handle in handles:
            handle.detach()
    if sys.stdout.isatty():
        _print_table(rows)
    else:
        sys.stdout.write("\n".join(_lines(rows)) + "\n")


def _print_table(rows: list[_Row]) -> None:
    """The same facts as a rich table; rich is loaded here, for a terminal only."""
    from rich.console import Console
    from rich.table import Table

    total, shared = sum(row.parameters for row in rows), sum(row.shared for row in rows)
    trainable = sum(row.trainable for row in rows)
    caption = (
        f"{total - shared:,} unique parameters: {trainable:,} trainable, {total - trainable:,} not, {shared:,} shared"
    )
    table = Table("Layer (type)", "Output shape", caption=caption, caption_justify="left")
    table.add_column("Parameters", justify="right")
    for row in rows:
        table.add_row(row.layer, row.shapes, f"{row.parameters:,}")
    Console().print(table)


def _lines(rows: list[_Row]) -> list[str]:
    total = sum(row.parameters for row in rows)
    trainable = sum(row.trainable for row in rows)
    shared = sum(row.shared for row in rows)
    return [
        "-" * _WIDTH,
        _line("Layer (type)", "Output Shape", "Param #"),
        "=" * _WIDTH,
        *(_line(row.layer, row.shapes, row.parameters) for row in rows),
        "=" * _WIDTH,
        "Parameters in forward computation graph, duplicate included",
        f"   Total params: {total}",
        f"   Trainable params: {trainable}",
        f"   Non-trainable params: {total - trainable}",
        f"Shared params in forward computation graph: {shared}",
        f"Unique parameters in model: {total - shared}",
        "-" * _WIDTH,
    ]


def _line(layer: str, shapes: str, parameters: object) -> str:
    return f"{layer:>20}  {shapes:>42} {parameters:>15}"


def _shapes(value: Any) -> str:
    """The shapes of nested tensors; one tensor's alone as a tuple."""
    text = str(_shape_tree(list(value) if isinstance(value, tuple) else value))
    return text[1:-1] if isinstance(value, (list, tuple)) else text


def _shape_tree(value: Any) -> Any:
    if isinstance(value, NDArray):
        return value.shape
    return [_shape_tree(item) for item in value] if isinstance(value, (list, tuple)) else value
