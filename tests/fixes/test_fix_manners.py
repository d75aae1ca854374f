"""What every fix owes its file: comments, line ends, other bytes, time."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from fixes.fixing_support import fixed, fixed_body, run_fixes

from autohybrid.analysis.project import AnalysisSettings, analyze
from autohybrid.analysis.source import SourceFile
from autohybrid.diagnostics.judge import judge
from autohybrid.diagnostics.rule import forward
from autohybrid.transform.fixes import complete

COMMENTED = """y = F.relu(x)  # first
# why the branch
if y.sum() > 0:  # of the condition
    # of the side
    y = y * 2  # doubled
return y  # last"""


def test_comments_survive_a_branch_that_is_written_anew() -> None:
    body = fixed_body(COMMENTED)
    for comment in ("# first", "# why the branch", "# of the condition", "# of the side", "# doubled", "# last"):
        assert body.count(comment) == 1


def test_comments_stay_where_a_scope_is_taken_away() -> None:
    body = "with autograd.pause():\n    # target\n    t = F.softmax(x)  # soft\nreturn x * t"
    assert fixed_body(body) == "# target\nt = F.stop_gradient(F.softmax(x))  # soft\nreturn x * t"


def test_line_ends_and_other_bytes_stay() -> None:
    source = forward("name = 'é\\t'\nreturn F.relu(x)[1:]").replace("\n", "\r\n")
    wanted = source.replace("F.relu(x)[1:]", "F.slice_axis(F.relu(x), axis=0, begin=1, end=None)")
    assert fixed(source) == wanted


def test_columns_count_characters_not_bytes() -> None:
    body = "s = {'é': F.relu(x)}; return s['é'][1:]"
    assert fixed_body(body) == "s = {'é': F.relu(x)}; return F.slice_axis(s['é'], axis=0, begin=1, end=None)"


def test_a_fixed_text_has_fewer_findings() -> None:
    source = forward("n = len(x)\ny = F.relu(x)\ny += 1\nprint(y)\nreturn y[:, 0] / n")
    run = run_fixes(source)
    assert not list(run.report)
    assert {finding.code for finding, _ in run.fixed} >= {"AH104", "AH109", "AH301", "AH502"}


def test_check_alone_loads_no_fixes_and_no_libcst() -> None:
    code = (
        "import sys\n"
        "from autohybrid.cli.main import main\n"
        "code = main(['check', '--no-cache', '--output-format', 'github', '-'])\n"
        "print(code, [m for m in sys.modules if m.startswith(('libcst', 'numpy', 'autohybrid.transform'))])"
    )
    source = forward("return F.relu(x)[1:]")
    run = subprocess.run([sys.executable, "-c", code], input=source, capture_output=True, text=True, check=False)
    assert run.stdout.strip().split("\n")[-1] == "1 []", run.stderr


def test_a_short_report_counts_every_fix_and_a_long_one_says_at_least() -> None:
    def summary(count: int) -> str:
        body = "\n".join([*["y = x / x.max().asscalar()"] * count, "return F.relu(x)[1:] + y"])
        command = [sys.executable, "-m", "autohybrid", "check", "--no-cache", "-"]
        run = subprocess.run(command, input=forward(body), capture_output=True, text=True, check=False)
        return run.stdout.strip().split("\n")[-1]

    assert summary(2) == "1 fixable with `--fix`, 2 more with `--fix --unsafe-fixes`."
    assert summary(120) == "At least 1 fixable with `--fix --unsafe-fixes`."


@pytest.mark.parametrize("body", ["return F.relu(x)[1:]", "return x / x.max().asscalar()"])
def test_one_fix_is_found_in_thirty_milliseconds(body: str) -> None:
    source = forward(body)
    findings = judge(analyze([SourceFile("net.py", source)], AnalysisSettings()))
    times = []
    for _ in range(5):
        start = time.perf_counter()
        assert complete(findings[:1], lambda path: source)[0].fixes
        times.append(time.perf_counter() - start)
    assert min(times) < 0.03
