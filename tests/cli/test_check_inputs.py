"""`autohybrid check`: what it does with every kind of path and text, and its exit codes."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from cli_support import Cli, finding_lines

from autohybrid.config import FORMATS

pytestmark = pytest.mark.usefixtures("fake_rules")


def codes(out: str) -> list[tuple[str, str, int]]:
    return [(Path(item["filename"]).name, item["code"], item["location"]["row"]) for item in json.loads(out)]


def test_a_clean_file_exits_0(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    result = cli("check", "a.py")
    assert (result.code, result.out, result.err) == (0, "All checks passed in 1 file.\n", "")


def test_a_finding_exits_1_and_exit_zero_exits_0(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("badAH101\n")
    assert cli("check", "a.py").code == 1
    assert cli("check", "a.py", "--exit-zero").code == 0


def test_an_info_alone_exits_0(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("badAH101_info\n")
    result = cli("check", "a.py", "--pedantic")
    assert result.code == 0
    assert "AH101 info" in result.out


def test_a_missing_path_exits_2_and_names_the_nearest(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "network.py").write_text("x = 1\n")
    result = cli("check", "netwrk.py")
    assert (result.code, result.out) == (2, "")
    assert result.err == "autohybrid: error: no such file or folder: `netwrk.py`; did you mean `network.py`?\n"


def test_an_unknown_flag_exits_2_and_names_the_nearest(cli: Cli) -> None:
    result = cli("check", "--exit-zer", ".")
    assert result.code == 2
    assert "unknown option `--exit-zer`; did you mean `--exit-zero`?" in result.err


def test_flags_and_paths_mix(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("badAH101\n")
    (tmp_path / "b.py").write_text("badAH101\n")
    result = cli("check", "a.py", "--output-format", "json", "b.py")
    assert codes(result.out) == [("a.py", "AH101", 1), ("b.py", "AH101", 1)]


def test_what_follows_two_dashes_is_a_path(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "-a.py").write_text("badAH101\n")
    assert codes(cli("check", "--output-format", "json", "--", "-a.py").out) == [("-a.py", "AH101", 1)]
    assert cli("check", "--", "-b.py").code == 2
    assert cli("rule", "--", "x").code == 2


@pytest.mark.parametrize("name", [b"a\xff.py", b"new\nline.py", b"esc\x1b[31m.py", "é形.py".encode(), b"a,b:c%.py"])
def test_any_file_name_can_be_shown(cli: Cli, tmp_path: Path, name: bytes) -> None:
    try:
        with open(os.fsencode(tmp_path) + b"/" + name, "wb") as stream:
            stream.write(b"badAH101\n")
    except OSError:
        pytest.skip("the file system does not take the name")
    for format_name in FORMATS:
        result = cli("check", ".", "--output-format", format_name)
        assert (result.code, result.err) == (1, "")
        assert "\x1b" not in result.out
        assert cli("check", ".", "--output-format", format_name, "-o", "report").code == 1


def test_a_folder_without_python_says_so(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    result = cli("check", "empty", "--output-format", "json")
    assert (result.code, result.out) == (0, "[]\n")
    assert result.err == "autohybrid: warning: no Python files in `empty`\n"


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"x = 1\0\n", "holds binary data"),
        (b"\x7fELF\x02\0\0", "holds binary data"),
        (b"x = '\xe9'\n", "is not UTF-8"),
        (b"# -*- coding: latin-1 -*-\nx = '\xe9'\n", ""),
        (b"# -*- coding: klingon -*-\nx = 1\n", "`klingon`"),
        (b"\xef\xbb\xbfx = 1\n", ""),
        (b"", ""),
    ],
)
def test_text_that_cannot_be_decoded_is_a_finding(cli: Cli, tmp_path: Path, data: bytes, text: str) -> None:
    (tmp_path / "a.py").write_bytes(data)
    (tmp_path / "b.py").write_text("badAH101\n")
    result = cli("check", ".", "--output-format", "json")
    found = json.loads(result.out)
    assert [item["code"] for item in found] == (["AH002", "AH101"] if text else ["AH101"])
    assert text in found[0]["message"]


def test_the_place_of_a_bad_byte_is_reported(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes("é = 1\nx = 'ü".encode() + b"\xff'\n")
    found = json.loads(cli("check", "a.py", "--output-format", "json").out)
    assert found[0]["location"] == {"row": 2, "column": 7}


@pytest.mark.skipif(os.name == "nt" or not hasattr(os, "geteuid"), reason="needs POSIX permissions")
def test_a_file_that_cannot_be_opened_is_a_finding(cli: Cli, tmp_path: Path) -> None:
    os.symlink(tmp_path / "nowhere", tmp_path / "dangling.py")
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "a.py").write_text("badAH101\n")
    assert codes(cli("check", ".", "--output-format", "json").out) == [("a.py", "AH101", 1)]
    os.symlink(tmp_path / "loop.py", tmp_path / "loop.py")
    assert cli("check", "loop.py").code == 2


def test_a_folder_that_cannot_be_listed_is_a_finding(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "closed").mkdir()
    (tmp_path / "a.py").write_text("badAH101\n")
    real = os.scandir

    def scandir(path: str) -> object:
        if path.endswith("closed"):
            raise PermissionError(13, "Permission denied", path)
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    found = json.loads(cli("check", ".", "--output-format", "json").out)
    assert [(item["code"], item["message"]) for item in found] == [
        ("AH101", "`AH101` is bad"),
        ("AH002", "this file is a folder that cannot be listed"),
    ]


def test_line_ends_of_every_kind_count_as_python_counts_them(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"x = 1\r\nbadAH101\r\n")
    assert codes(cli("check", ".", "--output-format", "json").out) == [("a.py", "AH101", 2)]


def test_stdin_is_checked_under_the_given_name(cli: Cli) -> None:
    result = cli("check", "-", "--stdin-filename", "src/net.py", stdin=b"x = 1\nbadAH101\n")
    assert result.code == 1
    assert result.out.startswith("src/net.py:2:1-2:9: AH101 error `AH101` is bad\n")


def test_stdin_does_not_mix_with_paths(cli: Cli, tmp_path: Path) -> None:
    assert cli("check", "-", ".", stdin=b"").code == 2


def test_findings_of_a_notebook_name_their_cell(cli: Cli, tmp_path: Path) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# badAH101"]},
        {"cell_type": "code", "source": ["%matplotlib inline\n", "x = 1"]},
        {"cell_type": "code", "source": "y = 2\nz = badAH101"},
    ]
    document = {"cells": cells, "metadata": {"language_info": {"name": "python"}}, "nbformat": 4}
    (tmp_path / "a.ipynb").write_text(json.dumps(document))
    result = cli("check", ".")
    assert result.out.splitlines()[0] == "a.ipynb:cell 3:2:5-2:13: AH101 error `AH101` is bad"
    found = json.loads(cli("check", ".", "--output-format", "json").out)
    assert (found[0]["cell"], found[0]["location"]) == (3, {"row": 2, "column": 5})


@pytest.mark.parametrize("text", ["", "[]", "{", '{"cells": 3}', '{"cells": [3, {"cell_type": "code"}]}', "[" * 5000])
def test_a_broken_notebook_never_crashes(cli: Cli, tmp_path: Path, text: str) -> None:
    (tmp_path / "a.ipynb").write_text(text)
    result = cli("check", ".")
    assert result.code in (0, 1)
    assert "internal error" not in result.err


def test_a_notebook_in_another_language_is_skipped(cli: Cli, tmp_path: Path) -> None:
    document = {"cells": [{"cell_type": "code", "source": "badAH101"}], "metadata": {"language_info": {"name": "R"}}}
    (tmp_path / "a.ipynb").write_text(json.dumps(document))
    assert cli("check", ".").code == 0


def test_findings_come_in_order_of_path_line_and_column(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "b.py").write_text("x = badAH201, badAH101\nbadAH101\n")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "z.py").write_text("badAH102\n")
    result = cli("check", "b.py", ".")
    places = [line.split(": ")[0] + " " + line.split()[1] for line in finding_lines(result)]
    assert places == ["a/z.py:1:1-1:9 AH102", "b.py:1:5-1:13 AH201", "b.py:1:15-1:23 AH101", "b.py:2:1-2:9 AH101"]
