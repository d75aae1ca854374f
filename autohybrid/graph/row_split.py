"""Calls of large batches in several threads: each runs the whole executor on a part of the rows.

Requires that row i of every result depends on rows i of the inputs alone (`OpDef.by_rows`, element-wise and view
templates), and that nothing is written or drawn. No barrier between layers is needed then, and each part's
intermediates are smaller. Products of matrices may round otherwise for fewer rows, so exact graphs are not split.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from autohybrid.errors import MXNetError
from autohybrid.graph.inference import infer_shapes
from autohybrid.graph.node import Head, Node
from autohybrid.tensor.opdef import Shape
from autohybrid.tensor.quiet import hush, unhush
from autohybrid.tensor.templates import Elementwise, View, reshaped
from autohybrid.threads import blas_threads, pool, thread_count

if TYPE_CHECKING:
    from autohybrid.graph.function import GraphFunction, Signature

#: A call that takes less than about this many seconds is not worth waking another thread for.
_LEAST_SECONDS = 1e-3
#: Rough speed of one thread, for that decision only.
_FLOPS_PER_SECOND, _ELEMENTS_PER_SECOND = 1e11, 2e9

Code = Callable[..., Any]


class SplitCall:
    """An executor for each part of the rows; called as one executor is. `source` and `plan` are the first part's."""

    def __init__(self, parts: Sequence[tuple[int, int, Code]]) -> None:
        (_, _, code), *_ = parts
        self._parts = tuple(parts)
        self.source: str = code.source  # type: ignore[attr-defined]
        self.plan: Any = code.plan  # type: ignore[attr-defined]

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        """Run all parts, the first one in this thread, and join their results."""
        first, *others = self._parts
        with blas_threads.alone():
            waiting = [pool(len(others)).submit(_run, part, arrays) for part in others]
            try:
                results = [_run(first, arrays)]
            finally:  # the others read `arrays`, so they end before an error is passed on
                settled = [future.exception() for future in waiting]
        for error in settled:
            if error is not None:
                raise error
        results += [future.result() for future in waiting]
        return tuple([np.concatenate(pieces) for pieces in zip(*results)])


def _run(part: tuple[int, int, Code], arrays: Sequence[Any]) -> Any:
    begin, end, code = part
    token = hush()
    try:
        return code(*[array[begin:end] for array in arrays])
    finally:
        unhush(token)


