"""A graph as an SVG picture: one file that needs nothing else, inputs at the top.

An operator is a box with its attributes and the shape of its output; parameters and other captured arrays are named in
the box that reads them. The whole call and the user's line appear when the pointer rests on a box.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import PurePath

from autohybrid.graph.control import BranchBody, LoopBody
from autohybrid.graph.layered_layout import Layout, Point, place
from autohybrid.graph.node import Head, Node, program_order
from autohybrid.tensor.opdef import Shape

_CHARACTER, _LINE, _PADDING, _MARGIN = 6.7, 15.0, 8.0, 16.0
_WIDEST = 44
_STYLE = """text{font:11px ui-monospace,Menlo,Consolas,monospace;fill:#1b1f24}
.name{font-weight:700}.detail{fill:#57606a}.shape{fill:#0a5bb5}
rect{stroke:#8c959f;fill:#fff}.input rect{fill:#ddf4ff;stroke:#54aeff}.output rect{stroke:#1b1f24;stroke-width:2}
.heavy rect{fill:#fff8c5}.control rect{fill:#fbefff;stroke-dasharray:4 3}
path{fill:none;stroke:#8c959f;stroke-width:1.2}"""
#: Operators with weights are what a reader looks for first.
_HEAVY = frozenset("Convolution Deconvolution FullyConnected RNN Embedding dot batch_dot".split())


@dataclass(frozen=True, slots=True)
class _Box:
    """What is written in a box, top to bottom (class of the text, text), the kind of box, and the text under the
    pointer."""

    lines: tuple[tuple[str, str], ...]
    kind: str
    title: str

    @property
    def size(self) -> tuple[float, float]:
        widest = max(len(text) for _, text in self.lines)
        return widest * _CHARACTER + 2 * _PADDING, len(self.lines) * _LINE + _PADDING


def graph_svg(
    heads: Sequence[Head], shapes: Mapping[Head, Shape], inputs: Sequence[str], dtypes: Mapping[Head, str | None]
) -> str:
    """The picture. `inputs` are the names of the arguments; other variables are named where they are read."""
    nodes = [n for n in program_order(heads) if n.op is not None or n.name in inputs]
    position = {node: i for i, node in enumerate(nodes)}
    results = {node for node, _ in heads}
    boxes = [_box(node, shapes, dtypes, position, node in results) for node in nodes]
    edges = [(position[s], position[node]) for node in nodes for s, _ in node.inputs if s in position]
    edges = list(dict.fromkeys(edges))
    layout = place([box.size for box in boxes], edges)
    width, height = layout.width + 2 * _MARGIN, layout.height + 2 * _MARGIN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.1f} {height:.1f}">',
        f"<style>{_STYLE}</style>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0 8 4 0 8z" style="fill:#8c959f;stroke:none"/></marker></defs>',
        '<rect width="100%" height="100%" style="fill:#fff;stroke:none"/>',
        f'<g transform="translate({_MARGIN} {_MARGIN})">',
        *[f'<path d="{_curve(path)}" marker-end="url(#tip)"/>' for path in layout.paths],
        *_drawn(boxes, layout),
        "</g></svg>",
    ]
    return "\n".join(lines)


def _box(
    node: Node,
    shapes: Mapping[Head, Shape],
    dtypes: Mapping[Head, str | None],
    position: Mapping[Node, int],
    is_result: bool,
) -> _Box:
    fact = _fact((node, 0), shapes, dtypes)
    if node.op is None:
        lines = [("name", node.name), ("shape", fact)]
        kind = "input"
    else:
        inside = [_inside(body) for body in _bodies(node)]
        given = {} if node.attrs is None or inside else node.attrs.given
        attributes = [f"{key}={value}".replace(" ", "") for key, value in given.items()]
        read = [source.name for source, _ in node.inputs if source not in position]
        lines = [("name", node.op.name.lstrip("_")), *[("detail", t) for t in (*_wrapped(attributes), *inside)]]
        lines += [*[("detail", t) for t in _wrapped(read)], ("shape", fact)]
        kind = "control" if inside else "heavy" if node.op.name in _HEAVY else "operator"
    place_ = "" if node.span is None else f" at {PurePath(node.span.path).name}:{node.span.line}"
    shown = tuple(
        [(kind_, text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…") for kind_, text in lines if text]
    )
    return _Box(shown, f"{kind} output" if is_result else kind, f"{node.name}{place_}")


def _fact(head: Head, shapes: Mapping[Head, Shape], dtypes: Mapping[Head, str | None]) -> str:
    shape = shapes.get(head)
    return "" if shape is None else f"{'x'.join(map(str, shape)) or 'scalar'} {dtypes.get(head) or ''}".strip()


def _bodies(node: Node) -> list[Sequence[Node]]:
    """The nodes of each body of a branch or loop."""
    if isinstance(node.extra, BranchBody):
        return [node.extra.then.order, node.extra.otherwise.order]
    return [node.extra.condition.order, node.extra.body.order] if isinstance(node.extra, LoopBody) else []


def _inside(body: Sequence[Node]) -> str:
    names = [n.op.name.lstrip("_") for n in body if n.op is not None]
    return "{ " + ", ".join(names) + " }"


def _wrapped(words: Sequence[str]) -> list[str]:
    """The words in as few lines as fit."""
    lines: list[str] = []
    for word in words:
        if lines and len(lines[-1]) + len(word) + 2 <= _WIDEST:
            lines[-1] += f", {word}"
        else:
            lines.append(word)
    return lines


def _drawn(boxes: Sequence[_Box], layout: Layout) -> list[str]:
    lines = []
    for box, (x, y) in zip(boxes, layout.centres):
        width, height = box.size
        left, top = x - width / 2, y - height / 2
        radius = 9 if box.kind.startswith("input") else 3
        lines.append(f'<g class="{box.kind}"><title>{escape(box.title)}</title>')
        lines.append(f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{radius}"/>')
        for index, (kind, text) in enumerate(box.lines):
            baseline = top + _PADDING / 2 + (index + 0.75) * _LINE
            lines.append(f'<text class="{kind}" x="{left + _PADDING:.1f}" y="{baseline:.1f}">{escape(text)}</text>')
        lines.append("</g>")
    return lines


def _curve(points: Sequence[Point]) -> str:
    """A smooth line that leaves and reaches every point downwards."""
    (x, y), *rest = points
    parts = [f"M{x:.1f} {y:.1f}"]
    for next_x, next_y in rest:
        middle = (y + next_y) / 2
        parts.append(f"C{x:.1f} {middle:.1f} {next_x:.1f} {middle:.1f} {next_x:.1f} {next_y:.1f}")
        x, y = next_x, next_y
    return " ".join(parts)
