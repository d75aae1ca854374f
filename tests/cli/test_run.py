"""`autohybrid run`: a script that imports mxnet behaves as it does under the interpreter itself."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "autohybrid", "run", *words]
    environment = {"PYTHONPATH": str(ROOT), "PATH": ""}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60)


def python(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *words], cwd=folder, capture_output=True, text=True, timeout=60)


def test_mxnet_and_its_modules_are_there_and_the_arguments_are_the_scripts(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("import mxnet\nfrom mxnet.gluon.nn import Dense\nX = Dense\n")
    (tmp_path / "train.py").write_text(
        "import sys\nimport mxnet as mx\nimport beside\n"
        "assert __name__ == '__main__' and sys.modules['__main__'].__dict__ is globals()\n"
        "print(sys.argv, mx.nd.ones((2,)).sum().asscalar(), beside.X.__name__)\n"
    )
    done = run(tmp_path, "train.py", "--help", "-m", "x", "--", "--legacy-numpy")
    assert done.stdout == "['train.py', '--help', '-m', 'x', '--', '--legacy-numpy'] 2.0 Dense\n"
    assert (done.returncode, done.stderr) == (0, "")


def test_the_file_is_absolute_and_future_imports_are_the_scripts_own(tmp_path: Path) -> None:
    text = "import sys\ndef f(x: 1 + 1): pass\nprint(__file__, sys.argv[0], f.__annotations__, __name__, __spec__)\n"
    (tmp_path / "where.py").write_text(text)
    assert run(tmp_path, "where.py").stdout == python(tmp_path, "where.py").stdout
    assert str(tmp_path) in run(tmp_path, "./where.py").stdout


def test_a_folder_with_a_main_runs(tmp_path: Path) -> None:
    (tmp_path / "tool").mkdir()
    (tmp_path / "tool" / "__main__.py").write_text("import mxnet, sys\nprint(__name__, sys.argv[1:])\n")
    assert run(tmp_path, "tool", "a").stdout == "__main__ ['a']\n"


def test_a_module_of_a_package_runs_as_main(tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("")
    (tmp_path / "package" / "lr.py").write_text("RATE = 0.5\n")
    (tmp_path / "package" / "train.py").write_text(
        "import sys\nimport mxnet\nfrom .lr import RATE\nprint(__name__, RATE, sys.argv[1:])\n"
    )
    assert run(tmp_path, "-m", "package.train", "--lr", "1").stdout == "__main__ 0.5 ['--lr', '1']\n"


@pytest.mark.parametrize("way_out", ["sys.exit()", "sys.exit(7)", "sys.exit('enough')", "raise SystemExit(0)", "pass"])
def test_exit_codes_are_pythons(tmp_path: Path, way_out: str) -> None:
    (tmp_path / "leave.py").write_text(f"import sys\nprint('here')\n{way_out}\n")
    mine, theirs = run(tmp_path, "leave.py"), python(tmp_path, "leave.py")
    assert (mine.returncode, mine.stdout, mine.stderr) == (theirs.returncode, theirs.stdout, theirs.stderr)


@pytest.mark.parametrize(
    "text",
    [
        "def work(n):\n    return 1 / n\n\nwork(0)\n",
        "try:\n    {}['a']\nexcept KeyError as error:\n    raise ValueError('second') from error\n",
        "import sys\nsys.excepthook = lambda kind, error, trace: sys.stderr.write(f'{kind.__name__} mine\\n')\n1 / 0\n",
    ],
)
def test_tracebacks_show_the_script_only(tmp_path: Path, text: str) -> None:
    (tmp_path / "fail.py").write_text(text)
    mine, theirs = run(tmp_path, "fail.py"), python(tmp_path, "fail.py")
    assert mine.returncode == theirs.returncode == 1
    assert mine.stderr.replace(str(tmp_path) + "/", "") == theirs.stderr.replace(str(tmp_path) + "/", "")


def test_a_syntax_error_names_its_line(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("x = 1\ndef f(:\n")
    done = run(tmp_path, "broken.py")
    assert done.returncode == 1
    assert 'broken.py", line 2' in done.stderr
    assert "runpy" not in done.stderr


def test_what_is_not_there(tmp_path: Path) -> None:
    absent = run(tmp_path, "-m", "absent_module")
    assert (absent.returncode, "No module named absent_module" in absent.stderr) == (1, True)
    assert "Traceback" not in absent.stderr
    missing = run(tmp_path, "absent.py")
    assert (missing.returncode, "`absent.py`: no such file" in missing.stderr) == (2, True)
    assert run(tmp_path).returncode == 2
    assert "did you mean `--legacy-numpy`?" in run(tmp_path, "--legacy-nump", "x.py").stderr


def test_names_numpy_dropped_come_back_unless_refused(tmp_path: Path) -> None:
    (tmp_path / "old.py").write_text("import numpy as np\nprint(np.float is float, np.int(3), np.Inf)\n")
    assert run(tmp_path, "old.py").stdout == "True 3 inf\n"
    assert run(tmp_path, "--legacy-numpy", "old.py").stdout == "True 3 inf\n"
    without = run(tmp_path, "--no-legacy-numpy", "old.py")
    assert without.returncode == 1
    assert "`autohybrid run` without --no-legacy-numpy puts it back" in without.stderr


def test_names_numpy_still_has_keep_their_meaning() -> None:
    program = (
        "import numpy as np\nbefore = dict(vars(np))\n"
        "from autohybrid.compat.legacy_numpy import restore_names\nrestore_names()\n"
        "assert all(vars(np)[name] is value for name, value in before.items() if name != 'fromstring')\n"
    )
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT, timeout=60).returncode == 0


def test_legacy_names_may_be_asked_for_by_the_environment() -> None:
    program = "import autohybrid, numpy as np\nprint(np.int(3), np.asscalar(np.array([2.5])), np.in1d([1, 2], [2]))\n"
    for asked, code in (("1", 0), ("0", 1)):
        environment = {**os.environ, "AUTOHYBRID_LEGACY_NUMPY": asked}
        done = subprocess.run(
            [sys.executable, "-c", program], cwd=ROOT, env=environment, timeout=60, capture_output=True, text=True
        )
        assert done.returncode == code, done.stderr
        assert done.stdout == ("3 2.5 [False  True]\n" if asked == "1" else "")


def test_legacy_numpy_reads_bytes_from_strings(tmp_path: Path) -> None:
    text = "import numpy as np\nprint(np.fromstring(b'\\x01\\x02', dtype='uint8'), np.fromstring('1 2', sep=' '))\n"
    (tmp_path / "old.py").write_text(text)
    assert run(tmp_path, "old.py").stdout == "[1 2] [1. 2.]\n"
