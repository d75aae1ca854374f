"""Fixes of `x.shape` and of sizes unpacked from it: reshape codes and the operators that follow a shape by themselves.

Where sizes are also used in arithmetic, they become tensors (see `lift`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from autohybrid.diagnostics.model import Edit, Fix
from autohybrid.transform.fixes.lift import Lift, NotLiftableError
from autohybrid.transform.fixes.numbers import size_text
from autohybrid.transform.fixes.reshapes import (
    Dims,
    Target,
    codes_from_the_end,
    codes_of,
    find_permutation,
    find_target,
)
from autohybrid.transform.fixes.site import FunctionNode, Site, make_fix, needs_brackets

_FILLED = {"zeros": "zeros_like", "ones": "ones_like"}
_DRAWN = frozenset({"normal", "uniform", "exponential", "poisson", "gamma"})


@dataclass(frozen=True, slots=True)
class Reading:
    """Where sizes of one tensor were read: the tensor, the statement that names them, and each use with its axis."""

    tensor: ast.expr
    named: ast.Assign | None
    uses: tuple[tuple[ast.expr, int], ...]
    rank: int | None = None


def fix_whole_shape(site: Site) -> Fix | None:
    """`x.shape` handed to an operator as a whole: the operator that takes the shape from a tensor."""
    node = site.find(ast.Attribute)
    if not isinstance(node, ast.Attribute) or node.attr != "shape":
        return None
    holder: ast.AST | None = site.parent(node)
    if isinstance(holder, ast.keyword):
        holder = site.parent(holder)
    space = site.space(node)
    if not isinstance(holder, ast.Call) or not isinstance(holder.func, ast.Attribute) or not space:
        return None
    text = _like(site, holder, node, space)
    if text is None:
        return None
    return make_fix(f"use `{text.partition('(')[0]}`", [site.edit(holder, text)])


def _like(site: Site, call: ast.Call, shape: ast.Attribute, space: str) -> str | None:
    function, tensor = call.func, site.text(shape.value)
    assert isinstance(function, ast.Attribute)
    name, receiver = function.attr, function.value
    words = [word.value for word in call.keywords if not (word.arg == "dtype" and _is_usual(site, word.value, tensor))]
    others = [item for item in (*call.args, *words) if item is not shape]
    on_space = site.is_namespace(receiver)
    if name == "full" and on_space and len(others) == 1 and len(call.args) == 2:
        value = f"({site.text(others[0])})" if needs_brackets(others[0]) else site.text(others[0])
        text = f"{space}.ones_like({tensor}) * {value}"
        return text if isinstance(site.parent(call), ast.stmt | ast.Call | ast.keyword) else f"({text})"
    if name in _FILLED and on_space and not others:
        return f"{space}.{_FILLED[name]}({tensor})"
    if name in ("reshape", "broadcast_to", "Reshape"):
        subject = others[0] if on_space and len(others) == 1 else receiver if not on_space and not others else None
        if subject is not None:
            like = "broadcast_like" if name == "broadcast_to" else "reshape_like"
            return f"{space}.{like}({site.text(subject)}, {tensor})"
    if name in _DRAWN and on_space and not others and site.text(receiver).endswith("random"):
        return f"{space}.random.{name}_like({tensor})"
    return None


def _is_usual(site: Site, dtype: ast.expr, tensor: str) -> bool:
    """Whether a dtype is float32 or that of the tensor, which its like has anyway."""
    return site.text(dtype) in ("'float32'", '"float32"', f"{tensor}.dtype")


def fix_sizes(site: Site) -> Fix | None:
    """Sizes read one by one or unpacked: reshape codes in targets, tensors in arithmetic."""
    node = site.find((ast.Attribute, ast.Call))
    reading = None if node is None else _reading(site, node)
    function = None if node is None else site.function(node)
    if reading is None or function is None or not reading.uses:
        return None
    statement = site.statement(node) if node is not None else None
    if isinstance(statement, ast.Assert):
        return make_fix("remove the check of the shape", site.removal(statement))
    try:
        return make_fix("follow the shape in the graph", _Rewrite(site, function, reading).edits())
    except NotLiftableError:
        return None


def fix_named_shape(site: Site) -> Fix | None:
    """`s = x.shape` and `b, c = x.shape[0], x.shape[1]`: each size by itself, where it is used."""
    node = site.find(ast.Attribute)
    if not isinstance(node, ast.Attribute) or node.attr != "shape":
        return None
    holder = site.parent(node)
    if isinstance(holder, ast.Subscript) and isinstance(site.parent(holder), ast.Tuple):
        return _split_assignment(site, site.parent(site.parent(holder)))  # type: ignore[arg-type]
    if not isinstance(holder, ast.Assign) or len(holder.targets) != 1 or not isinstance(holder.targets[0], ast.Name):
        return None
    name = holder.targets[0].id
    uses = _uses(site, holder, {name: 0})
    function = site.function(holder)
    if not uses or function is None:
        return None
    tensor = site.names_in(node.value)
    moved = [
        item
        for item in ast.walk(function)
        if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store) and item.id in tensor
    ]
    if any(item.lineno > holder.lineno for item in moved):
        return None
    edits = [site.edit(use, site.text(node)) for use, _ in uses]
    return make_fix("read the shape where it is used", [*edits, *site.removal(holder)])


def _split_assignment(site: Site, statement: ast.AST | None) -> Fix | None:
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target, value = statement.targets[0], statement.value
    if not isinstance(target, ast.Tuple) or not isinstance(value, ast.Tuple) or len(target.elts) != len(value.elts):
        return None
    if not all(isinstance(item, ast.Name) for item in target.elts) or site.names_in(target) & site.names_in(value):
        return None
    pairs = [f"{site.text(name)} = {site.text(item)}" for name, item in zip(target.elts, value.elts)]
    text = f"\n{site.indent(statement)}".join(pairs)
    return make_fix("name each size by itself", [site.restated(statement, statement, text)])


def _reading(site: Site, node: ast.AST) -> Reading | None:
    parent = site.parent(node)
    if isinstance(node, ast.Call):
        if not isinstance(node.func, ast.Name) or node.func.id != "len" or len(node.args) != 1:
            return None
        return _one(site, node.args[0], node, 0)
    if not isinstance(node, ast.Attribute) or node.attr != "shape":
        return None
    if isinstance(parent, ast.Subscript) and parent.value is node:
        axis = _constant(parent.slice)
        return None if axis is None else _one(site, node.value, parent, axis)
    if not isinstance(parent, ast.Assign) or len(parent.targets) != 1:
        return None
    target = parent.targets[0]
    if isinstance(target, ast.Tuple) and all(isinstance(item, ast.Name) for item in target.elts):
        names = {item.id: axis for axis, item in enumerate(target.elts) if isinstance(item, ast.Name)}
        uses = _uses(site, parent, names)
        return None if uses is None else Reading(node.value, parent, uses, len(target.elts))
    return None


def _one(site: Site, tensor: ast.expr, size: ast.expr, axis: int) -> Reading | None:
    parent = site.parent(size)
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
        uses = _uses(site, parent, {parent.targets[0].id: axis})
        return None if uses is None else Reading(tensor, parent, uses)
    return Reading(tensor, None, ((size, axis), *_beside(site, tensor, size)))


def _beside(site: Site, tensor: ast.expr, size: ast.expr) -> list[tuple[ast.expr, int]]:
    """The other sizes of the same tensor in the same target: `(x.shape[0] * x.shape[1], x.shape[2])`."""
    holder = site.parent(size)
    while isinstance(holder, ast.BinOp):
        holder = site.parent(holder)
    target = find_target(site, size)
    within: ast.AST | None = holder if isinstance(holder, ast.Tuple) else None if target is None else target.call
    if isinstance(holder, ast.keyword) and holder.arg in ("height", "width"):
        within = site.parent(holder)
    found: list[tuple[ast.expr, int]] = []
    for item in () if within is None else ast.walk(within):
        if item is not size and isinstance(item, ast.Subscript) and isinstance(item.value, ast.Attribute):
            axis = _constant(item.slice)
            if item.value.attr == "shape" and axis is not None and site.text(item.value.value) == site.text(tensor):
                found.append((item, axis))
    return found


def _uses(site: Site, named: ast.Assign, names: dict[str, int]) -> tuple[tuple[ast.expr, int], ...] | None:
    """Where the names are read; None when one is bound twice."""
    function = site.function(named)
    if function is None:
        return None
    found: list[tuple[ast.expr, int]] = []
    stores: list[str] = []
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and node.id in names:
            if isinstance(node.ctx, ast.Load):
                found.append((node, names[node.id]))
            else:
                stores.append(node.id)
    counts = {name: stores.count(name) for name in names if name != "_"}
    return tuple(found) if all(count == 1 for count in counts.values()) else None


def _constant(node: ast.expr) -> int | None:
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError):
        return None
    return value if type(value) is int else None


class _Rewrite:
    """The edits for one reading."""

    def __init__(self, site: Site, function: FunctionNode, reading: Reading) -> None:
        self._site = site
        self._function = function
        self._reading = reading
        self._space = site.space(reading.tensor)
        self._saved = ""
        self._left = dict(reading.uses)

    def edits(self) -> list[Edit]:
        """Raises NotLiftableError where a number is needed as a number."""
        found: list[Edit] = []
        for target in self._targets():
            found.append(self._reshaped(target))
        for call in list(self._calls()):
            found += self._followed(call)
        return found + self._rest()

    def _targets(self) -> Iterator[Target]:
        seen: set[ast.AST] = set()
        for use, _ in self._reading.uses:
            target = find_target(self._site, use)
            if target is not None and target.call not in seen:
                seen.add(target.call)
                yield target

    def _reshaped(self, target: Target) -> Edit:
        site, reading = self._site, self._reading
        same = site.text(target.receiver) == site.text(reading.tensor) and not self._rebound_before(target.call)
        dims = Dims(dict(reading.uses), reading.rank, same)
        axes = None if same else self._transposed(target.receiver, target.call)
        if axes is not None:
            placed = {use: axes.index(axis) for use, axis in reading.uses if axis in axes}
            dims, same = Dims(placed, reading.rank, True), True
        inside = set(ast.walk(target.call))
        if not same and dims.is_whole(target.elements) and self._space:
            text = f"{self._space}.reshape_like({site.text(target.receiver)}, {self._source(target.call)})"
        else:
            if not same and self._is_another_input(target.receiver):
                raise NotLiftableError
            reverse = any(axis < 0 for axis in dims.axes.values())
            codes = (codes_from_the_end if reverse else codes_of)(site, target.elements, dims)
            if codes is None:
                raise NotLiftableError
            text = target.text(site, codes, reverse=reverse)
        for use in [use for use in self._left if use in inside]:
            del self._left[use]
        return site.edit(target.call, text)

    def _transposed(self, receiver: ast.expr, place: ast.AST) -> tuple[int, ...] | None:
        """The axes of the measured tensor by those of the receiver, where that is its transpose."""
        value: ast.expr = receiver
        if isinstance(receiver, ast.Name):
            stores = [
                node
                for node in ast.walk(self._function)
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id == receiver.id
            ]
            made = self._site.parent(stores[0]) if len(stores) == 1 else None
            if not isinstance(made, ast.Assign) or made.targets != stores:
                return None
            value, place = made.value, made
        if self._rebound_before(place):
            return None
        return find_permutation(self._site, value, self._site.text(self._reading.tensor), self._reading.rank)

    def _is_another_input(self, receiver: ast.expr) -> bool:
        """Whether a tensor is an argument, of whose sizes nothing follows from those of the measured one."""
        names = {argument.arg for argument in self._function.args.args}
        return isinstance(receiver, ast.Name) and receiver.id in names

    def _source(self, place: ast.AST) -> str:
        """A name for the measured tensor at a later place."""
        site, tensor = self._site, self._reading.tensor
        if not self._rebound_before(place):
            return site.text(tensor)
        if not self._saved:
            base = tensor.id if isinstance(tensor, ast.Name) else "tensor"
            self._saved = site.free_name(f"{base}_before", place)
        return self._saved

    def _rebound_before(self, place: ast.AST) -> bool:
        """Whether the measured name is bound anew between the reading and a place."""
        start = self._reading.named or self._site.statement(self._reading.tensor)
        names = self._site.names_in(self._reading.tensor)
        statement = self._site.statement(place)
        end = statement.lineno if statement is not None else 0
        return any(
            isinstance(node, ast.Name)
            and isinstance(node.ctx, ast.Store)
            and node.id in names
            and (start is None or start.lineno < node.lineno)
            and node.lineno < end
            for node in ast.walk(self._function)
        )

    def _calls(self) -> Iterator[ast.Call]:
        """Calls of operators that a size goes into directly, or in a tuple."""
        for use in list(self._left):
            holder = self._site.parent(use)
            while isinstance(holder, ast.BinOp | ast.Tuple):
                holder = self._site.parent(holder)
            if isinstance(holder, ast.keyword):
                holder = self._site.parent(holder)
            on_space = isinstance(holder, ast.Call) and isinstance(holder.func, ast.Attribute)
            if on_space and self._site.is_namespace(holder.func.value):  # type: ignore[union-attr]
                yield holder  # type: ignore[misc]

    def _followed(self, call: ast.Call) -> list[Edit]:
        """`F.zeros((n, k))`, `F.arange(n)`, `F.slice_axis(..., begin=0, end=n)` with `n` a size of the tensor."""
        site, space = self._site, self._space
        inside = [use for use in self._left if use in set(ast.walk(call))]
        if not inside or not space or not isinstance(call.func, ast.Attribute):
            return []
        text = self._filled(call) or self._counted(call, inside) or self._sliced(call, inside) or self._resized(call)
        if text is None:
            return []
        for use in inside:
            del self._left[use]
        return [site.edit(call, text)]

    def _filled(self, call: ast.Call) -> str | None:
        shape = next((item for item in call.args if isinstance(item, ast.Tuple)), None)
        words = [word.value for word in call.keywords if word.arg == "shape" and isinstance(word.value, ast.Tuple)]
        shape = shape or next(iter(words), None)
        assert isinstance(call.func, ast.Attribute)
        if shape is None or call.func.attr not in ("zeros", "ones", "full", "broadcast_to"):
            return None
        places = [(place, self._left[item]) for place, item in enumerate(shape.elts) if item in self._left]
        kept = "0" if call.func.attr == "broadcast_to" else "1"
        ones: dict[ast.AST, str] = {item: kept for item in shape.elts if item in self._left}
        axes = ", ".join(str(place) for place, _ in places), ", ".join(str(axis) for _, axis in places)
        source = self._source(call)
        return (
            f"{self._space}.broadcast_like({self._site.spliced(call, ones)}, {source}, "
            f"lhs_axes=({axes[0]},), rhs_axes=({axes[1]},))"
        )

    def _counted(self, call: ast.Call, inside: list[ast.expr]) -> str | None:
        assert isinstance(call.func, ast.Attribute)
        if call.func.attr != "arange" or call.keywords:
            return None
        if [*call.args] == inside or (len(call.args) == 2 and inside == call.args[1:] and _constant(call.args[0]) == 0):
            return f"{self._space}.contrib.arange_like({self._source(call)}, axis={self._left[inside[0]]})"
        return None

    def _sliced(self, call: ast.Call, inside: list[ast.expr]) -> str | None:
        assert isinstance(call.func, ast.Attribute)
        words = {word.arg: word.value for word in call.keywords}
        axis, begin, end = words.get("axis"), words.get("begin"), words.get("end")
        if call.func.attr == "slice" and isinstance(begin, ast.Tuple) and isinstance(end, ast.Tuple):
            return self._sliced_axes(call, begin, end, inside)
        if call.func.attr != "slice_axis" or axis is None or begin is None or end is None or len(call.args) != 1:
            return None
        size = self._left.get(end)
        if _constant(begin) != 0 or size is None or _constant(axis) != size or inside != [end]:
            return None
        return f"{self._space}.slice_like({self._site.text(call.args[0])}, {self._source(call)}, axes=({size},))"

    def _resized(self, call: ast.Call) -> str | None:
        """`F.contrib.BilinearResize2D(a, height=h * 2, width=w * 2)` by a factor, or to the size of the tensor."""
        words = {word.arg: word.value for word in call.keywords}
        assert isinstance(call.func, ast.Attribute)
        if call.func.attr != "BilinearResize2D" or len(call.args) != 1 or set(words) != {"height", "width"}:
            return None
        sizes = words["height"], words["width"]
        function, resized = self._site.text(call.func), self._site.text(call.args[0])
        if [self._left.get(size) for size in sizes] == [2, 3]:
            return f"{function}({resized}, {self._source(call)}, mode='like')"
        factors = [self._factor(size, axis) for size, axis in zip(sizes, (2, 3))]
        if None in factors or resized != self._source(call):
            return None
        return f"{function}({resized}, scale_height={factors[0]}, scale_width={factors[1]})"

    def _factor(self, size: ast.expr, axis: int) -> str | None:
        """The number that a size of the tensor is multiplied by."""
        if not isinstance(size, ast.BinOp) or not isinstance(size.op, ast.Mult):
            return None
        for one, other in ((size.left, size.right), (size.right, size.left)):
            if self._left.get(one) == axis and _constant(other) is not None:
                return self._site.text(other)
        return None

    def _sliced_axes(self, call: ast.Call, begin: ast.Tuple, end: ast.Tuple, inside: list[ast.expr]) -> str | None:
        """`F.slice(x, begin=(None, None), end=(None, n))` from the start of every axis to the sizes of the tensor."""
        starts = all(isinstance(item, ast.Constant) and item.value in (None, 0) for item in begin.elts)
        taken = [axis for axis, item in enumerate(end.elts) if self._left.get(item) == axis]
        others = [item for item in end.elts if item not in inside]
        whole = all(isinstance(item, ast.Constant) and item.value is None for item in others)
        if not starts or not whole or len(taken) != len(inside) or len(call.args) != 1 or len(call.keywords) != 2:
            return None
        axes = f"({taken[0]},)" if len(taken) == 1 else str(tuple(taken))
        return f"{self._space}.slice_like({self._site.text(call.args[0])}, {self._source(call)}, axes={axes})"

    def _rest(self) -> list[Edit]:
        """What is left is arithmetic; the statement that named the sizes goes, or makes tensors of them."""
        site, reading = self._site, self._reading
        tensor = site.text(reading.tensor)
        lines = [f"{self._saved} = {tensor}"] if self._saved else []
        if not self._left:
            if reading.named is None:
                return []
            if lines:
                return [site.restated(reading.named, reading.named, lines[0])]
            return list(site.removal(reading.named))
        if not self._space:
            raise NotLiftableError
        seeds: dict[ast.AST, str] = {}
        for use, axis in self._left.items():
            text = size_text(self._space, tensor, str(axis))
            seeds[use] = use.id if reading.named is not None and isinstance(use, ast.Name) else text
            if reading.named is not None and isinstance(use, ast.Name) and f"{use.id} = {text}" not in lines:
                lines.append(f"{use.id} = {text}")
        edits = Lift(site, self._function, seeds, self._space).edits()
        if reading.named is not None:
            text = f"\n{site.indent(reading.named)}".join(lines)
            edits.append(site.restated(reading.named, reading.named, text))
        return edits
