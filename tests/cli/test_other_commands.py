"""`rule`, `config`, `completions`, help and version."""

from __future__ import annotations

import json
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from cli_support import Cli

import autohybrid
from autohybrid.cli.dispatch import command_names, load_command, make_parser
from autohybrid.config import KEYS, Settings, json_schema, read_settings, to_table
from autohybrid.diagnostics.rules import load_rules


def test_version(cli: Cli) -> None:
    assert cli("--version").out == f"autohybrid {autohybrid.__version__}\n"
    assert cli("-V").out == cli("--version").out


def test_help_lists_every_command_and_no_command_exits_2(cli: Cli) -> None:
    result = cli("--help")
    assert result.code == 0
    assert all(f"\n  {name} " in result.out for name in command_names())
    assert cli().code == 2


@pytest.mark.parametrize("name", command_names())
def test_every_command_has_a_summary_and_helps(cli: Cli, name: str) -> None:
    summary = (load_command(name).__doc__ or "").splitlines()[0]
    assert summary.endswith(".")
    assert f"  {name:<14}{summary}\n" in cli("--help").out
    result = cli(name, "--help")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith(f"usage: autohybrid {name}")
    assert cli("help", name).out == result.out
    assert all(action.help for action in make_parser(name, load_command(name))._actions)


def test_an_unknown_command_names_the_nearest(cli: Cli, tmp_path: Path) -> None:
    assert "did you mean `check`?" in cli("chek").err
    (tmp_path / "net.py").write_text("")
    result = cli("net.py")
    assert (result.code, "did you mean `autohybrid check net.py`?" in result.err) == (2, True)
    assert "did you mean `--version`?" in cli("--versio").err


def test_rule_explains_one_and_lists_many(cli: Cli) -> None:
    one = cli("rule", "AH900")
    assert one.out.startswith("AH900 unused-suppression: ")
    assert cli("explain", "unused-suppression").out == one.out
    listed = cli("rule").out
    assert all(f"  {rule.code}  {rule.name}" in listed for rule in load_rules())
    assert cli("rule", "AH9").out.splitlines()[0] == "AH9xx suppressions and fallback"
    assert "did you mean" in cli("rule", "AH9x").err
    objects = json.loads(cli("rule", "--output-format", "json").out)
    assert [item["code"] for item in objects] == [rule.code for rule in load_rules()]
    assert cli("rule", "--all").out.count("\nFamily: ") == len(load_rules())


def test_config_shows_what_applies_as_toml(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "autohybrid.toml").write_text('select = ["AH1"]\njobs = 2\nper-file-ignores = {"tests/**" = ["AH2"]}\n')
    result = cli("config")
    assert result.out.startswith(f"# from {tmp_path / 'autohybrid.toml'}\n")
    table = tomllib.loads(result.out)
    assert (table["select"], table["jobs"], table["per-file-ignores"]) == (["AH1"], 2, {"tests/**": ["AH2"]})
    assert set(table) == {key.name for key in KEYS}
    (tmp_path / "autohybrid.toml").write_text(result.out)
    assert tomllib.loads(cli("config").out) == table
    assert cli("config", "jobs").out.endswith("jobs = 2\n")
    assert cli("config", "--isolated", "jobs").out.endswith('jobs = "auto"\n')
    assert "did you mean `select`?" in cli("config", "selct").err


def test_the_shipped_schema_is_the_one_of_the_keys(cli: Cli) -> None:
    path = Path(autohybrid.__file__).with_name("config.schema.json")
    assert json.loads(path.read_text()) == json_schema() == json.loads(cli("config", "--schema").out)


def test_the_schema_accepts_what_is_read_and_refuses_what_is_not(tmp_path: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json_schema()
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    assert validator.is_valid(to_table(Settings()))
    for wrong in ({"selct": []}, {"select": "AH1"}, {"jobs": 0}, {"severity": {"AH1": "fatal"}}, {"fix": 1}):
        assert not validator.is_valid(wrong)
        (tmp_path / "autohybrid.toml").write_text(
            "\n".join(f"{key} = {json.dumps(value).replace(':', ' =')}" for key, value in wrong.items())
        )
        with pytest.raises(ValueError, match=next(iter(wrong))):
            read_settings(str(tmp_path / "autohybrid.toml"))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completions_know_every_command_and_flag(cli: Cli, tmp_path: Path, shell: str) -> None:
    script = cli("completions", shell).out
    for name in command_names():
        assert name in script
    assert "write-baseline" in script and "json-lines" in script
    program = shutil.which(shell)
    if program:
        (tmp_path / "script").write_text(script)
        subprocess.run([program, "-n", str(tmp_path / "script")], check=True, timeout=30)


@pytest.mark.skipif(not shutil.which("bash"), reason="bash is not installed")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["autohybrid", "co"], {"completions", "config", "convert"}),
        (["autohybrid", "check", "--write"], {"--write-baseline"}),
        (["autohybrid", "check", "--output-format", "json"], {"json", "json-lines"}),
    ],
)
def test_bash_completes(cli: Cli, tmp_path: Path, words: list[str], expected: set[str]) -> None:
    script = cli("completions", "bash").out
    listed = " ".join(f"'{word}'" for word in words)
    script += f'\nCOMP_WORDS=({listed}); COMP_CWORD={len(words) - 1}; _autohybrid; echo "${{COMPREPLY[@]}}"\n'
    run = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert set(run.stdout.split()) == expected


def test_bad_shells_and_keys_exit_2(cli: Cli) -> None:
    assert "did you mean `fish`?" in cli("completions", "fsh").err
    assert cli("completions").code == 2


_NET = """\
import autohybrid as mx


class Net(mx.gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        return F.tanh(x) * 2
"""


def test_show_profile_times_every_step_and_writes_a_trace(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(_NET)
    result = cli("show", "net.py:Net", "--input", "4x4", "--profile", "--trace", "trace.json")
    assert (result.code, result.err) == (0, "")
    assert {line.split()[1] for line in result.out.splitlines()[1:-1]} == {"tanh", "_mul_scalar"}
    assert len(json.loads((tmp_path / "trace.json").read_text())["traceEvents"]) == 2


def test_show_profile_needs_inputs_and_a_trace_needs_a_profile(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(_NET)
    result = cli("show", "net.py:Net", "--profile")
    assert result.code == 2 and "--input SHAPE" in result.err
    result = cli("show", "net.py:Net", "--trace", "t.json")
    assert result.code == 2 and "--profile" in result.err
