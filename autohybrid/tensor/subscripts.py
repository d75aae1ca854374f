"""What a subscript means: `x[key]` as a plan, read and written with operators on any `F`, or as a NumPy key.

Owns the rules (MXNet 1.9.1's NDArray, which are NumPy's with these differences): lists, ranges, tuples inside a key and
arrays are indices, also float and boolean ones, which are truncated to 0, 1...; a result without axes has shape (1,);
an index outside the array raises, also inside an index array. Knows no NDArray: what a tensor used as an index looks
like comes from the caller, so the imperative arrays and the graph builder share every rule.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from autohybrid.errors import MXNetError

Host = np.ndarray[Any, Any]
Constant = Callable[[Host], Any]
#: Shape of a tensor that stands as an index, None for anything else.
TensorShape = Callable[[Any], tuple[int, ...] | None]


@dataclass(frozen=True, slots=True)
class Pick:
    """An integer: one position of the axis, counted from the front; `written` is how the key says it."""

    index: int
    written: int


@dataclass(frozen=True, slots=True)
class Span:
    """A slice of the axis. `begin` and `end` are as written where the slice operator takes them so."""

    begin: int | None
    end: int | None
    step: int | None
    length: int
    full: bool


@dataclass(frozen=True, slots=True)
class NewAxis:
    """None: an axis of extent 1."""


@dataclass(frozen=True, slots=True, eq=False)
class Gather:
    """An index array: host integers counted from the front, or a tensor whose values are only known when it runs."""

    index: Any
    shape: tuple[int, ...]

    @property
    def known(self) -> bool:
        return isinstance(self.index, np.ndarray)


Entry = Pick | Span | NewAxis | Gather


@dataclass(frozen=True, eq=False)  # without slots: what follows from the entries is computed once
class Subscript:
    """A parsed key for an array of shape `shape`. `entries` covers every axis; `identity` is `x[:]` or `x[()]`,
    `backwards` a lone slice that ends before it begins."""

    shape: tuple[int, ...]
    entries: tuple[Entry, ...]
    identity: bool = False
    backwards: bool = False

    @cached_property
    def axes(self) -> tuple[Pick | Span | Gather, ...]:
        """The entries that take an axis of the array."""
        return tuple(e for e in self.entries if not isinstance(e, NewAxis))

    @cached_property
    def advanced(self) -> bool:
        """Whether index arrays take part; integers then broadcast with them."""
        return any(isinstance(e, Gather) for e in self.entries)

    @cached_property
    def known(self) -> bool:
        """Whether all index arrays are host arrays."""
        return all(e.known for e in self.entries if isinstance(e, Gather))

    @cached_property
    def block(self) -> tuple[int, ...]:
        """The broadcast shape of the index arrays. Raises ValueError when they do not broadcast together."""
        shapes = [e.shape for e in self.entries if isinstance(e, Gather)]
        return shapes[0] if len(shapes) == 1 else np.broadcast_shapes(*shapes)

    @cached_property
    def layout(self) -> list[int | None]:
        """The result's axes in order: an extent of a span or the block, None for a new axis."""
        if not self.advanced:
            return [e.length if isinstance(e, Span) else None for e in self.entries if not isinstance(e, Pick)]
        places = [i for i, e in enumerate(self.entries) if isinstance(e, (Pick, Gather))]
        rest = [
            (i, e.length if isinstance(e, Span) else None)
            for i, e in enumerate(self.entries)
            if isinstance(e, (Span, NewAxis))
        ]
        front = places[0] if self.adjacent else 0
        before = [extent for i, extent in rest if i < front]
        return [*before, *self.block, *[extent for i, extent in rest if i >= front]]

    @cached_property
    def adjacent(self) -> bool:
        """Whether integers and index arrays stand side by side: their block then stays in place."""
        places = [i for i, e in enumerate(self.entries) if isinstance(e, (Pick, Gather))]
        return places == list(range(places[0], places[0] + len(places)))

    @cached_property
    def result_shape(self) -> tuple[int, ...]:
        """The shape of `x[key]`."""
        return tuple(1 if extent is None else extent for extent in self.layout) or (1,)

    @cached_property
    def is_empty(self) -> bool:
        """Whether nothing is selected."""
        return 0 in self.result_shape

    @cached_property
    def target_shape(self) -> tuple[int, ...]:
        """What a value assigned to `x[key]` is broadcast to: the result without the new axes."""
        return tuple(extent for extent in self.layout if extent is not None) or (1,)

    @cached_property
    def contiguous(self) -> bool:
        """Whether the selected elements lie side by side in memory: `x[key]` then shares it."""
        if self.advanced:
            return False
        lengths = [e.length if isinstance(e, Span) else 1 for e in self.axes]
        if math.prod(lengths) <= 1:
            return True
        proper = False
        for entry, extent, length in zip(reversed(self.axes), reversed(self.shape), reversed(lengths)):
            if length > 1 and isinstance(entry, Span) and entry.step not in (None, 1):
                return False
            if proper and length > 1:
                return False
            proper = proper or length < extent
        return True

    @cached_property
    def whole(self) -> bool:
        """Whether every element is selected, in order."""
        return all(isinstance(e, Span) and e.full for e in self.axes)

    @cached_property
    def empty_rows(self) -> bool:
        """Whether nothing is selected in the one way that classic arrays allow: an empty slice of the first axis."""
        empty = [isinstance(e, Span) and e.length == 0 for e in self.axes]
        in_front = self.result_shape[0] == 0
        return empty[0] and in_front and not any(empty[1:]) and not self.advanced and not self.backwards

    def refusal(self) -> MXNetError:
        """The error for a key that selects nothing."""
        return MXNetError(
            f"the subscript selects nothing of an array of shape {self.shape}; arrays without elements need numpy "
            "semantics (`mx.npx.set_np()`)"
        )

    def numpy_key(self, constant: Constant = lambda host: host) -> tuple[Any, ...]:
        """The key for a NumPy-like array; `constant` puts index arrays on its device."""
        return tuple(_numpy_entry(e, constant, True) for e in self.entries) if self.advanced else self.basic_key

    @cached_property
    def basic_key(self) -> tuple[Any, ...]:
        """`numpy_key` without index arrays: an integer stands as a slice of length 1, so the result is a view."""
        return tuple(_numpy_entry(e, lambda host: host, False) for e in self.entries)

    @cached_property
    def region_shape(self) -> tuple[int, ...]:
        """The shape of what `numpy_key` selects."""
        if self.advanced:
            return self.result_shape
        return tuple(e.length if isinstance(e, Span) else 1 for e in self.entries)


