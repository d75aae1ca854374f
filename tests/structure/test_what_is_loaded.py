"""What a process loads: the linter no numpy, imperative code neither libcst nor rich, `--version` next to nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("numpy", "cupy", "libcst", "rich", "pygls", "onnx", "scipy", "importlib.metadata", "asyncio")
NET = """
import mxnet as mx
from mxnet.gluon import nn

class Net(nn.HybridBlock):
    def hybrid_forward(self, F, x):
        y = F.relu(x)
        if y.shape[0] > 1:
            print(y.asnumpy())
        return y  # noqa: AH101
"""


def loaded_after(code: str, folder: Path) -> set[str]:
    """The names in `sys.modules` after `code` ran in a fresh interpreter."""
    script = f"{code}\nimport sys, json\nsys.stderr.write('LOADED' + json.dumps(sorted(sys.modules)))"
    variables = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, env=variables, capture_output=True, text=True, check=True
    )
    return set(json.loads(run.stderr.rpartition("LOADED")[2]))


def command(*arguments: str) -> str:
    return f"from autohybrid.cli.main import main\nmain({list(arguments)!r})"


@pytest.fixture
def net(tmp_path: Path) -> Path:
    (tmp_path / "net.py").write_text(NET)
    return tmp_path


def test_version_loads_only_the_version(tmp_path: Path) -> None:
    base = loaded_after("import typing, importlib, __future__", tmp_path)
    own = {name for name in loaded_after(command("--version"), tmp_path) - base if not name.startswith("importlib")}
    assert own == {"autohybrid", "autohybrid.cli", "autohybrid.cli.main", "autohybrid.version"}


@pytest.mark.parametrize("name", ["concise", "json", "grouped", "github", "gitlab", "junit", "sarif", "html", "full"])
def test_check_loads_nothing_heavy_in_any_format(net: Path, name: str) -> None:
    loaded = loaded_after(command("check", "net.py", "--output-format", name, "--color", "never"), net)
    assert not loaded & set(HEAVY)


def test_check_loads_one_command_and_one_renderer(net: Path) -> None:
    loaded = loaded_after(command("check", "net.py", "--output-format", "json"), net)
    commands = {name for name in loaded if name.startswith("autohybrid.cli.commands.")}
    assert commands == {"autohybrid.cli.commands.check"}
    renderers = {name for name in loaded if name.startswith("autohybrid.diagnostics.render.")}
    assert renderers == {"autohybrid.diagnostics.render.json_array", "autohybrid.diagnostics.render.style"}


def test_help_loads_no_command(tmp_path: Path) -> None:
    loaded = loaded_after(command("--help"), tmp_path)
    assert not loaded & set(HEAVY)
    assert not {name for name in loaded if name.startswith("autohybrid.cli.commands")}


def test_colours_load_rich_and_nothing_else_heavy(net: Path) -> None:
    loaded = loaded_after(command("check", "net.py", "--output-format", "full", "--color", "always"), net)
    assert loaded & set(HEAVY) <= {"rich", "importlib.metadata"}
    assert "rich" in loaded


def test_a_warm_check_does_not_load_the_analysis(net: Path) -> None:
    flags = ("--output-format", "github")  # which shows no fixes, for which it would look at the tree
    loaded_after(command("check", "net.py", *flags), net)
    loaded = loaded_after(command("check", "net.py", *flags), net)
    assert not {name for name in loaded if name.startswith("autohybrid.analysis.project")}


def test_checking_from_python_loads_nothing_heavy(net: Path) -> None:
    assert not loaded_after("import autohybrid\nautohybrid.check('net.py')", net) & set(HEAVY)


def test_imperative_code_loads_neither_libcst_nor_rich(tmp_path: Path) -> None:
    loaded = loaded_after("import autohybrid\nautohybrid.nd.ones((2,)) + 1", tmp_path)
    assert "numpy" in loaded
    assert not loaded & {"libcst", "rich", "autohybrid.analysis", "autohybrid.cli"}
