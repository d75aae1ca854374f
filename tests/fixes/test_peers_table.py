"""Twelve habits that keep Gluon code from being hybridized: each is found, and most are fixed."""

from __future__ import annotations

from pathlib import Path

import pytest

import autohybrid
from autohybrid.cli.main import main

HEAD = "import mxnet as mx\nfrom mxnet.gluon import Block, HybridBlock, nn\n\n\n"
FORWARD = "class Net(HybridBlock):\n    def hybrid_forward(self, F, x):\n"
BODIES = {
    "shape arithmetic": "return x.reshape((x.shape[0], x.shape[1] * x.shape[2]))",
    "dtype branch": "if x.dtype == 'float16':\n    x = x.astype('float32')\nreturn x * 2",
    "context": "return x + F.zeros((1,), ctx=x.context)",
    "item assignment": "y = x * 2\ny[:, 0] = 0\nreturn y",
    "in-place": "x[:] = x * 2\nreturn x",
    "slices": "return x[:, 1:3] + x[:, 0:2]",
    "print": "print(x)\nreturn x * 2",
    "tensor if": "if x.sum() > 0:\n    return x + 1\nreturn x - 1",
    "tensor while": "while x.sum() > 1:\n    x = x / 2\nreturn x",
    "host value": "scale = x.max().asscalar()\nreturn x / scale",
    "counter": "self.calls += 1\nreturn x * 2",
}
CHILD = """class Plain(Block):
    def forward(self, x):
        return x * 2


class Net(HybridBlock):
    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.child = Plain()

    def hybrid_forward(self, F, x):
        return self.child(x)
"""
COUNTER = "    def __init__(self):\n        super().__init__()\n        self.calls = 0\n\n"


def _program(name: str) -> str:
    body = "".join(f"        {line}\n" for line in BODIES[name].split("\n"))
    text = HEAD + FORWARD + body
    return text.replace("(HybridBlock):\n", "(HybridBlock):\n" + COUNTER) if name == "counter" else text


PROGRAMS = {**{name: _program(name) for name in BODIES}, "plain child": HEAD + CHILD}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_habit_is_found(name: str, tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(PROGRAMS[name], encoding="utf-8")
    assert len(autohybrid.check(path)) > 0


def test_most_of_the_habits_are_fixed(tmp_path: Path) -> None:
    fixed = []
    for number, (name, text) in enumerate(PROGRAMS.items()):
        path = tmp_path / f"net_{number}.py"
        path.write_text(text, encoding="utf-8")
        main(["check", "--fix", "--unsafe-fixes", "--silent", str(path)])
        if path.read_text(encoding="utf-8") != text and not autohybrid.check(path):
            fixed.append(name)
    assert len(PROGRAMS) == 12 and len(fixed) >= 9, fixed
