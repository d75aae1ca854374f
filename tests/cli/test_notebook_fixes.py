"""Fixes in notebooks: only the changed lines of their cells are written anew."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_support import Cli

from autohybrid.transform.notebook_json import rewrite_cells

IMPORTS = "%matplotlib inline\nimport mxnet as mx\nfrom mxnet.gluon import HybridBlock"
NET = "class Net(HybridBlock):\n    def hybrid_forward(self, F, x):\n"
BODY = "        y = F.relu(x)[1:]  # é\n        y += 1\n        return y"
FIXED = "        y = F.slice_axis(F.relu(x), axis=0, begin=1, end=None)  # é\n        y = y + 1\n        return y"


def lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def code(source: Any) -> dict[str, Any]:
    return {"cell_type": "code", "execution_count": 1, "metadata": {"tags": []}, "outputs": [], "source": source}


def book(*cells: dict[str, Any], **how: Any) -> str:
    document = {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(document, **{"indent": 1, "ensure_ascii": False, **how}) + "\n"


def fix(cli: Cli, folder: Path, text: str, *flags: str) -> str:
    path = folder / "net.ipynb"
    path.write_bytes(text.encode())
    cli("check", "net.ipynb", "--no-cache", "--fix", "--unsafe-fixes", *flags)
    return path.read_bytes().decode()


TITLE = {"cell_type": "markdown", "metadata": {}, "source": ["# title"]}


@pytest.mark.parametrize("how", [{}, {"ensure_ascii": True}, {"indent": None}, {"indent": 4, "sort_keys": True}])
@pytest.mark.parametrize("form", [lines, str])
def test_everything_but_the_changed_lines_stays(cli: Cli, tmp_path: Path, how: dict[str, Any], form: Any) -> None:
    before = book(code(form(IMPORTS)), TITLE, code(form(NET + BODY)), **how)
    after = book(code(form(IMPORTS)), TITLE, code(form(NET + FIXED)), **how)
    assert fix(cli, tmp_path, before) == after
    assert fix(cli, tmp_path, after) == after


def test_odd_bytes_around_the_change_stay(cli: Cli, tmp_path: Path) -> None:
    before = book(code(lines(IMPORTS)), code(lines(NET + BODY)))
    before = (
        before.replace('"nbformat": 4', '"nbformat":\t4 ').replace("class Net", "class\\u0020Net").replace("\n", "\r\n")
    )
    after = fix(cli, tmp_path, before)
    kept = [line for line in before.split("\r\n") if "relu" not in line and "+=" not in line]
    assert [line for line in after.split("\r\n") if line in kept] == kept
    assert "".join(json.loads(after)["cells"][1]["source"]) == NET + FIXED


def test_lines_of_ipython_are_left_alone(cli: Cli, tmp_path: Path) -> None:
    body = "        !ls\n        print(x)\n        return F.relu(x)[1:]\n"
    after = fix(cli, tmp_path, book(code(lines(IMPORTS)), code(lines(NET + body))))
    source = "".join(json.loads(after)["cells"][1]["source"])
    assert source == NET + "        !ls\n        return F.slice_axis(F.relu(x), axis=0, begin=1, end=None)\n"


def test_a_fix_that_would_take_a_line_of_ipython_away_is_not_made(cli: Cli, tmp_path: Path) -> None:
    body = "        if x.stype == 'csr':\n            !ls\n            x = x * 2\n        return x"
    before = book(code(lines(IMPORTS)), code(lines(NET + body)))
    assert fix(cli, tmp_path, before) == before
    without = book(code(lines(IMPORTS)), code(lines(NET + body.replace("            !ls\n", ""))))
    assert fix(cli, tmp_path, without) == book(code(lines(IMPORTS)), code(lines(f"{NET}        return x")))


def test_the_last_line_of_a_cell_can_go(cli: Cli, tmp_path: Path) -> None:
    body = "        y = F.relu(x)\n        print(y)"
    before = book(code(lines(IMPORTS)), code(lines(NET + body)), code(["net = Net()"]))
    after = book(code(lines(IMPORTS)), code(lines(NET + "        y = F.relu(x)")), code(["net = Net()"]))
    assert fix(cli, tmp_path, before) == after


def test_a_fix_may_change_two_cells(cli: Cli, tmp_path: Path) -> None:
    helper = "def half(x):\n    return mx.nd.relu(x)[1:]"
    before = book(code(lines(IMPORTS)), code(lines(helper)), code(lines(NET + "        return half(x)")))
    cells = json.loads(fix(cli, tmp_path, before))["cells"]
    assert "".join(cells[1]["source"]).startswith("def half(F, x):")
    assert "".join(cells[2]["source"]) == NET + "        return half(F, x)"


def test_the_old_format_is_written_too(cli: Cli, tmp_path: Path) -> None:
    def cell(source: str) -> dict[str, Any]:
        return {"cell_type": "code", "input": lines(source), "language": "python", "outputs": []}

    def old(source: str) -> str:
        sheets = [{"cells": [{"cell_type": "heading", "source": "a"}, cell(IMPORTS)]}, {"cells": [cell(source)]}]
        return json.dumps({"worksheets": sheets, "metadata": {}, "nbformat": 3}, indent=2, ensure_ascii=False)

    assert fix(cli, tmp_path, old(NET + BODY)) == old(NET + FIXED)


def test_diff_shows_cells_and_writes_nothing(cli: Cli, tmp_path: Path) -> None:
    text = book(code(lines(IMPORTS)), TITLE, code(lines(NET + BODY)))
    path = tmp_path / "net.ipynb"
    path.write_bytes(text.encode())
    result = cli("check", "net.ipynb", "--no-cache", "--diff", "--unsafe-fixes")
    assert result.out.splitlines()[:2] == ["--- net.ipynb:cell 3", "+++ net.ipynb:cell 3"]
    assert "+        y = y + 1" in result.out.splitlines()
    assert path.read_bytes() == text.encode()


def test_a_notebook_on_stdin_comes_back_fixed(cli: Cli) -> None:
    before, after = (book(code(lines(IMPORTS)), code(lines(NET + body))) for body in (BODY, FIXED))
    flags = ("--stdin-filename", "net.ipynb", "--no-cache", "--fix", "--unsafe-fixes")
    assert cli("check", "-", *flags, stdin=before.encode()).out == after


def test_a_notebook_is_not_run(cli: Cli, tmp_path: Path) -> None:
    text = book(code(lines(IMPORTS)), code(lines(NET + BODY)))
    assert fix(cli, tmp_path, text, "--verify-fix") == text
    assert "a notebook is not run" in cli("check", "net.ipynb", "--no-cache", "--verify-fix", "--unsafe-fixes").err


@pytest.mark.parametrize(
    ("old", "new", "wanted"), [("[]", "a\nb", '["a\\n", "b"]'), ('["a"]', "", "[]"), ('""', "a", '"a"')]
)
def test_empty_cells(old: str, new: str, wanted: str) -> None:
    text = '{"cells": [{"cell_type": "code", "source": %s}], "nbformat": 4}'
    assert rewrite_cells(text % old, {1: new}) == text % wanted
