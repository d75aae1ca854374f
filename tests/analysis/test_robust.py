"""The analysis never raises and never hangs: hostile texts, deep nesting, long files, the standard library."""

from __future__ import annotations

import json
import random
import re
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autohybrid.analysis.events import Event, EventKind
from autohybrid.analysis.project import AnalysisSettings, analyze
from autohybrid.analysis.source import SourceFile
from autohybrid.diagnostics.judge import judge
from autohybrid.diagnostics.rule import forward
from autohybrid.diagnostics.rules import load_rules


def events_of(text: str) -> tuple[Event, ...]:
    return analyze([SourceFile("net.py", text)], AnalysisSettings())["net.py"]


SEEDS = [case.source for rule in load_rules() for case in rule.invalid if "class Net" in case.source]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.binary(max_size=300))
def test_any_bytes(data: bytes) -> None:
    text = "from mxnet.gluon import HybridBlock\n" + data.decode("utf-8", "replace")
    judge(analyze([SourceFile("net.py", text)], AnalysisSettings()))


@pytest.mark.parametrize("seed", range(8))
def test_mutated_blocks(seed: int) -> None:
    chance = random.Random(seed)
    words = [
        "x",
        "self",
        "F",
        "[0]",
        ".shape",
        "(",
        ")",
        "\n",
        "    ",
        "for ",
        "if ",
        "yield ",
        "*",
        "lambda: ",
        "=",
        "None",
    ]
    for _ in range(40):
        text = chance.choice(SEEDS)
        for _ in range(chance.randint(1, 6)):
            place = chance.randrange(len(text))
            text = text[:place] + chance.choice(words) + text[place + chance.randint(0, 3) :]
        judge(analyze([SourceFile("net.py", text)], AnalysisSettings()))


@pytest.mark.parametrize(
    "body",
    [
        "return x" + " + 1" * 3000,
        "return " + "-" * 900 + "x",
        "return " + "(" * 80 + "x" + ")" * 80,
        "y = " + "[" * 80 + "x" + "]" * 80 + "\nreturn x",
        "return x" + ".relu()" * 1500,
        "return x" + "[0]" * 800,
        "if self.a == 0:\n    y = x\n"
        + "".join(f"elif self.a == {n}:\n    y = x + {n}\n" for n in range(1, 700))
        + "return y",
        "return " + " and ".join(["x"] * 2000),
        "return " + "lambda: " * 200 + "x",
    ],
    ids=["sum", "minus", "parentheses", "lists", "methods", "subscripts", "elif", "and", "lambda"],
)
def test_deep_nesting(body: str) -> None:
    found = events_of(forward(body))
    assert all(isinstance(event, Event) for event in found)


def test_nested_blocks() -> None:
    lines = ["for i in range(2):"]
    for depth in range(1, 18):
        lines.append("    " * depth + ("while self.n:" if depth % 2 else "for j in range(3):"))
    lines.append("    " * 18 + "x = x + 1")
    started = time.process_time()
    events_of(forward("\n".join([*lines, "return x"]), init="self.n = 3"))
    assert time.process_time() - started < 20


def test_functions_that_call_each_other() -> None:
    helpers = "\n\n".join(
        f"def f{n}(F, x):\n    return f{(n + 1) % 30}(F, x) + f{(n + 7) % 30}(F, x * {n})" for n in range(30)
    )
    started = time.process_time()
    events_of(forward("return f0(F, x)", before=helpers))
    assert time.process_time() - started < 20


@pytest.mark.parametrize(
    "body",
    [
        "t = x\n" + "t = (t, t)\n" * 60 + "return x",
        "d = {}\n" + "".join(f"d['k{n}'] = (x, d, [d])\n" for n in range(60)) + "return x",
        "t = []\nfor i in range(9):\n    for j in range(9):\n        t = [t, {'a': t}]\n        t.append(t)\nreturn x",
        "t = [x]\nfor i in range(self.n):\n    t = [t, t]\n    u = t + t * 12\n    t = [u for v in t]\nreturn x",
        "f = functools.partial(F.relu)\n" + "f = functools.partial(f, f)\n" * 40 + "return x",
        "net = nn.HybridSequential()\n" + "net.add(net)\n" * 60 + "return net(x)",
    ],
    ids=["tuples", "dictionaries", "loops", "sums", "partials", "containers"],
)
def test_values_that_double_at_every_step(body: str) -> None:
    started = time.process_time()
    events_of(forward(body, before="import functools"))
    assert time.process_time() - started < 5


def test_long_file() -> None:
    body = "\n".join(f"y = F.relu(x) + {n}" for n in range(49_000))
    started = time.process_time()
    assert events_of(forward(body + "\nreturn y.shape")) != ()
    assert time.process_time() - started < 30


def test_syntax_error_leaves_other_files_alone() -> None:
    good = forward("y = F.relu(x)\nreturn y.shape")
    result = analyze([SourceFile("bad.py", "def f(:"), SourceFile("good.py", good)], AnalysisSettings())
    assert [event.kind for event in result["bad.py"]] == [EventKind.SYNTAX_ERROR]
    assert [event.kind for event in result["good.py"]] == [EventKind.ATTRIBUTE]


@pytest.mark.slow
def test_standard_library() -> None:
    import os

    root = Path(os.__file__).parent
    files = [path for path in sorted(root.rglob("*.py")) if "site-packages" not in path.parts]
    texts = [SourceFile(str(path), path.read_bytes().decode("utf-8", "replace")) for path in files]
    assert len(texts) > 500
    findings = judge(analyze(texts, AnalysisSettings()))
    assert {finding.code for finding in findings} <= {"AH000"}


def test_standard_library_as_blocks() -> None:
    """Every eighth file with its classes made hybrid blocks and a method of each its `hybrid_forward`: code of every
    style is followed, in entries, constructors and helpers."""
    root = Path(json.__file__).parent.parent
    paths = [path for path in sorted(root.rglob("*.py")) if not {"site-packages", "test"} & set(path.parts)][::8]
    texts = []
    for path in paths:
        text = re.sub(r"(?m)^(\s*class \w+)[^:\n]*:", r"\1(HybridBlock):", path.read_bytes().decode("utf-8", "replace"))
        text = re.sub(r"def (?!__)\w+\(self", "def hybrid_forward(self", text)
        texts.append(SourceFile(str(path), f"from mxnet.gluon import HybridBlock\n{text}"))
    started = time.process_time()
    found = analyze(texts, AnalysisSettings())
    judge(found)
    assert sum(len(events) for events in found.values()) > 100
    assert not [event for events in found.values() for event in events if event.kind is EventKind.TOO_DEEP]
    assert time.process_time() - started < 20