def _numpy_entry(entry: Entry, constant: Constant, advanced: bool) -> Any:
    match entry:
        case Pick(index):
            return index if advanced else slice(index, index + 1)
        case Span(begin, end, step):
            return slice(begin, end, step)
        case Gather(index):
            return constant(index)
    return None


# -- parsing -----------------------------------------------------------------------------------------------------------
def freeze(key: Any) -> tuple[Any, ...] | None:
    """A hashable form of a key of integers, slices of ints, None and `...`, under which its plan can be remembered;
    None for any other key."""
    listed = type(key) is tuple
    frozen: list[Any] = [listed]
    for part in key if listed else (key,):
        kind = type(part)
        if kind is slice:
            bounds = (part.start, part.stop, part.step)
            for bound in bounds:
                if bound is not None and type(bound) is not int:
                    return None
            frozen.append(bounds)
        elif kind is int or part is None or part is Ellipsis:
            frozen.append(part)
        elif isinstance(part, np.integer):
            frozen.append(int(part))
        else:
            return None
    return tuple(frozen)


def parse(key: Any, shape: tuple[int, ...], tensor_shape: TensorShape, writing: bool = False) -> Subscript:
    """The plan of `x[key]` for an `x` of this shape.

    Raises IndexError (outside the array, too many indices), ValueError (a kind of key that arrays do not take, a step
    of 0, index arrays that do not broadcast together).
    """
    if (isinstance(key, slice) and key == slice(None)) or (isinstance(key, tuple) and not key):
        return Subscript(shape, tuple(_span(slice(None), n) for n in shape), identity=True)
    if not shape:
        raise IndexError("an array without axes takes only `()` and `:` as index")
    parts = key if isinstance(key, tuple) else (key,)
    all_integers = all(isinstance(p, (int, np.integer)) for p in parts) and len(parts) in (1, len(shape))
    if any(isinstance(p, (bool, np.bool_)) for p in parts) and (writing or not all_integers):
        raise IndexError("True and False are no indices; select with `nd.where` or `nd.contrib.boolean_mask`")
    parts = _with_all_axes(parts, len(shape))
    entries: list[Entry] = []
    axis = 0
    for part in parts:
        if part is None:
            entries.append(NewAxis())
            continue
        entries.append(_entry(part, axis, shape[axis], tensor_shape))
        axis += 1
    backwards = False
    if isinstance(key, slice) and key.step in (None, 1):
        start, stop, _ = key.indices(shape[0])
        backwards = start > stop
    result = Subscript(shape, tuple(entries), backwards=backwards)
    if result.advanced:
        _check_block(result)
    return result


