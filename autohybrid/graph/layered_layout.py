"""Where the boxes of a directed graph go in a picture: in layers, so that every edge points down.

A box stands one layer below the lowest box it depends on; an edge over several layers gets a point in each of them, so
that it passes between boxes. Within a layer, boxes are ordered and placed near the middle of their neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

_GAP = 18.0
_LAYER_GAP = 26.0
_WAYPOINT = 8.0
_SWEEPS = 6

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Layout:
    """Centres of the boxes, the points of each edge from the bottom of one box to the top of the other, and the size of
    the picture."""

    centres: tuple[Point, ...]
    paths: tuple[tuple[Point, ...], ...]
    width: float
    height: float


def place(sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]]) -> Layout:
    """Place boxes of these widths and heights; `edges` are pairs of indices, from a box to one with a larger index."""
    widths, layers = [w for w, _ in sizes], _layers(len(sizes), edges)
    chains: list[list[int]] = []
    for start, end in edges:
        chain = [start]
        for layer in range(layers[start] + 1, layers[end]):
            chain.append(len(layers))
            layers.append(layer)
            widths.append(_WAYPOINT)
        chains.append([*chain, end])
    above, below = _neighbours(len(layers), chains)
    rows: list[list[int]] = [[] for _ in range(max(layers, default=-1) + 1)]
    for item, layer in enumerate(layers):
        rows[layer].append(item)
    x = _columns(rows, widths, above, below)
    tops, heights = _tops(rows, sizes)
    left = min((x[i] - widths[i] / 2 for i in range(len(x))), default=0.0)
    x = [value - left for value in x]
    y = [tops[layer] + heights[layer] / 2 for layer in layers]
    paths = tuple([_path(chain, x, y, sizes, [heights[layer] for layer in layers]) for chain in chains])
    width = max((x[i] + widths[i] / 2 for i in range(len(x))), default=0.0)
    height = tops[-1] + heights[-1] if rows else 0.0
    return Layout(tuple(zip(x, y))[: len(sizes)], paths, width, height)


def _layers(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    layers = [0] * count
    for start, end in sorted(edges, key=lambda edge: edge[1]):
        layers[end] = max(layers[end], layers[start] + 1)
    for item in reversed(range(count)):  # what depends on nothing stands right above its first user
        users = [layers[end] for start, end in edges if start == item]
        if users and not any(end == item for _, end in edges):
            layers[item] = min(users) - 1
    return layers


def _neighbours(count: int, chains: Sequence[Sequence[int]]) -> tuple[list[list[int]], list[list[int]]]:
    above: list[list[int]] = [[] for _ in range(count)]
    below: list[list[int]] = [[] for _ in range(count)]
    for chain in chains:
        for upper, lower in pairwise(chain):
            above[lower].append(upper)
            below[upper].append(lower)
    return above, below


def _columns(
    rows: list[list[int]], widths: Sequence[float], above: list[list[int]], below: list[list[int]]
) -> list[float]:
    """The middle of every item: rows are ordered by their neighbours, then moved towards them, down and up in turn."""
    x = [0.0] * len(widths)
    for row in rows:
        _spread(row, [float(i) * 100 for i in range(len(row))], widths, x)
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        for row in rows if down else reversed(rows):
            near = above if down else below
            wanted = {i: sum(x[n] for n in near[i]) / len(near[i]) if near[i] else x[i] for i in row}
            row.sort(key=lambda item: wanted[item])
            _spread(row, [wanted[i] for i in row], widths, x)
    return x


def _spread(row: Sequence[int], wanted: Sequence[float], widths: Sequence[float], x: list[float]) -> None:
    """Set `x` of a row as near to `wanted` as its order and widths allow (in the sum of squares)."""
    offsets = [0.0]
    for left, right in pairwise(row):
        offsets.append(offsets[-1] + (widths[left] + widths[right]) / 2 + _GAP)
    blocks: list[list[float]] = []  # runs of items that touch: the sum of their wanted starts, and their number
    for value, offset in zip(wanted, offsets):
        blocks.append([value - offset, 1.0])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            total, number = blocks.pop()
            blocks[-1][0] += total
            blocks[-1][1] += number
    starts = [total / number for total, number in blocks for _ in range(int(number))]
    for item, start, offset in zip(row, starts, offsets):
        x[item] = start + offset


def _tops(rows: list[list[int]], sizes: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    heights = [max([sizes[i][1] for i in row if i < len(sizes)], default=0.0) for row in rows]
    tops, top = [], 0.0
    for height in heights:
        tops.append(top)
        top += height + _LAYER_GAP
    return tops, heights


def _path(
    chain: Sequence[int],
    x: Sequence[float],
    y: Sequence[float],
    sizes: Sequence[tuple[float, float]],
    room: Sequence[float],
) -> tuple[Point, ...]:
    """From box to box, straight down through each layer between them: lines bend between layers only."""
    first, last = chain[0], chain[-1]
    points = [(x[first], y[first] + sizes[first][1] / 2)]
    for item in chain[1:-1]:
        points += [(x[item], y[item] - room[item] / 2), (x[item], y[item] + room[item] / 2)]
    return (*points, (x[last], y[last] - sizes[last][1] / 2))
