"""Convolutional nets whose weights are written before every call do without values that are prepared from them.

A packed weight is made again when its parameter was written. That takes longer than what it saves in a single call on
few or small images. So when some calls in a row each had to make most of the values again, the executor without them
takes over, until some calls in a row find the parameters as they were. Which calls these are depends on the writes
alone. The two executors round differently, as `exact=True` does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from autohybrid.graph.channels_last.operators import CONVOLUTION
from autohybrid.graph.node import Node
from autohybrid.graph.passes.rewriting import PlannedGraph
from autohybrid.graph.prepared import Prepared
from autohybrid.tensor.versions import changes

Code = Callable[..., tuple[Any, ...]]

#: So many calls in a row make values in vain until the other executor takes over, and find nothing written until the
#: first one does again.
_PATIENCE = 4
#: Rough costs in nanoseconds: of making one number, and what is saved by a product of a convolution, also depthwise.
_MADE, _SAVED, _SAVED_DEPTHWISE = 4.5, 0.014, 0.4


class RepackedCall:
    """An executor over `prepared` values, and the one without them; called as an executor is. `source` and `plan` are
    those of the first one."""

    def __init__(self, packed: Code, prepared: Prepared, numbers: int, make_plain: Callable[[], Code]) -> None:
        self._packed = packed
        self._prepared = prepared
        self._most = numbers // 2
        self._make_plain = make_plain
        self._plain: Code | None = None
        self._is_plain = False
        self._count = 0
        self._token = -1
        self.source: str = packed.source  # type: ignore[attr-defined]
        self.plan: Any = packed.plan  # type: ignore[attr-defined]

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        """Run one of the executors."""
        return self._call_plain(arrays) if self._is_plain else self._call_packed(arrays)

    def _call_packed(self, arrays: Sequence[Any]) -> tuple[Any, ...]:
        before = self._prepared.made
        results = self._packed(*arrays)
        self._count = self._count + 1 if self._prepared.made - before > self._most else 0
        if self._count >= _PATIENCE:
            self._is_plain, self._count, self._token = True, 0, changes.token
        return results

    def _call_plain(self, arrays: Sequence[Any]) -> tuple[Any, ...]:
        if self._plain is None:
            self._plain = self._make_plain()
        self._count = self._count + 1 if changes.token == self._token and self._prepared.can_last else 0
        self._token = changes.token
        if self._count >= _PATIENCE:
            self._is_plain, self._count = False, 0
        return self._plain(*arrays)


def numbers_to_repack(graph: PlannedGraph, calls: Sequence[Node]) -> int:
    """How many numbers are prepared for the convolutions among `calls`; 0 where making them costs less than they save
    in one call."""
    made, saved = 0, 0.0
    for node in calls:
        if node.op is not CONVOLUTION or node.attrs is None:
            continue
        layer = node.attrs.strategy.layer
        products = math.prod(layer.output) * math.prod(layer.window.kernel) * layer.data[3] // layer.groups
        saved += products * (_SAVED if layer.groups == 1 else _SAVED_DEPTHWISE)
        made += sum(math.prod(graph.shapes[h]) for h in node.inputs if h[0] in graph.recipes)
    return made if made * _MADE > saved else 0
