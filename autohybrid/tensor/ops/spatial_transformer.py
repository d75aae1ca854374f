"""GridGenerator, BilinearSampler and SpatialTransformer: images read along a grid of positions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import GradNode, OpDef, Sample, Shape, Shapes
from autohybrid.tensor.precision import narrow, widen
from autohybrid.tensor.sampling import gather_pixels, sample_bilinear, scatter_pixels
from autohybrid.tensor.shapes import same_floating, unify

_TARGET = Attr("target_shape", "shape", (0, 0))
_CUDNN = Attr("cudnn_off", "bool?", None)


def _target(attrs: Attrs) -> tuple[int, int]:
    if len(attrs.target_shape) != 2 or min(attrs.target_shape) < 1:
        raise MXNetError(f"`target_shape` must be two positive numbers, got {attrs.target_shape}")
    return attrs.target_shape[0], attrs.target_shape[1]


def _grid_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    data = ins[0]
    if attrs.transform_type == "affine":
        size = _target(attrs)
        data = unify(data, (-1, 6))
        assert data is not None
        return [data], [unify((data[0], 2, *size), outs[0])]
    if data is None:
        return ins, outs
    if len(data) != 4 or data[1] not in (2, -1):
        raise MXNetError(f"a flow must have shape (n, 2, height, width), got {data}")
    return ins, [unify(data, outs[0])]


def _base(xp: Any, height: int, width: int, dtype: Any) -> Any:
    """x, y and 1 at every point of a grid over [-1, 1]: (3, height * width)."""
    x = xp.arange(width) * (2 / max(width - 1, 1)) - 1
    y = xp.arange(height) * (2 / max(height - 1, 1)) - 1
    columns, rows = xp.broadcast_to(x, (height, width)), xp.broadcast_to(y[:, None], (height, width))
    return xp.stack([columns, rows, xp.ones((height, width))]).reshape(3, -1).astype(dtype)


def _extent_factors(xp: Any, image: Any, dtype: Any) -> Any:
    """Half of the last column and row index of `image`, for the x and the y channel: (1, 2, 1, 1)."""
    height, width = image.shape[2:]
    return xp.stack([xp.full((1, 1), (width - 1) / 2), xp.full((1, 1), (height - 1) / 2)]).astype(dtype)[None]


def _grid(xp: Any, attrs: Attrs, data: Any) -> Any:
    (x,) = widen(xp, data)
    if attrs.transform_type == "affine":
        height, width = attrs.target_shape
        grid = xp.matmul(x.reshape(-1, 2, 3), _base(xp, height, width, x.dtype))
        return narrow(grid.reshape(-1, 2, height, width), data)
    height, width = data.shape[2:]
    pixels = xp.stack(
        [
            xp.broadcast_to(xp.arange(width), (height, width)),
            xp.broadcast_to(xp.arange(height)[:, None], (height, width)),
        ]
    )
    return narrow((x + pixels.astype(x.dtype)) / _extent_factors(xp, x, x.dtype) - 1, data)


def _grid_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    if node.attrs.transform_type == "affine":
        return F._backward_affine_grid(heads[0])
    return F._flow_scale(heads[0])


def _affine_backward(xp: Any, attrs: Attrs, head: Any) -> Any:
    (h,) = widen(xp, head)
    n, _, height, width = h.shape
    return narrow(xp.matmul(h.reshape(n, 2, height * width), _base(xp, height, width, h.dtype).T).reshape(n, 6), head)


def _affine_backward_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    return ins, outs if ins[0] is None else [unify((ins[0][0], 6), outs[0])]


def _affine_like(xp: Any, attrs: Attrs, data: Any, like: Any) -> Any:
    height, width = like.shape[2:]
    grid = xp.matmul(data.reshape(-1, 2, 3), _base(xp, height, width, data.dtype))
    return grid.reshape(-1, 2, height, width)


def _flow_scale(xp: Any, attrs: Attrs, head: Any) -> Any:
    return head / _extent_factors(xp, head, head.dtype)


def _sampler_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    data, grid = ins
    if data is not None and len(data) != 4:
        raise MXNetError(f"data must have 4 dimensions (n, channels, height, width), got {data}")
    if data is None or grid is None:
        return ins, outs
    if len(grid) != 4 or grid[1] not in (2, -1):
        raise MXNetError(f"`grid` must have shape (n, 2, height, width), got {grid}")
    batch = unify(data[:1], grid[:1])
    assert batch is not None
    return ins, [unify((batch[0], data[1], *grid[2:]), outs[0])]


def _pixel_positions(xp: Any, grid: Any, data: Any) -> Any:
    """Positions in [-1, 1] as pixel coordinates (x, y) of `data`."""
    return (grid + 1) * _extent_factors(xp, data, grid.dtype)


def _sampler(xp: Any, attrs: Attrs, data: Any, grid: Any) -> Any:
    x, g = widen(xp, data, grid)
    positions = _pixel_positions(xp, g, x)
    return narrow(sample_bilinear(xp, x, positions[:, 1], positions[:, 0]), data)


def _sampler_grads(F: Any, data: Any, grid: Any, head: Any) -> tuple[Any, Any]:
    """Gradients of BilinearSampler for data and grid, from differentiable operators."""
    positions = F._grid_to_pixels(grid, data)
    fraction = positions - F.floor(positions)
    right, down = F.slice_axis(fraction, axis=1, begin=0, end=1), F.slice_axis(fraction, axis=1, begin=1, end=2)
    to_data, along_x, along_y = None, None, None
    for dy in (0, 1):
        for dx in (0, 1):
            vertical, horizontal = (down if dy else 1 - down), (right if dx else 1 - right)
            share = F._scatter_pixels(F.broadcast_mul(head, vertical * horizontal), positions, data, dx=dx, dy=dy)
            dot = F.sum(head * F._gather_pixels(data, positions, dx=dx, dy=dy), axis=1, keepdims=True)
            to_x, to_y = dot * vertical * (1 if dx else -1), dot * horizontal * (1 if dy else -1)
            to_data = share if to_data is None else to_data + share
            along_x = to_x if along_x is None else along_x + to_x
            along_y = to_y if along_y is None else along_y + to_y
    return to_data, F._scale_pixels(F.Concat(along_x, along_y, dim=1), data)


def _sampler_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    data, grid = node.inputs
    return _sampler_grads(F, data, grid, heads[0])


def _transformer_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    data, loc = ins
    if data is not None and len(data) != 4:
        raise MXNetError(f"data must have 4 dimensions (n, channels, height, width), got {data}")
    size = _target(attrs)
    if data is None or loc is None:
        return ins, outs
    loc = unify(loc, (data[0], 6))
    return [data, loc], [unify((*data[:2], *size), outs[0])]


def _transformer(xp: Any, attrs: Attrs, data: Any, loc: Any) -> Any:
    x, theta = widen(xp, data, loc)
    height, width = attrs.target_shape
    grid = xp.matmul(theta.reshape(-1, 2, 3), _base(xp, height, width, theta.dtype)).reshape(-1, 2, height, width)
    positions = _pixel_positions(xp, grid, x)
    return narrow(sample_bilinear(xp, x, positions[:, 1], positions[:, 0]), data)


def _transformer_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    data, loc = node.inputs
    grid = F.GridGenerator(loc, transform_type="affine", target_shape=node.attrs.target_shape)
    to_data, to_grid = _sampler_grads(F, data, grid, heads[0])
    return [to_data, F._backward_affine_grid(to_grid)]


def _corner(xp: Any, attrs: Attrs, positions: Any) -> tuple[Any, Any]:
    whole = xp.floor(positions).astype(xp.int64)
    return whole[:, 1] + attrs.dy, whole[:, 0] + attrs.dx


def _gather(xp: Any, attrs: Attrs, data: Any, positions: Any) -> Any:
    return gather_pixels(xp, data, *_corner(xp, attrs, positions))


def _scatter(xp: Any, attrs: Attrs, values: Any, positions: Any, like: Any) -> Any:
    return scatter_pixels(xp, values, *_corner(xp, attrs, positions), *like.shape[2:])


def _step(attrs: Attrs) -> dict[str, int]:
    return {"dx": attrs.dx, "dy": attrs.dy}


def _gather_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    data, positions = ins
    if data is None or positions is None:
        return ins, outs
    return ins, [unify((data[0], data[1], *positions[2:]), outs[0])]


def _like(position: int) -> Any:
    def infer(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
        return ins, [unify(ins[position], outs[0])]

    return infer


_STEPS = (Attr("dx", "int", 0), Attr("dy", "int", 0))
_THETA = [[0.9, 0.1, 0.05, -0.1, 0.8, 0.11], [0.5, 0.3, -0.21, 0.2, 0.7, 0.13]]
_AFFINE: dict[str, Any] = {"transform_type": "affine", "target_shape": (3, 4)}

OPERATORS = (
    OpDef(
        "GridGenerator",
        _grid,
        attrs=(Attr("transform_type", "enum", choices=("affine", "warp")), _TARGET),
        infer_shape=_grid_shape,
        infer_dtype=same_floating,
        stored_outputs=lambda attrs: 2,
        grad=_grid_grad,
        doc="""A grid of positions (n, 2, height, width), x and y in [-1, 1], from affine maps (n, 6) and
        `target_shape`, or from a flow (n, 2, height, width) in pixels ('warp').""",
        samples=(
            Sample(((2, 6),), _AFFINE),
            Sample(((2, 2, 3, 4),), {"transform_type": "warp"}),
            Sample(((0, 6),), _AFFINE),
            Sample(((2, 5),), _AFFINE, error="MXNetError"),
        ),
    ),
    OpDef(
        "BilinearSampler",
        _sampler,
        inputs=("data", "grid"),
        attrs=(_CUDNN,),
        infer_shape=_sampler_shape,
        infer_dtype=same_floating,
        stored_outputs=lambda attrs: 2,
        grad=_sampler_grad,
        doc="""data (n, channels, height, width) read at the positions `grid` (n, 2, h, w) in [-1, 1],
        interpolated; 0 outside.""",
        samples=(
            Sample(((2, 3, 4, 5), (2, 2, 3, 2)), low=-1.2, high=1.2),
            Sample(((0, 3, 4, 5), (0, 2, 3, 2))),
            Sample(((2, 3, 4, 5), (2, 3, 3, 2)), error="MXNetError"),
        ),
    ),
    OpDef(
        "SpatialTransformer",
        _transformer,
        inputs=("data", "loc"),
        attrs=(
            _TARGET,
            Attr("transform_type", "enum", choices=("affine",)),
            Attr("sampler_type", "enum", choices=("bilinear",)),
            _CUDNN,
        ),
        infer_shape=_transformer_shape,
        infer_dtype=same_floating,
        stored_outputs=lambda attrs: 3,
        grad=_transformer_grad,
        doc="""data (n, channels, height, width) read along the affine grids of `loc` (n, 6), `target_shape`
        positions each.""",
        samples=(
            Sample(((2, 2, 4, 4), (2, 6)), {**_AFFINE, "sampler_type": "bilinear"}, values={1: _THETA}),
            Sample(((2, 2, 4), (2, 6)), {**_AFFINE, "sampler_type": "bilinear"}, error="MXNetError"),
        ),
    ),
    OpDef(
        "_backward_affine_grid",
        _affine_backward,
        inputs=("head",),
        infer_shape=_affine_backward_shape,
        grad=lambda F, node, heads: F._affine_grid_like(heads[0], node.inputs[0]),
        doc="The gradient of an affine GridGenerator for its (n, 6) maps.",
        samples=(Sample(((2, 2, 3, 4),)),),
    ),
    OpDef(
        "_affine_grid_like",
        _affine_like,
        inputs=("data", "like"),
        infer_shape=_like(1),
        grad=lambda F, node, heads: [F._backward_affine_grid(heads[0]), None],
        doc="The affine grid of `data` (n, 6) with as many rows and columns as `like`.",
        samples=(Sample(((2, 6), (2, 2, 3, 4))),),
    ),
    OpDef(
        "_flow_scale",
        _flow_scale,
        grad=lambda F, node, heads: F._flow_scale(heads[0]),
        doc="A flow in pixels in the units of a grid over [-1, 1].",
        samples=(Sample(((2, 2, 3, 4),)),),
    ),
    OpDef(
        "_grid_to_pixels",
        lambda xp, attrs, grid, data: _pixel_positions(xp, grid, data),
        inputs=("grid", "data"),
        infer_shape=_like(0),
        grad=lambda F, node, heads: [F._scale_pixels(heads[0], node.inputs[1]), None],
        doc="Positions in [-1, 1] as pixel coordinates of `data`.",
        samples=(Sample(((2, 2, 3, 4), (2, 1, 5, 6))),),
    ),
    OpDef(
        "_scale_pixels",
        lambda xp, attrs, head, data: head * _extent_factors(xp, data, head.dtype),
        inputs=("head", "data"),
        infer_shape=_like(0),
        grad=lambda F, node, heads: [F._scale_pixels(heads[0], node.inputs[1]), None],
        doc="`head` times half the last pixel index of `data`, for x and y.",
        samples=(Sample(((2, 2, 3, 4), (2, 1, 5, 6))),),
    ),
    OpDef(
        "_gather_pixels",
        _gather,
        inputs=("data", "positions"),
        attrs=_STEPS,
        infer_shape=_gather_shape,
        grad=lambda F, node, heads: [
            F._scatter_pixels(heads[0], node.inputs[1], node.inputs[0], **_step(node.attrs)),
            None,
        ],
        doc="data at the pixels (`dx`, `dy`) from the whole part of `positions`; 0 outside.",
        samples=(Sample(((2, 3, 4, 5), (2, 2, 3, 2)), {"dx": 1}, low=-1, high=5, nograd=(1,)),),
    ),
    OpDef(
        "_scatter_pixels",
        _scatter,
        inputs=("head", "positions", "data"),
        attrs=_STEPS,
        infer_shape=_like(2),
        grad=lambda F, node, heads: [F._gather_pixels(heads[0], node.inputs[1], **_step(node.attrs)), None, None],
        doc="The adjoint of `_gather_pixels` (only the shape of `data` matters).",
        samples=(Sample(((2, 3, 3, 2), (2, 2, 3, 2), (2, 3, 4, 5)), {"dy": 1}, low=-1, high=5, nograd=(1,)),),
    ),
)
