"""Targets of `reshape` written with sizes of a tensor, as the codes 0, -1, -2, -3 and -4 of MXNet's reshape."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autohybrid.transform.fixes.site import Site


@dataclass(frozen=True, slots=True)
class Target:
    """A call of reshape: its receiver and the elements of its target. `shape` is the tuple, None where the sizes stand
    in the call one by one."""

    call: ast.Call
    receiver: ast.expr
    elements: tuple[ast.expr, ...]
    shape: ast.expr | None

    def text(self, site: Site, codes: Sequence[str], *, reverse: bool = False) -> str:
        """The call with another target; `reverse` counts its codes from the last axis."""
        if reverse:
            text = self.text(site, codes)
            return f"{text[:-1]}, reverse=True)"
        target = f"({codes[0]},)" if len(codes) == 1 else f"({', '.join(codes)})"
        if self.shape is not None:
            return site.spliced(self.call, {self.shape: target})
        return f"{site.text(self.call.func)}({target})"


@dataclass(frozen=True, slots=True)
class Dims:
    """The expressions that are sizes of a tensor, by axis, and its rank if known; `same`: the tensor that is
    reshaped is the one that was measured."""

    axes: Mapping[ast.expr, int]
    rank: int | None
    same: bool

    def is_whole(self, elements: Sequence[ast.expr]) -> bool:
        """Whether a target is the measured shape, size by size."""
        return self.rank in (len(elements), None) and [self.axes.get(item) for item in elements] == list(
            range(len(elements))
        )


def find_target(site: Site, use: ast.expr) -> Target | None:
    """The reshape whose target a size goes into."""
    for node in site.above(use):
        if isinstance(node, ast.stmt):
            return None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            target = _target(site, node)
            if target is not None:
                inside = {item for element in target.elements for item in ast.walk(element)}
                return target if use in inside else None
    return None


def _target(site: Site, call: ast.Call) -> Target | None:
    function = call.func
    assert isinstance(function, ast.Attribute)
    if function.attr not in ("reshape", "Reshape"):
        return None
    arguments = list(call.args)
    receiver = function.value
    if site.is_namespace(receiver):
        if not arguments:
            return None
        receiver, arguments = arguments[0], arguments[1:]
    word = next((item.value for item in call.keywords if item.arg == "shape"), None)
    if word is not None and not arguments and len(call.keywords) == 1:
        arguments = [word]
    elif call.keywords:
        return None
    if len(arguments) == 1 and isinstance(arguments[0], ast.Tuple | ast.List):
        return Target(call, receiver, tuple(arguments[0].elts), arguments[0])
    return Target(call, receiver, tuple(arguments), arguments[0] if len(arguments) == 1 else None)


def codes_of(site: Site, elements: Sequence[ast.expr], dims: Dims) -> list[str] | None:
    """The target as codes, or None where the sizes do not fall on axes that codes reach."""
    codes: list[str] = []
    source = position = inferred = 0
    while position < len(elements):
        item = elements[position]
        split = _split(site, elements[position : position + 2], dims, source)
        if split is not None:
            codes += split
            position += 1
        elif dims.axes.get(item) == source and (dims.same or source == 0):
            codes.append("0")
        elif dims.same and _is_product(item, dims, source):
            codes.append("-3")
            source += 1
        elif not _holds_size(item, dims):
            text = site.text(item)
            inferred += text == "-1"
            codes.append(text)
        else:
            inferred += 1
            codes.append("-1")
        source += 1
        position += 1
    return codes if inferred <= 1 else _with_rest(codes, elements, dims)


def codes_from_the_end(site: Site, elements: Sequence[ast.expr], dims: Dims) -> list[str] | None:
    """The target as codes that count from the last axis, for sizes given by negative axes."""
    codes: list[str] = []
    for position, item in enumerate(elements):
        axis = dims.axes.get(item)
        if axis is None and _holds_size(item, dims):
            return None
        if axis is not None and (not dims.same or axis != position - len(elements)):
            return None
        codes.append(site.text(item) if axis is None else "0")
    return codes if codes.count("-1") <= 1 else None


def _with_rest(codes: list[str], elements: Sequence[ast.expr], dims: Dims) -> list[str] | None:
    """`-2` for the axes at the end that stay, when the rest has one size to infer."""
    kept = 0
    while kept < len(elements) and dims.rank is not None:
        if dims.axes.get(elements[-1 - kept]) != dims.rank - 1 - kept:
            break
        kept += 1
    if not kept or not dims.same:
        return None
    head = codes[: len(codes) - kept]
    return [*head, "-2"] if head.count("-1") <= 1 else None


def _split(site: Site, pair: Sequence[ast.expr], dims: Dims, source: int) -> list[str] | None:
    """`groups, c // groups`: one axis becomes two."""
    if len(pair) != 2 or not dims.same:
        return None
    for first, second, order in ((pair[0], pair[1], False), (pair[1], pair[0], True)):
        if (
            isinstance(second, ast.BinOp)
            and isinstance(second.op, ast.FloorDiv)
            and dims.axes.get(second.left) == source
            and ast.dump(second.right) == ast.dump(first)
        ):
            return ["-4", "-1", site.text(first)] if order else ["-4", site.text(first), "-1"]
    return None


def _is_product(item: ast.expr, dims: Dims, source: int) -> bool:
    return (
        isinstance(item, ast.BinOp)
        and isinstance(item.op, ast.Mult)
        and dims.axes.get(item.left) == source
        and dims.axes.get(item.right) == source + 1
    )


def _holds_size(item: ast.expr, dims: Dims) -> bool:
    return any(node in dims.axes for node in ast.walk(item) if isinstance(node, ast.expr))


def find_permutation(site: Site, value: ast.expr, tensor: str, rank: int | None) -> tuple[int, ...] | None:
    """The axes of a tensor by those of its transpose: `F.transpose(x, axes=(0, 2, 1))`, `x.swapaxes(1, 2)`; None where
    `value` is neither of `tensor`."""
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
        return None
    arguments, receiver = list(value.args), value.func.value
    if site.is_namespace(receiver):
        if not arguments:
            return None
        receiver, arguments = arguments[0], arguments[1:]
    words = [word.value for word in value.keywords if word.arg in ("axes", "dim1", "dim2")]
    if site.text(receiver) != tensor or len(words) != len(value.keywords):
        return None
    try:
        numbers = [ast.literal_eval(item) for item in (*arguments, *words)]
    except (ValueError, TypeError):
        return None
    if value.func.attr == "transpose":
        axes = tuple(numbers[0]) if len(numbers) == 1 and isinstance(numbers[0], list | tuple) else tuple(numbers)
        return axes if sorted(axes) == list(range(len(axes))) and rank in (None, len(axes)) and axes else None
    if value.func.attr not in ("swapaxes", "SwapAxis") or len(numbers) != 2 or rank is None:
        return None
    first, second = (number % rank for number in numbers)
    return tuple({first: second, second: first}.get(axis, axis) for axis in range(rank))
