"""`check --fix` and its kin: what is changed, what is left alone, what is said."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_support import Cli

pytestmark = pytest.mark.usefixtures("fake_rules")


def write(folder: Path, data: bytes) -> Path:
    path = folder / "a.py"
    path.write_bytes(data)
    return path


def test_fix_writes_reports_what_is_left_and_does_nothing_the_second_time(cli: Cli, tmp_path: Path) -> None:
    path = write(tmp_path, b"x = badAH101_fix  # keep\ny = badAH102\n")
    result = cli("check", ".", "--fix")
    assert result.code == 1
    assert result.out.splitlines()[-1] == "Fixed 1 finding. Left: 1 error in 1 of 1 file."
    assert path.read_bytes() == b"x = good  # keep\ny = badAH102\n"
    again = cli("check", ".", "--fix")
    assert again.out.splitlines()[-1] == "Found 1 error in 1 of 1 file."
    assert path.read_bytes() == b"x = good  # keep\ny = badAH102\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"x = badAH101_fix\r\ny = 1\r\n", b"x = good\r\ny = 1\r\n"),
        (b"\xef\xbb\xbfx = badAH101_fix\n", b"\xef\xbb\xbfx = good\n"),
        (b"# -*- coding: latin-1 -*-\nx = badAH101_fix, '\xe9'\n", b"# -*- coding: latin-1 -*-\nx = good, '\xe9'\n"),
        ("é = badAH101_fix, 'é'".encode(), "é = good, 'é'".encode()),
        (b"a = badAH101_fix; b = badAH201_fix", b"a = good; b = good"),
        (b"x = 1  # autohybrid: ignore[AH101]\n", b"x = 1\n"),
        (b"x = badAH101_fix  # autohybrid: ignore[AH201]\n", b"x = good\n"),
        (b"\tx = badAH101_fix\n  syntax error\n", b"\tx = good\n  syntax error\n"),
    ],
)
def test_bytes_outside_the_edit_are_untouched(cli: Cli, tmp_path: Path, before: bytes, after: bytes) -> None:
    path = write(tmp_path, before)
    cli("check", ".", "--fix")
    assert path.read_bytes() == after


def test_diff_shows_and_does_not_touch(cli: Cli, tmp_path: Path) -> None:
    path = write(tmp_path, b"x = badAH101_fix\ny = badAH201_fix")
    result = cli("check", ".", "--diff")
    assert result.code == 1
    assert result.out == (
        "--- a.py\n+++ a.py\n@@ -1,2 +1,2 @@\n-x = badAH101_fix\n-y = badAH201_fix\n\\ No newline at end of file\n"
        "+x = good\n+y = good\n\\ No newline at end of file\n"
    )
    assert path.read_bytes() == b"x = badAH101_fix\ny = badAH201_fix"
    write(tmp_path, b"x = badAH101\n")
    result = cli("check", ".", "--diff")
    assert (result.code, result.out) == (0, "")


def test_fix_only_reports_nothing(cli: Cli, tmp_path: Path) -> None:
    write(tmp_path, b"x = badAH101_fix\ny = badAH102\n")
    result = cli("check", ".", "--fix-only")
    assert (result.code, result.out) == (0, "")
    write(tmp_path, b"x = badAH101_fix\n")
    assert cli("check", ".", "--fix-only", "--exit-non-zero-on-fix").code == 1


def test_show_fixes_and_exit_non_zero_on_fix(cli: Cli, tmp_path: Path) -> None:
    write(tmp_path, b"x = badAH101_fix, badAH101_fix\n")
    result = cli("check", ".", "--fix", "--show-fixes", "--exit-non-zero-on-fix")
    assert result.code == 1
    assert result.out == "a.py:\n  2 x AH101 write `good`\nFixed 2 findings. All checks passed in 1 file.\n"


def test_the_configuration_can_ask_for_fixes(cli: Cli, tmp_path: Path) -> None:
    path = write(tmp_path, b"x = badAH101_fix\n")
    (tmp_path / "autohybrid.toml").write_text("fix = true\n")
    assert cli("check", ".").code == 0
    assert path.read_bytes() == b"x = good\n"


def test_stdin_comes_back_fixed(cli: Cli) -> None:
    result = cli("check", "-", "--fix", stdin=b"x = badAH101_fix\ny = badAH102\n")
    assert (result.code, result.out) == (1, "x = good\ny = badAH102\n")
    result = cli("check", "-", "--fix", stdin=b"x = 1\n")
    assert (result.code, result.out) == (0, "x = 1\n")


def test_a_file_that_cannot_be_written_exits_2_and_stays(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from autohybrid.cli import fixing

    def refuse(path: str, data: bytes) -> None:
        raise PermissionError(13, "Permission denied")

    path = write(tmp_path, b"x = badAH101_fix\n")
    monkeypatch.setattr(fixing, "write_atomically", refuse)
    result = cli("check", ".", "--fix")
    assert (result.code, result.err) == (2, "autohybrid: error: cannot write a.py: Permission denied\n")
    assert path.read_bytes() == b"x = badAH101_fix\n"
