"""Several processes: which files stay together, and that the findings do not depend on their number."""

from __future__ import annotations

from pathlib import Path

import pytest

from autohybrid.analysis.source import SourceFile
from autohybrid.diagnostics.cold_run import find
from autohybrid.diagnostics.engine import Request, run
from autohybrid.diagnostics.parallel import count_processes, split

BLOCK = """
from mxnet.gluon import HybridBlock
{imports}
class Net(HybridBlock):
    def hybrid_forward(self, F, x):
        {body}
"""


def groups(files: dict[str, str], parts: int = 9) -> list[set[str]]:
    sources = [SourceFile(path, text) for path, text in files.items()]
    return sorted(({file.path for file in group} for group in split(sources, parts)), key=min)


@pytest.mark.parametrize(
    ("text", "together"),
    [
        ("", False),
        ("import b", True),
        ("import os, b as c", True),
        ("from b import x", True),
        ("from b.c import x", True),
        ("from .b import x", True),
        ("from . import b", True),
        ("from . import (\n    x,\n    b,\n)", True),
        ("def f():\n    import b", True),
        ("import os.b", False),
        ("import bb", False),
        ("x = 1  # import b", False),
    ],
)
def test_files_that_import_each_other_stay_together(text: str, together: bool) -> None:
    assert groups({"src/a.py": text, "src/b.py": ""}) == (
        [{"src/a.py", "src/b.py"}] if together else [{"src/a.py"}, {"src/b.py"}]
    )


def test_a_package_stays_together() -> None:
    files = {"p/__init__.py": "", "p/q/__init__.py": "", "p/q/a.py": "", "p/b.py": "", "c.py": "", "q/__init__.py": ""}
    assert groups(files) == [{"c.py"}, {"p/__init__.py", "p/q/__init__.py", "p/q/a.py", "p/b.py"}, {"q/__init__.py"}]


def test_parts_are_balanced_and_hold_everything_once() -> None:
    files = {f"m{number}.py": "# hybrid\n" * number for number in range(1, 9)}
    parts = groups(files, 2)
    assert len(parts) == 2 and set.union(*parts) == set(files) and not set.intersection(*parts)
    sizes = [sum(len(files[path]) for path in part) for part in parts]
    assert max(sizes) <= 1.3 * min(sizes)


def test_the_number_of_processes_follows_the_flag() -> None:
    assert count_processes(3) == 3
    assert count_processes(0) >= 1


def test_findings_do_not_depend_on_the_number_of_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, imports, body in (
        ("a", "from helpers import scale", "return scale(F, x)"),
        ("b", "", "return x + x.shape[0]"),
        ("c", "", "return x.asnumpy()"),
        ("d", "", "return ("),
    ):
        (tmp_path / f"{name}.py").write_text(BLOCK.format(imports=imports, body=body))
    (tmp_path / "helpers.py").write_text("def scale(F, y):\n    if y > 0:\n        return y\n    return -y\n")
    reports = [run(Request((".",), jobs=jobs)) for jobs in (1, 2, 4)]
    assert [finding.span.path for finding in reports[0]] == ["b.py", "c.py", "d.py", "helpers.py"]
    assert reports[0] == reports[1] == reports[2]


def test_the_work_can_be_sent_to_another_process() -> None:
    import pickle

    assert pickle.loads(pickle.dumps(find)) is find
