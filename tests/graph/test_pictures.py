"""Graphs as pictures: boxes in layers that do not touch, edges that point down, and an SVG file that is whole."""

from __future__ import annotations

import warnings
from itertools import pairwise
from random import Random
from xml.etree import ElementTree

import pytest

import autohybrid as mx
from autohybrid import nd
from autohybrid.gluon import HybridBlock, nn
from autohybrid.graph.layered_layout import place
from autohybrid.transform.inspection import inspect_block

_SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("seed", range(12))
def test_boxes_do_not_touch_and_edges_point_down(seed: int) -> None:
    random = Random(seed)
    count = random.randint(1, 40)
    sizes = [(random.uniform(20, 200), random.uniform(20, 80)) for _ in range(count)]
    edges = sorted({(random.randrange(end), end) for end in range(1, count) for _ in range(random.randint(0, 3))})
    layout = place(sizes, edges)
    corners = [
        (x - w / 2, y - h / 2, x + w / 2, y + h / 2) for (x, y), (w, h) in zip(layout.centres, sizes, strict=True)
    ]
    for i, (left, top, right, bottom) in enumerate(corners):
        assert left >= -1e-6
        assert top >= -1e-6
        assert right <= layout.width + 1e-6
        assert bottom <= layout.height + 1e-6
        for other in corners[:i]:
            assert right <= other[0] or other[2] <= left or bottom <= other[1] or other[3] <= top
    assert len(layout.paths) == len(edges)
    for (start, end), path in zip(edges, layout.paths):
        assert path[0] == (layout.centres[start][0], pytest.approx(corners[start][3]))
        assert path[-1] == (layout.centres[end][0], pytest.approx(corners[end][1]))
        assert all(a[1] < b[1] for a, b in pairwise(path))


def test_no_boxes_make_an_empty_picture() -> None:
    layout = place([], [])
    assert (layout.width, layout.height, layout.paths) == (0.0, 0.0, ())


class Gate(HybridBlock):
    def __init__(self, **kwargs: object) -> None:
        super().__init__(**kwargs)
        self.project = nn.Dense(3, in_units=4)

    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        y = self.project(x)
        if y.mean() > 0:
            y = F.tanh(y)
        while y.sum() < -3:
            y = y * 0.5
        return F.concat(y, x[:, 0:2], dim=1)


def test_svg_has_a_box_for_every_call_and_names_parameters() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mx.HybridizeWarning)
        shown = inspect_block(Gate(), (nd.ones((2, 4)),))
    root = ElementTree.fromstring(shown.svg)
    assert root.tag == f"{_SVG}svg"
    boxes = [g for g in root.iter(f"{_SVG}g") if g.get("class")]
    calls = [line for line in shown.text.splitlines() if " = " in line and " = input" not in line]
    assert len(boxes) == len(calls) + 1
    words = " ".join(text.text or "" for text in root.iter(f"{_SVG}text"))
    for word in ("data", "FullyConnected", "num_hidden=3", "weight", "branch", "{ tanh }", "loop", "2x5 float32"):
        assert word in words
    titles = [title.text or "" for title in root.iter(f"{_SVG}title")]
    assert any("test_pictures.py:" in title for title in titles)
    assert [box.get("class") for box in boxes].count("input") == 1
    assert sum("output" in str(box.get("class")) for box in boxes) == 1