def split_call(
    function: GraphFunction, signature: Signature, train: bool, generate: Callable[..., Code]
) -> SplitCall | None:
    """An executor in several threads; None where one thread does as well or rows depend on each other."""
    rows = _row_count(function, signature)
    threads = min(thread_count(), rows)
    if threads < 2 or function.exact or function.reads or not blas_threads.can_be_limited:
        return None
    shapes = _shapes(function, signature)
    if shapes is None or _seconds(function, shapes) < _LEAST_SECONDS:
        return None
    carried = _heads_with_rows(function, shapes, rows, train)
    if carried is None:
        return None
    used = {head for node in function.order for head in node.inputs}.union(function.all_heads)
    wanted = {head: head in carried for head in used}
    bounds = [rows * i // threads for i in range(threads + 1)]
    codes: dict[int, Code] = {}
    parts = []
    for begin, end in itertools.pairwise(bounds):
        if end - begin not in codes:
            part = tuple([((end - begin, *shape[1:]), dtype) for shape, dtype in signature])
            if not _is_part_of(_shapes(function, part), shapes, wanted, end - begin):
                return None
            codes[end - begin] = generate(function, part, train)
        parts.append((begin, end, codes[end - begin]))
    return SplitCall(parts)


def _row_count(function: GraphFunction, signature: Signature) -> int:
    """The extent of the first axis, which all inputs share; 0 where there is none."""
    outputs = function.outputs
    if outputs.written or outputs.attributes or outputs.effects or not signature:
        return 0
    counts = {shape[0] if shape else 0 for shape, _ in signature}
    return counts.pop() if len(counts) == 1 else 0


def _shapes(function: GraphFunction, signature: Signature) -> Mapping[Head, Shape] | None:
    """Every shape of the graph; None where they contradict each other or one is unknown."""
    known: dict[str, Shape] = {name: tuple(shape) for name, (shape, _) in zip(function.inputs, signature)}
    known |= {name: a.shape for name, a in zip(function.captured, function.captured_arrays())}
    try:
        shapes = infer_shapes(function.all_heads, known)
    except MXNetError:
        return None
    return None if any(s is None or -1 in s for s in shapes.values()) else shapes


def _seconds(function: GraphFunction, shapes: Mapping[Head, Shape]) -> float:
    """About how long one thread takes."""
    total = 0.0
    for node in function.order:
        if node.op is None:
            continue
        out = shapes[node, 0]
        assert out is not None and node.attrs is not None
        if node.op.flops is not None:
            total += node.op.flops(node.attrs, [shapes[h] for h in node.inputs], out) / _FLOPS_PER_SECOND
        elif not node.op.view:
            total += math.prod(out) / _ELEMENTS_PER_SECOND
    return total


def _heads_with_rows(function: GraphFunction, shapes: Mapping[Head, Shape], rows: int, train: bool) -> set[Head] | None:
    """The values of which row i needs rows i of the inputs only; all others are the same for every part. None where
    there is no such division, or a result is the same for every part.

    The outputs behind an operator's first one may have no rows (statistics); `_is_part_of` finds those by their shapes.
    """
    carried = {(node, 0) for node in function.order if node.op is None and node.name in function.inputs}
    for node in function.order:
        if node.op is None or node.attrs is None:
            continue
        op = node.op
        cut = [i for i, head in enumerate(node.inputs) if head in carried]
        if _has_effects(node, train):
            return None
        if not cut:
            continue  # computed from captured arrays alone, in every part
        is_identity = op.is_identity is not None and op.is_identity(node.attrs, train) and cut == [0]
        if not is_identity and not _cuts(node, cut, shapes, rows):
            return None
        carried.update((node, i) for i in range(node.output_count))
    return carried if carried.issuperset(function.all_heads) else None


def _has_effects(node: Node, train: bool) -> bool:
    """Whether a call draws, writes, or looks at the whole batch, as operators that know the train mode do in it."""
    op = node.op
    assert op is not None and node.attrs is not None
    if node.extra is not None or op.session is not None:
        return True
    if op.train_dependent:
        return train and not (op.is_identity is not None and op.is_identity(node.attrs, train))
    return op.random or bool(op.mutates)


def _cuts(node: Node, cut: Sequence[int], shapes: Mapping[Head, Shape], rows: int) -> bool:
    """Whether a call on rows of the inputs at `cut` gives the same rows of its output."""
    op = node.op
    assert op is not None and node.attrs is not None
    ins, out = [shapes[h] for h in node.inputs], shapes[node, 0]
    if out is None or not out or out[0] != rows:
        return False
    if op.by_rows is not None:
        return set(cut) <= set(op.by_rows(node.attrs, ins))
    if isinstance(op.fast, View):
        return op.fast is reshaped and cut == [0]
    if not isinstance(op.fast, Elementwise) or (op.fast.rows and len(out) < 2):
        return False
    return all(_is_aligned(shape, i in cut, out) for i, shape in enumerate(ins[: op.fast.pieces])) and all(
        i < (op.fast.pieces or len(ins)) for i in cut
    )


def _is_aligned(shape: Shape, is_cut: bool, out: tuple[int, ...]) -> bool:
    """Whether an operand's rows are the output's, or it is the same for all rows."""
    if shape is None:
        return False
    if is_cut:
        return len(shape) == len(out) and shape[0] == out[0]
    return len(shape) < len(out) or shape[0] == 1


def _is_part_of(
    part: Mapping[Head, Shape] | None, whole: Mapping[Head, Shape], has_rows: Mapping[Head, bool], part_rows: int
) -> bool:
    """Whether the shapes of a part are those of the whole, but for the rows of those values that have rows."""
    if part is None:
        return False
    return all(part[head] == _resized(whole[head], part_rows if cut else None) for head, cut in has_rows.items())


def _resized(shape: Shape, rows: int | None) -> Shape:
    return shape if shape is None or rows is None else (rows, *shape[1:])
