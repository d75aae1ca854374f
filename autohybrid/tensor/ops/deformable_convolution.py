"""contrib.DeformableConvolution and ModulatedDeformableConvolution: convolution whose taps move by learnt offsets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.convolution import convolve, to_data, to_weight
from autohybrid.tensor.dual import Dual
from autohybrid.tensor.dual_namespace import DualNamespace
from autohybrid.tensor.opdef import GradNode, OpDef, Sample, Shape, Shapes
from autohybrid.tensor.ops.convolution import GEOMETRY, window_of
from autohybrid.tensor.precision import narrow, widen
from autohybrid.tensor.sampling import bilinear_gradients, sample_bilinear
from autohybrid.tensor.shapes import require_known, same_floating, unify
from autohybrid.tensor.windows import Window, make_window

_LAYOUT = Attr("layout", "enum?", None, ("NCDHW", "NCHW", "NCW"))
_MIDDLE = (
    *GEOMETRY,
    Attr("num_filter", "int"),
    Attr("num_group", "int", 1),
    Attr("num_deformable_group", "int", 1),
    Attr("workspace", "int", 1024),
    Attr("no_bias", "bool", False),
)
_PLAIN = (*_MIDDLE, _LAYOUT)
_MODULATED = (*_MIDDLE, Attr("im2col_step", "int", 64), _LAYOUT)
_POINT = make_window(1, (1,), (), (), ())


def _names(masked: bool) -> Any:
    fixed = ("data", "offset", "mask", "weight") if masked else ("data", "offset", "weight")

    def names(attrs: Attrs) -> tuple[str, ...]:
        return fixed if attrs.no_bias else (*fixed, "bias")

    return names


def _window(attrs: Attrs) -> Window:
    window = window_of(attrs)
    if len(window.kernel) != 2:
        raise MXNetError(f"`kernel` must have 2 entries, got {attrs.kernel}")
    return window


def _infer(masked: bool) -> Any:
    def infer(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
        require_known(_names(masked)(attrs), ins[:2])
        window, filters, groups = _window(attrs), attrs.num_filter, attrs.num_group
        data = ins[0]
        assert data is not None
        if len(data) != 4:
            raise MXNetError(f"data must have 4 dimensions (n, channels, height, width), got {data}")
        for name, count in (("num_group", groups), ("num_deformable_group", attrs.num_deformable_group)):
            if count < 1 or data[1] % count or filters % groups:
                raise MXNetError(
                    f"`{name}` {count} must divide the {data[1]} channels of data (and num_group num_filter)"
                )
        taps = math.prod(window.kernel)
        positions = window.output_extents(data[2:])
        known: list[Shape] = [data, unify(ins[1], (data[0], 2 * attrs.num_deformable_group * taps, *positions))]
        if masked:
            known.append(unify(ins[2], (data[0], attrs.num_deformable_group * taps, *positions)))
        known.append(unify(ins[len(known)], (filters, data[1] // groups, *window.kernel)))
        if not attrs.no_bias:
            known.append(unify(ins[len(known)], (filters,)))
        return known, [unify((data[0], filters, *positions), outs[0])]

    return infer


def _positions(xp: Any, attrs: Attrs, offset: Any, group: int, inclusive: bool, extents: Any) -> tuple[Any, Any, Any]:
    """Rows, columns (n, taps, positions) that the taps of one deformable group read, and where that counts."""
    window = _window(attrs)
    n, (height, width) = offset.shape[0], offset.shape[2:]
    taps = math.prod(window.kernel)
    moves = offset.reshape(n, attrs.num_deformable_group, taps, 2, height, width)[:, group]
    tap_rows = xp.repeat(xp.arange(window.kernel[0]) * window.dilate[0], window.kernel[1])
    tap_columns = xp.tile(xp.arange(window.kernel[1]) * window.dilate[1], window.kernel[0])
    base_rows = xp.arange(height) * window.stride[0] - window.pad[0]
    base_columns = xp.arange(width) * window.stride[1] - window.pad[1]
    rows = moves[:, :, 0] + (tap_rows[:, None] + base_rows)[:, :, None].astype(offset.dtype)
    columns = moves[:, :, 1] + (tap_columns[:, None] + base_columns)[:, None, :].astype(offset.dtype)
    low = 0 if inclusive else -1
    inside = (rows > low) & (columns > low) & (rows < extents[0]) & (columns < extents[1])
    if inclusive:
        inside |= (rows >= 0) & (columns >= 0) & (rows < extents[0]) & (columns < extents[1])
        # Behind the last pixel the first version repeats it; the second one fades to 0.
        rows, columns = xp.minimum(rows, extents[0] - 1), xp.minimum(columns, extents[1] - 1)
    shape = (n, taps, height * width)
    return rows.reshape(shape), columns.reshape(shape), inside.reshape(shape)


def _columns(xp: Any, attrs: Attrs, data: Any, offset: Any, mask: Any) -> Any:
    """What the taps read: (n, channels * taps, positions)."""
    groups = attrs.num_deformable_group
    n, channels = data.shape[:2]
    parts = []
    for group in range(groups):
        part = data[:, group * channels // groups : (group + 1) * channels // groups]
        rows, columns, inside = _positions(xp, attrs, offset, group, mask is None, data.shape[2:])
        read = sample_bilinear(xp, part, rows, columns) * inside[:, None]
        if mask is not None:
            read = read * _group_mask(attrs, mask, group)[:, None]
        parts.append(read)
    read = parts[0] if groups == 1 else xp.concatenate(parts, axis=1)
    return read.reshape(n, channels * read.shape[2], read.shape[3])


def _group_mask(attrs: Attrs, mask: Any, group: int) -> Any:
    n, total = mask.shape[:2]
    taps = total // attrs.num_deformable_group
    return mask[:, group * taps : (group + 1) * taps].reshape(n, taps, mask.shape[2] * mask.shape[3])


def _flat_weight(weight: Any) -> Any:
    return weight.reshape(weight.shape[0], math.prod(weight.shape[1:]), 1)


def _product(xp: Any, function: Any, a: Any, b: Any, *settings: Any) -> Any:
    """One of the products of a convolution, of arrays or Duals."""
    if isinstance(xp, DualNamespace):
        return xp.bilinear(lambda left, right: function(xp.plain, left, right, *settings), a, b)
    return function(xp, a, b, *settings)


def _forward(xp: Any, attrs: Attrs, data: Any, offset: Any, mask: Any, weight: Any, bias: Any) -> Any:
    x, o, w = widen(xp, data, offset, weight)
    columns = _columns(xp, attrs, x, o, None if mask is None else widen(xp, mask)[0])
    result = _product(xp, convolve, columns, _flat_weight(w), _POINT, attrs.num_group)
    result = result.reshape(*result.shape[:2], *offset.shape[2:])
    if bias is not None:
        result += bias.reshape(-1, 1, 1)
    return narrow(result, data)


def _plain(xp: Any, attrs: Attrs, data: Any, offset: Any, weight: Any, bias: Any = None) -> Any:
    return _forward(xp, attrs, data, offset, None, weight, bias)


def _modulated(xp: Any, attrs: Attrs, data: Any, offset: Any, mask: Any, weight: Any, bias: Any = None) -> Any:
    return _forward(xp, attrs, data, offset, mask, weight, bias)


def _grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    attrs = node.attrs
    inputs = node.inputs if attrs.no_bias else node.inputs[:-1]
    masked = len(inputs) == 4
    settings = {a.name: getattr(attrs, a.name) for a in _SHARED}
    found = F._backward_deformable(heads[0], *inputs, masked=masked, **settings)
    return list(found) if attrs.no_bias else [*found, F.sum(heads[0], axis=1, exclude=True)]


def _backward_inputs(attrs: Attrs) -> tuple[str, ...]:
    return ("head", *_gradients_of(attrs))


def _gradients_of(attrs: Attrs) -> tuple[str, ...]:
    return ("data", "offset", "mask", "weight") if attrs.masked else ("data", "offset", "weight")


def _backward(xp: Any, attrs: Attrs, head: Any, *inputs: Any) -> tuple[Any, ...]:
    h, x, offset, *rest = widen(xp, head, *inputs)
    mask, weight = rest if attrs.masked else (None, rest[0])
    flat = _flat_weight(weight)
    rows = h.reshape(*h.shape[:2], math.prod(h.shape[2:]))
    columns = _columns(xp, attrs, x, offset, mask)
    to_columns = _product(xp, to_data, rows, flat, _POINT, attrs.num_group, rows.shape[2:])
    found_weight = _product(xp, to_weight, rows, columns, _POINT, attrs.num_group, flat.shape).reshape(weight.shape)
    groups, channels = attrs.num_deformable_group, x.shape[1]
    to_x, to_offset, to_mask = [], [], []
    for group in range(groups):
        part = x[:, group * channels // groups : (group + 1) * channels // groups]
        where_rows, where_columns, inside = _positions(xp, attrs, offset, group, mask is None, x.shape[2:])
        share = to_columns.reshape(x.shape[0], channels, -1, rows.shape[2])
        share = share[:, group * channels // groups : (group + 1) * channels // groups] * inside[:, None]
        if mask is not None:
            read = sample_bilinear(xp, part, where_rows, where_columns)
            to_mask.append((share * read).sum(axis=1).reshape(x.shape[0], -1, *offset.shape[2:]))
            share = share * _group_mask(attrs, mask, group)[:, None]
        found, along_rows, along_columns = bilinear_gradients(xp, share, part, where_rows, where_columns)
        if mask is None:  # behind the last pixel it is repeated, and nothing changes
            along_rows = along_rows * (where_rows < x.shape[2] - 1)
            along_columns = along_columns * (where_columns < x.shape[3] - 1)
        to_x.append(found)
        moved = xp.stack([along_rows, along_columns], axis=2)
        to_offset.append(moved.reshape(x.shape[0], -1, *offset.shape[2:]))
    results = [xp.concatenate(to_x, axis=1), xp.concatenate(to_offset, axis=1)]
    if mask is not None:
        results.append(xp.concatenate(to_mask, axis=1))
    return tuple(narrow(r, head) for r in (*results, found_weight))


def _backward_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    return ins, [unify(a, b) for a, b in zip(ins[1:], outs)]


def _backward_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    settings = {a.name: getattr(node.attrs, a.name) for a in (*_SHARED, _MASKED)}
    return F._second_deformable(*heads, *node.inputs, **settings)


def _second_inputs(attrs: Attrs) -> tuple[str, ...]:
    return (*[f"{name}_direction" for name in _gradients_of(attrs)], *_backward_inputs(attrs))


def _second(xp: Any, attrs: Attrs, *arrays: Any) -> tuple[Any, ...]:
    """<directions, backward> has as gradients the derivatives along the directions of the output, for the head, and
    of backward itself."""
    count = len(_gradients_of(attrs))
    directions, head, values = arrays[:count], arrays[count], arrays[count + 1 :]
    moving = [Dual(value, along) for value, along in zip(values, directions)]
    duals = DualNamespace(xp)
    mask = moving[2] if attrs.masked else None
    output = _forward(duals, attrs, moving[0], moving[1], mask, moving[-1], None)
    return tuple(found.tangent for found in (output, *_backward(duals, attrs, head, *moving)))


def _second_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    return ins, [unify(a, b) for a, b in zip(ins[len(_gradients_of(attrs)) :], outs)]


_TENSORS = ("data", "offset", "mask", "weight")
_SIZES = ((1, 2, 4, 4), (1, 8, 3, 3), (3, 2, 2, 2))
_MASKED = Attr("masked", "bool", False)
_SHARED = (*GEOMETRY, Attr("num_group", "int", 1), Attr("num_deformable_group", "int", 1))
_CASE: dict[str, Any] = {"kernel": (2, 2), "num_filter": 3}


def _record(
    name: str, kernel: Any, masked: bool, attrs: tuple[Attr, ...], doc: str, samples: tuple[Sample, ...]
) -> OpDef:
    return OpDef(
        f"_contrib_{name}",
        kernel,
        inputs=("data", "offset", "mask", "weight", "bias") if masked else ("data", "offset", "weight", "bias"),
        attrs=attrs,
        active_inputs=_names(masked),
        infer_shape=_infer(masked),
        infer_dtype=same_floating,
        grad=_grad,
        doc=doc,
        samples=samples,
    )


OPERATORS = (
    _record(
        "DeformableConvolution",
        _plain,
        False,
        _PLAIN,
        """Convolution of data (n, channels, height, width) whose taps read at places moved by `offset` (n, 2 *
        groups * kernel elements, rows, columns), row and column for each tap, interpolated; 0 outside.""",
        (
            Sample(((1, 2, 4, 4), (1, 8, 3, 3), (3, 2, 2, 2), (3,)), _CASE, low=-0.4, high=0.4),
            Sample(
                ((2, 2, 4, 4), (2, 16, 3, 3), (4, 1, 2, 2)),
                {"kernel": (2, 2), "num_filter": 4, "num_group": 2, "num_deformable_group": 2, "no_bias": True},
                low=0.1,
                high=0.4,
            ),
            Sample(((1, 2, 4), (1, 8, 3, 3), (3, 2, 2, 2), (3,)), _CASE, error="MXNetError"),
        ),
    ),
    _record(
        "ModulatedDeformableConvolution",
        _modulated,
        True,
        _MODULATED,
        """DeformableConvolution whose taps are also weighted by `mask` (n, groups * kernel elements, rows,
        columns).""",
        (
            Sample(((1, 2, 4, 4), (1, 8, 3, 3), (1, 4, 3, 3), (3, 2, 2, 2), (3,)), _CASE, low=0.1, high=0.4),
            Sample(((1, 2, 4, 4), (1, 8, 3, 3), (1, 5, 3, 3), (3, 2, 2, 2), (3,)), _CASE, error="MXNetError"),
        ),
    ),
    OpDef(
        "_backward_deformable",
        _backward,
        inputs=("head", "data", "offset", "mask", "weight"),
        attrs=(*_SHARED, _MASKED),
        active_inputs=_backward_inputs,
        outputs=_gradients_of,
        infer_shape=_backward_shape,
        infer_dtype=same_floating,
        grad=_backward_grad,
        doc="The gradients of a deformable convolution for data, offset, (mask) and weight.",
        samples=(
            Sample(((1, 3, 3, 3), (1, 2, 4, 4), (1, 8, 3, 3), (3, 2, 2, 2)), {"kernel": (2, 2)}, low=0.1, high=0.4),
        ),
    ),
    OpDef(
        "_second_deformable",
        _second,
        inputs=(*[f"{name}_direction" for name in _TENSORS], "head", *_TENSORS),
        attrs=(*_SHARED, _MASKED),
        active_inputs=_second_inputs,
        outputs=_backward_inputs,
        infer_shape=_second_shape,
        infer_dtype=same_floating,
        doc="The gradients of `_backward_deformable` for head, data, offset, (mask) and weight.",
        samples=(
            Sample(
                (*_SIZES, (1, 3, 3, 3), *_SIZES),
                {"kernel": (2, 2)},
            ),
        ),
    ),
)
