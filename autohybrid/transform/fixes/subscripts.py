"""Fixes of subscripts: NDArray's meaning of an index, written with operators that a graph has."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from autohybrid.analysis.values import Seq, Tensor
from autohybrid.diagnostics.model import Fix
from autohybrid.transform.fixes.site import SAFE, UNSAFE, Site, make_fix


@dataclass(frozen=True, slots=True)
class Bounds:
    """One axis of an index: texts of begin, end and step; `drops` where a number takes the axis away; `clips` where
    the end may lie beyond the tensor."""

    begin: str
    end: str
    step: str = "None"
    drops: bool = False
    clips: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether the axis stays as it is."""
        return self.begin in ("None", "0") and self.end == "None" and self.step in ("None", "1") and not self.drops


def fix_subscript(site: Site) -> Fix | None:
    """`x[index]` on a tensor."""
    node = site.find(ast.Subscript)
    space = "" if node is None else site.space(node)
    if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load) or not space:
        return None
    text = rewrite_subscript(site, node, space)
    if text is None:
        return None
    name = text.partition("(")[0]
    bounds = bounds_of(site, node.slice)
    keeps = bounds is not None and not any(item.drops or item.clips for item in bounds)
    if isinstance(node.slice, ast.Constant) and node.slice.value is None:
        keeps = True
    return make_fix(f"use `{name}`", [site.edit(node, text)], SAFE if keeps else UNSAFE)


def rewrite_subscript(site: Site, node: ast.Subscript, space: str) -> str | None:
    """The text that takes the place of a subscript, or None where no operator gives just that."""
    tensor, index = site.text(node.value), node.slice
    if isinstance(index, ast.List):
        return _take_list(site, tensor, index, space)
    if not isinstance(index, ast.Tuple | ast.Slice) and site.is_tensor(index):
        return f"{space}.take({tensor}, {site.text(index)})"
    if isinstance(site.value(index), Tensor | Seq) and not isinstance(index, ast.Tuple):
        return None
    elements = list(index.elts) if isinstance(index, ast.Tuple) else [index]
    if sum(_is_ellipsis(item) for item in elements) > 1:
        return None
    return _slice_text(site, tensor, elements, space)


def bounds_of(site: Site, index: ast.expr) -> list[Bounds] | None:
    """What an index of numbers and slices takes of each axis; None for any other index."""
    elements = list(index.elts) if isinstance(index, ast.Tuple) else [index]
    found: list[Bounds] = []
    for item in elements:
        bounds = _bounds(site, item)
        if bounds is None:
            return None
        found.append(bounds)
    return found


def _bounds(site: Site, item: ast.expr) -> Bounds | None:
    if isinstance(item, ast.Slice):
        lower, upper, step = (None if part is None else site.text(part) for part in (item.lower, item.upper, item.step))
        return Bounds(lower or "None", upper or "None", step or "None", clips=item.upper is not None)
    number = _int(item)
    if number is not None:
        return Bounds(str(number), "None" if number == -1 else str(number + 1), drops=True)
    if isinstance(item, ast.Constant | ast.Tuple | ast.List | ast.Starred) or site.is_tensor(item):
        return None
    text = site.text(item)
    simple = isinstance(item, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
    return Bounds(text, f"({text if simple else f'({text})'} + 1) or None", drops=True)


def _slice_text(site: Site, tensor: str, elements: list[ast.expr], space: str) -> str | None:
    """`slice`, then the axes that numbers drop, then the axes that `None` adds."""
    place = next((number for number, item in enumerate(elements) if _is_ellipsis(item)), len(elements))
    bounds: list[tuple[int, Bounds]] = []
    dropped: list[int] = []
    added: list[int] = []
    for group, negative in ((elements[:place], False), (list(reversed(elements[place + 1 :])), True)):
        axis = result = 0
        for item in group:
            if isinstance(item, ast.Constant) and item.value is None:
                added.append(-1 - result if negative else result)
                result += 1
                continue
            found = _bounds(site, item)
            if found is None:
                return None
            at = -1 - axis if negative else axis
            if not found.is_whole:
                bounds.append((at, found))
            if found.drops:
                dropped.append(at)
            else:
                result += 1
            axis += 1
    text = _sliced(tensor, bounds, space)
    if text is None:
        return None
    if dropped:
        axes = str(dropped[0]) if len(dropped) == 1 else f"({', '.join(map(str, dropped))})"
        text = f"{space}.squeeze({text}, axis={axes})"
    for at in sorted(item for item in added if item >= 0):
        text = f"{space}.expand_dims({text}, axis={at})"
    for at in sorted((item for item in added if item < 0), reverse=True):
        text = f"{space}.expand_dims({text}, axis={at})"
    return text if text != tensor else f"{space}.identity({tensor})"


def _sliced(tensor: str, bounds: list[tuple[int, Bounds]], space: str) -> str | None:
    plain = all(item.step in ("None", "1") for _, item in bounds)
    if len(bounds) == 1 and plain and (not bounds[0][1].clips or bounds[0][0] < 0):
        axis, item = bounds[0]
        begin = "0" if item.begin == "None" else item.begin
        return f"{space}.slice_axis({tensor}, axis={axis}, begin={begin}, end={item.end})"
    if any(axis < 0 for axis, _ in bounds):
        if not plain:
            return None
        for axis, item in bounds:
            begin = "0" if item.begin == "None" else item.begin
            tensor = f"{space}.slice_axis({tensor}, axis={axis}, begin={begin}, end={item.end})"
        return tensor
    if not bounds:
        return tensor
    by_axis = dict(bounds)
    rows = [by_axis.get(axis, Bounds("None", "None")) for axis in range(max(by_axis) + 1)]
    begin, end, step = (_tuple(getattr(row, name) for row in rows) for name in ("begin", "end", "step"))
    steps = "" if plain else f", step={step}"
    return f"{space}.slice({tensor}, begin={begin}, end={end}{steps})"


def _tuple(texts: object) -> str:
    items = list(texts)  # type: ignore[call-overload]
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"


def _take_list(site: Site, tensor: str, index: ast.List, space: str) -> str | None:
    numbers = [_int(item) for item in index.elts]
    if not numbers or any(number is None for number in numbers):
        return None
    parts = [
        f"{space}.slice_axis({tensor}, axis=0, begin={number}, end={None if number == -1 else number + 1})"
        for number in numbers
        if number is not None
    ]
    return parts[0] if len(parts) == 1 else f"{space}.concat({', '.join(parts)}, dim=0)"


def _is_ellipsis(item: ast.expr) -> bool:
    return isinstance(item, ast.Constant) and item.value is Ellipsis


def _int(item: ast.expr) -> int | None:
    if isinstance(item, ast.UnaryOp) and isinstance(item.op, ast.USub):
        inner = _int(item.operand)
        return None if inner is None else -inner
    return item.value if isinstance(item, ast.Constant) and type(item.value) is int else None
