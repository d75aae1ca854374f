"""`check --verify-fix`: fixes that examples prove are kept, wrong ones refused, and what was not run is said."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from cli_support import Cli, Outcome

from autohybrid.diagnostics.model import Applicability, Diagnostic, Edit, Fix
from autohybrid.transform import notebook_cells

pytestmark = pytest.mark.slow

HEAD = """\
import mxnet as mx
from mxnet.gluon import HybridBlock, nn


class Net(HybridBlock):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.fc = nn.Dense(4)

    def hybrid_forward(self, F, x):
"""
EXAMPLE = """

def example():
    return Net(), [(mx.nd.random.uniform(-1, 1, (3, 5)),), (mx.nd.ones((2, 5)),)]
"""


def write(folder: Path, *lines: str, after: str = EXAMPLE) -> Path:
    path = folder / "net.py"
    path.write_text(HEAD + "".join(f"        {line}\n" for line in lines) + after)
    return path


def verify(cli: Cli, *flags: str) -> Outcome:
    return cli("check", "net.py", "--no-cache", "--unsafe-fixes", "--verify-fix", *flags)


def test_right_fixes_are_proven_and_written(cli: Cli, tmp_path: Path) -> None:
    path = write(tmp_path, "y = self.fc(x)[:, 0:2]", "y += 1", "return y.reshape((y.shape[0], -1))")
    result = verify(cli)
    assert (result.code, result.out.splitlines()[0]) == (0, "Fixed 3 findings. All checks passed in 1 file.")
    by = "(by net.py:example; without gradients, which fail before the change)"
    assert result.err.splitlines() == [
        "autohybrid: ran net.py:example: 2 calls, imperatively and hybridized",
        "autohybrid: proven equal: 3 fixes",
        f"autohybrid:   net.py:12:13: AH104 use `F.slice` {by}",
        f"autohybrid:   net.py:13:9: AH109 rebind `y` {by}",
        f"autohybrid:   net.py:14:27: AH101 follow the shape in the graph {by}",
    ]
    assert "F.slice(self.fc(x), begin=(None, 0), end=(None, 2))" in path.read_text()


WRONG = {
    "F.slice(y, begin=(None, 1), end=(None, 3))": "imperatively, call 1: output 1 differs by up to",
    "F.slice(y, begin=(None, 0), end=(None, 1))": "imperatively, call 1: output 1 had the shape (3, 2) and has (3, 1)",
    "F.stop_gradient(F.slice(y, begin=(None, 0), end=(None, 2)))": "imperatively, call 1: the gradient of argument 1",
    "F.slice(y, begin=(None, 0), end=(None, y.asnumpy().shape[1] - 2))": "hybridized, call 1 fails with HostValue",
    "F.slice(y, begin=(None, 0), end=(None, 9, 9, 9))": "imperatively, call 1 fails with",
    "[F.slice(y, begin=(None, 0), end=(None, 2))]": "imperatively, call 1: the result `array` became `[array]`",
}


def inject(monkeypatch: pytest.MonkeyPatch, code: str, text: str) -> None:
    """Let the fix of a rule write something else."""
    real = notebook_cells.complete

    def complete(findings: Iterable[Diagnostic], get_text: Callable[[str], str]) -> list[Diagnostic]:
        found = real(findings, get_text)
        fix = Fix("write something else", (), Applicability.SAFE)
        return [
            replace(item, fixes=(replace(fix, edits=(Edit(item.span, text),)),)) if item.code == code else item
            for item in found
        ]

    monkeypatch.setattr(notebook_cells, "complete", complete)


@pytest.mark.parametrize("text", WRONG)
def test_a_wrong_fix_is_refused_and_the_right_one_beside_it_kept(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    path = write(tmp_path, "y = self.fc(x)", "y = y.reshape((y.shape[0], -1))", "z = y[:, 0:2]", "return z")
    inject(monkeypatch, "AH104", text)
    result = verify(cli)
    lines = result.err.splitlines()
    assert result.code == 1
    assert "autohybrid:   net.py:13:24: AH101 follow the shape in the graph (by net.py:example)" in lines
    at = lines.index("autohybrid: refused, as the results change: 1 fix")
    assert lines[at + 1].startswith(
        f"autohybrid:   net.py:14:13: AH104 write something else: net.py:example: {WRONG[text]}"
    )
    assert "y = y.reshape((0, -1))" in path.read_text() and "z = y[:, 0:2]" in path.read_text()


def test_a_parameter_that_a_call_does_not_reach_has_no_gradient(cli: Cli, tmp_path: Path) -> None:
    path = write(
        tmp_path, "y = F.sum(x) > 0", "return self.fc(x) if F.sum(x) > 0 else F.ones((x.shape[0], 4)) * F.sum(x)"
    )
    calls = "[(mx.nd.ones((3, 5)),), (mx.nd.ones((2, 5)) * -1,)]"
    path.write_text(path.read_text().replace(EXAMPLE, f"\n\ndef example():\n    return Net(), {calls}\n"))
    result = verify(cli)
    assert "refused" not in result.err and "AH401 choose in the graph (by net.py:example)" in result.err


def test_a_fix_that_changes_an_argument_no_more_is_refused(cli: Cli, tmp_path: Path) -> None:
    path = write(tmp_path, "x += 1", "return x")
    before = path.read_text()
    assert "argument 1 after the call differs by up to 1" in verify(cli).err
    assert path.read_text() == before


@pytest.mark.parametrize(
    ("lines", "after", "reason"),
    [
        (["return x[:, 1]"], "", "no example: define `example()` in the file, or name one with --example"),
        (["if self.flag:", "    return x[:, 1]", "return x"], EXAMPLE, "no example runs line 13"),
        (["return x[:, 1]"], EXAMPLE.replace("(2, 5)", "(2,)"), "it fails already before the change: IndexError"),
        (["return x[:, 1]"], "\n\nraise ValueError('gone')\n" + EXAMPLE, "importing the file fails with ValueError"),
        (
            ["return x[:, 1] * next(mx.COUNTER)"],
            "\n\nimport itertools\n\nmx.COUNTER = itertools.count()\n" + EXAMPLE,
            "it gives other results each time",
        ),
        (["return x[:, 1]"], "\n\ndef example():\n    return Net(), []\n", "it has no calls"),
        (["return x[:, 1]"], "\n\ndef example():\n    return 3\n", "`example` does not return a block and its calls"),
    ],
)
def test_what_cannot_be_run_is_said_and_left(
    cli: Cli, tmp_path: Path, lines: list[str], after: str, reason: str
) -> None:
    path = write(tmp_path, *lines, after=after)
    if "self.flag" in lines[0]:
        path.write_text(
            path.read_text().replace(
                "        super()", "        self.flag = bool(kwargs.pop('flag', 0))\n        super()"
            )
        )
        reason = reason.replace("13", "14")
    before = path.read_text()
    result = verify(cli)
    assert "autohybrid: not proven and not applied: 1 fix" in result.err.splitlines()
    assert reason in result.err
    assert path.read_text() == before and result.code == 1


def test_examples_can_be_named(cli: Cli, tmp_path: Path) -> None:
    path = write(tmp_path, "return self.fc(x)[:, 1:2]", after="")
    (tmp_path / "small.py").write_text(
        "from net import Net\n\n\ndef small(mx):\n    return Net(), (mx.nd.ones((2, 3)),)\n"
    )
    before = path.read_text()
    for example, label in [("small.py:small", "small.py:small"), ("net.py:Net=2x3", "net.py:Net")]:
        path.write_text(before)
        result = verify(cli, "--example", example)
        assert f"autohybrid: ran {label}: 1 call, imperatively and hybridized" in result.err
        assert result.code == 0 and path.read_text() != before
    assert verify(cli, "--example", "net.py").code == 2
    assert (
        verify(cli, "--example", "gone.py:f").err == "autohybrid: error: --example `gone.py:f`: no such file: gone.py\n"
    )


def test_a_package_with_relative_imports_is_run_with_all_fixed_files(cli: Cli, tmp_path: Path) -> None:
    package = tmp_path / "models"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "parts.py").write_text(
        "from mxnet.gluon import HybridBlock\n\n\nclass Part(HybridBlock):\n"
        "    def hybrid_forward(self, F, x):\n        return x[:, 0:2]\n"
    )
    (package / "net.py").write_text(
        "import mxnet as mx\nfrom mxnet.gluon import HybridBlock\nfrom .parts import Part\n\n\n"
        "class Net(HybridBlock):\n"
        "    def __init__(self, **kwargs):\n        super().__init__(**kwargs)\n        self.part = Part()\n\n"
        "    def hybrid_forward(self, F, x):\n        y = self.part(x)\n        y += 1\n        return y\n\n\n"
        "def example():\n    return Net(), (mx.nd.ones((2, 3)),)\n"
    )
    result = cli(
        "check", "models", "--no-cache", "--unsafe-fixes", "--verify-fix", "--example", "models/net.py:example"
    )
    assert "autohybrid: proven equal: 2 fixes" in result.err.splitlines(), result.err
    assert "F.slice(x" in (package / "parts.py").read_text()


def test_diff_and_stdin_are_verified_too(cli: Cli, tmp_path: Path) -> None:
    path = write(tmp_path, "return self.fc(x)[:, 0:2]")
    text = path.read_text()
    result = verify(cli, "--diff")
    assert "+        return F.slice(self.fc(x), begin=(None, 0), end=(None, 2))" in result.out.splitlines()
    assert path.read_text() == text
    result = cli("check", "-", "--stdin-filename", "net.py", "--unsafe-fixes", "--verify-fix", stdin=text.encode())
    assert "F.slice(self.fc(x)" in result.out and path.read_text() == text