def _with_all_axes(parts: tuple[Any, ...], ndim: int) -> tuple[Any, ...]:
    dots = [i for i, part in enumerate(parts) if part is Ellipsis]
    if len(dots) > 1:
        raise IndexError("cannot use more than one ellipsis (`...`) for indexing")
    used = sum(1 for part in parts if part is not None and part is not Ellipsis)
    if used > ndim:
        raise IndexError(f"too many indices ({used}) for array with {ndim} dimensions")
    place = dots[0] if dots else len(parts)
    return parts[:place] + (slice(None),) * (ndim - used) + parts[place + 1 :]


def _entry(part: Any, axis: int, extent: int, tensor_shape: TensorShape) -> Pick | Span | Gather:
    if isinstance(part, slice):
        return _span(part, extent)
    if isinstance(part, (int, np.integer)):
        return Pick(_position(int(part), axis, extent), int(part))
    tensor = tensor_shape(part)
    if tensor is not None:
        return Gather(part, tensor)
    if not isinstance(part, (list, tuple, range, np.ndarray)):
        raise ValueError(f"NDArray does not support slicing with key {part} of type {type(part)}.")
    return _index_array(part, axis, extent)


def _position(index: int, axis: int, extent: int) -> int:
    if not -extent <= index < extent:
        raise IndexError(f"index {index} is out of bounds for axis {axis} with size {extent}")
    return index + extent if index < 0 else index


def _span(part: slice, extent: int) -> Span:
    if part.step == 0:
        raise ValueError("slice step cannot be zero")
    length = len(range(*part.indices(extent)))
    forward = part.step is None or part.step > 0
    begin, end = part.start, part.stop
    # The slice operator takes None for "from the edge" but no position beyond it.
    if begin is not None and (begin < -extent if forward else begin >= extent):
        begin = None
    if end is not None and (end >= extent if forward else end < -extent):
        end = None
    if begin == 0 and forward:
        begin = None
    step = None if part.step == 1 else part.step
    full = length == extent and (step is None or (extent <= 1 and step > 0))
    return Span(begin, end, step, length, full)


def _index_array(part: Any, axis: int, extent: int) -> Pick | Gather:
    """A list, range or NumPy array as positions. Raises IndexError for one outside, ValueError for no numbers."""
    found = np.asarray(part)
    if found.size and found.dtype.kind not in "biuf":
        raise ValueError(f"NDArray does not support slicing with key {part} of type {type(part)}.")
    positions = found.astype(np.int64)
    if positions.size:
        lowest, highest = int(positions.min()), int(positions.max())
        if lowest < -extent or highest >= extent:
            _position(highest if highest >= extent else lowest, axis, extent)
        if lowest < 0:
            positions = np.where(positions < 0, positions + extent, positions)
    return Pick(int(positions), int(positions)) if positions.ndim == 0 else Gather(positions, positions.shape)


def _check_block(subscript: Subscript) -> None:
    try:
        _ = subscript.block
    except ValueError:
        shapes = ", ".join(str(e.shape) for e in subscript.entries if isinstance(e, Gather))
        raise ValueError(f"the index arrays of shapes {shapes} are not broadcastable to one shape") from None


# -- reading and writing with operators --------------------------------------------------------------------------------
def read(F: Any, x: Any, subscript: Subscript, constant: Constant) -> Any:
    """`x[key]` with operators of `F`; `constant` makes a tensor of a host array.

    Only the rank of `x` is built in, not its extents. Raises MXNetError when nothing is selected.
    """
    if 0 in subscript.result_shape:
        raise subscript.refusal()
    y = _sliced(F, x, subscript)
    if subscript.advanced:
        y = _gathered(F, y, subscript, constant)
    else:
        picked = [i for i, e in enumerate(subscript.axes) if isinstance(e, Pick)]
        if len(picked) == len(subscript.axes):
            picked = picked[1:]  # one axis stays: a result has at least one
        if picked:
            y = F.squeeze(y, axis=tuple(picked))
    layout = subscript.layout
    new = [i for i, extent in enumerate(layout) if extent is None]
    for place in new if len(new) < len(layout) else new[1:]:
        y = F.expand_dims(y, axis=place)
    return y


def _sliced(F: Any, x: Any, subscript: Subscript) -> Any:
    """Apply the slices, and the integers too (as slices of length 1) when there are no index arrays."""
    bounds: list[tuple[int | None, int | None, int | None]] = []
    for entry in subscript.axes:
        if isinstance(entry, Span) and not entry.full:
            bounds.append((entry.begin, entry.end, entry.step))
        elif isinstance(entry, Pick) and not subscript.advanced:
            # A position from the back stays one, so that a graph is right for other extents too.
            bounds.append((entry.written, entry.written + 1 or None, None))
        else:
            bounds.append((None, None, None))
    while bounds and bounds[-1] == (None, None, None):
        bounds.pop()
    if not bounds:
        return x
    begin, end, step = zip(*bounds)
    return F.slice(x, begin=begin, end=end, **({} if set(step) == {None} else {"step": step}))


