"""`autohybrid show`: pictures of the graph, and the source beside the emitted function."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from cli_support import Cli

_GATE = """from mxnet.gluon import HybridBlock


class Gate(HybridBlock):
    def hybrid_forward(self, F, x):
        # kept
        if x.mean() > 0:
            x = F.tanh(x)
        return x * 2
"""


@pytest.fixture
def gate(tmp_path: Path) -> str:
    path = tmp_path / "gate.py"
    path.write_text(_GATE)
    return f"{path}:Gate"


def test_svg_is_a_file_of_its_own(gate: str) -> None:
    """In a process of its own: showing a graph puts autohybrid in the place of MXNet."""
    command = [sys.executable, "-m", "autohybrid", "show", gate, "--svg", "--input", "2x3"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ElementTree.fromstring(result.stdout).tag.endswith("svg")


def test_svg_needs_a_call(cli: Cli, gate: str) -> None:
    result = cli("show", gate, "--svg")
    assert result.code == 2
    assert "give --input SHAPE" in result.err


def test_svg_and_dot_exclude_each_other(cli: Cli, gate: str) -> None:
    assert cli("show", gate, "--svg", "--dot", "--input", "2x3").code == 2


def test_source_stands_beside_the_emitted_function(cli: Cli, gate: str) -> None:
    result = cli("show", gate, "--only", "beside")
    assert result.code == 0
    rows = [line.split(" │ ") for line in result.out.splitlines() if " │ " in line]
    pairs = [(left.strip(), right.strip()) for left, right in rows]
    assert ("5  def hybrid_forward(self, F, x):", "def hybrid_forward(g, self, x):") in pairs
    assert ("6      # kept", "# kept") in pairs
    assert ("7      if x.mean() > 0:", "def then_1(x):") in pairs
    assert ("8          x = F.tanh(x)", "x = g.tanh(x)") in pairs
    assert ("", "(x,) = g.branch(x.mean() > 0, then_1, otherwise_1, (x,))") in pairs
    assert ("9      return x * 2", "return x * 2") in pairs
