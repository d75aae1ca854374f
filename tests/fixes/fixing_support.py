"""Sources through `check --fix` in memory, as the command runs it: in rounds, until nothing changes."""

from __future__ import annotations

from autohybrid.cli.fixing import FixRun, run_with_fixes
from autohybrid.diagnostics.engine import Request
from autohybrid.diagnostics.rule import forward


def run_fixes(source: str, *, unsafe: bool = True) -> FixRun:
    """The run of the fixes on one text."""
    return run_with_fixes(Request(("net.py",), stdin=source.encode()), unsafe=unsafe)


def fixed(source: str, *, unsafe: bool = True) -> str:
    """The text after the fixes; a second run must not change it."""
    after = run_fixes(source, unsafe=unsafe).after.get("net.py", source)
    assert not run_fixes(after, unsafe=unsafe).after
    return after


def fixed_body(body: str, inputs: str = "x", init: str = "", before: str = "", *, unsafe: bool = True) -> str:
    """The body of `hybrid_forward` after the fixes."""
    text = fixed(forward(body, inputs, init, before), unsafe=unsafe)
    lines = text.split("\n")
    start = next(number for number, line in enumerate(lines) if "def hybrid_forward" in line) + 1
    return "\n".join(line[8:] for line in lines[start:]).rstrip("\n")