def _gathered(F: Any, y: Any, subscript: Subscript, constant: Constant) -> Any:
    axes = subscript.axes
    taken = [i for i, e in enumerate(axes) if not isinstance(e, Span)]
    rest = [i for i, e in enumerate(axes) if isinstance(e, Span)]
    if taken + rest != list(range(len(axes))):
        y = F.transpose(y, axes=(*taken, *rest))
    y = F.gather_nd(y, _stacked(F, subscript, constant))
    block = len(subscript.block)
    before = sum(1 for i in rest if i < taken[0]) if subscript.adjacent else 0
    if before:
        end = block + len(rest)
        y = F.transpose(y, axes=(*range(block, block + before), *range(block), *range(block + before, end)))
    return y


def _stacked(F: Any, subscript: Subscript, constant: Constant) -> Any:
    """The index tensor of gather_nd: one row for each axis taken, over the broadcast block."""
    taken = [e for e in subscript.axes if not isinstance(e, Span)]
    arrays = [e.index if isinstance(e, Gather) else np.array(e.index) for e in taken]
    if subscript.known:
        return constant(np.stack(np.broadcast_arrays(*arrays)).astype(np.int32))
    if len(taken) == 1:
        return F.expand_dims(arrays[0], axis=0)
    rows = []
    for entry, array in zip(taken, arrays):
        if isinstance(entry, Gather) and not entry.known:
            rows.append(_broadcast(F, F.Cast(array, dtype="int32"), entry.shape, subscript.block))
        else:
            rows.append(constant(np.broadcast_to(array, subscript.block).astype(np.int32)))
    return F.stack(*rows, axis=0)


def write(
    F: Any, x: Any, subscript: Subscript, value: Any, value_shape: tuple[int, ...] | None, constant: Constant
) -> Any:
    """`x` with `value` at `key`, as a new tensor. `value` is a number (`value_shape` None) or a tensor of `x`'s dtype.

    The extents of `x` are built in. Raises ValueError when the value does not fit.
    """
    target = subscript.target_shape
    if 0 in target:
        return x
    if value_shape is None:
        value = F._plus_scalar(F.zeros_like(_read_target(F, x, subscript, constant)), scalar=value)
    else:
        fitted = fitted_shape(value_shape, subscript)
        value = value if fitted == value_shape else F.Reshape(value, shape=fitted)
        value = _broadcast(F, value, fitted, target)
    if subscript.whole:
        return F.Reshape(value, shape=subscript.shape)
    size = math.prod(subscript.shape)
    positions = np.arange(size, dtype=np.int32).reshape(subscript.shape)
    if subscript.known:
        where = constant(np.ascontiguousarray(positions[subscript.numpy_key()]).reshape(1, -1))
    else:
        where = F.Reshape(read(F, constant(positions), subscript, constant), shape=(1, -1))
    flat = F._scatter_set_nd(F.Reshape(x, shape=(-1,)), F.Reshape(value, shape=(-1,)), where, shape=(size,))
    return F.Reshape(flat, shape=subscript.shape)


def fitted_shape(given: tuple[int, ...], subscript: Subscript) -> tuple[int, ...]:
    """The shape in which a value of shape `given` is broadcast to the subscript's `target_shape`.

    Axes of extent 1 that the value has too many go: first those that stand where the key has None, then leading ones.
    Raises ValueError when the value does not fit.
    """
    target = subscript.target_shape
    shape = list(given)
    if len(shape) > len(target):
        new = [i for i, extent in enumerate(subscript.layout) if extent is None and i < len(shape)]
        if all(shape[i] == 1 for i in new):
            shape = [extent for i, extent in enumerate(shape) if i not in new]
    while len(shape) > len(target) and shape[0] == 1:
        shape = shape[1:]
    padded = (*[1] * (len(target) - len(shape)), *shape)
    if len(padded) != len(target) or any(have not in (1, want) for have, want in zip(padded, target)):
        raise ValueError(f"a value of shape {given} cannot be broadcast to the shape {target} of the subscript")
    return padded


def _read_target(F: Any, x: Any, subscript: Subscript, constant: Constant) -> Any:
    """The part of `x` that is replaced, in the target's shape."""
    plain = Subscript(subscript.shape, tuple(subscript.axes))
    y = read(F, x, plain, constant)
    return y if plain.result_shape == subscript.target_shape else F.Reshape(y, shape=subscript.target_shape)


def _broadcast(F: Any, tensor: Any, shape: tuple[int, ...], target: tuple[int, ...]) -> Any:
    padded = (*[1] * (len(target) - len(shape)), *shape)
    tensor = tensor if padded == shape else F.Reshape(tensor, shape=padded)
    return tensor if padded == target else F.broadcast_to(tensor, shape=target)
