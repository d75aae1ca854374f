"""Facts per expression, and fields taken from live objects."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from autohybrid.analysis.facts import Facts, analyze_function
from autohybrid.analysis.project import analyze_live
from autohybrid.analysis.source import SourceFile
from autohybrid.analysis.values import Seq, Static, Tensor, Unknown, Value
from autohybrid.diagnostics.judge import judge
from autohybrid.diagnostics.rule import forward

LIVE = """
import autohybrid as mx
from autohybrid.gluon import HybridBlock, nn


class Net(HybridBlock):
    def __init__(self, parts, noisy, plain=False):
        super().__init__()
        self.parts, self.noisy = parts, noisy
        self.table = {"a": [1, 2]}
        self.fc = nn.Dense(3)

    def hybrid_forward(self, F, x):
        first = F.split(x, num_outputs=self.parts, axis=1)[0]
        if self.noisy:
            first += 1
        return self.fc(first) * self.table["a"][1]
"""


def facts_of(source: str, name: str = "Net.hybrid_forward") -> Facts:
    return analyze_function([SourceFile("net.py", source)], "net.py", name)


def value_of(source: str, text: str) -> Value:
    facts = facts_of(source)
    lines = source.split("\n")
    for span, value in facts.values.items():
        if span.line == span.end_line and lines[span.line - 1][span.column - 1 : span.end_column - 1] == text:
            return value
    raise AssertionError(f"{text} was not reached")


def test_values_and_their_reasons() -> None:
    source = forward("y = self.fc(F.relu(x))\nn = self.k + 1\nreturn y * n", init="self.fc = nn.Dense(3)\nself.k = 2")
    y = value_of(source, "self.fc(F.relu(x))")
    assert isinstance(y, Tensor) and y.sure and y.origin is not None and y.origin.cause is not None
    assert value_of(source, "self.k + 1") == Static("int", 3)
    assert isinstance(facts_of(source).result, Tensor)


def test_outputs_of_operators_are_sequences() -> None:
    source = forward("a, b = F.split(x, num_outputs=2, axis=1)\nreturn a - b")
    value = value_of(source, "F.split(x, num_outputs=2, axis=1)")
    assert isinstance(value, Seq) and value.kind == "outputs" and value.items is not None and len(value.items) == 2


def test_unknown_says_why() -> None:
    source = forward("return unheard_of(x)")
    value = value_of(source, "unheard_of(x)")
    assert isinstance(value, Unknown) and "unheard_of" in value.reason


def test_plain_function() -> None:
    facts = facts_of("def f(F, x):\n    return F.relu(x) * 2\n", "f")
    assert isinstance(facts.result, Tensor) and facts.events == ()


def test_missing_function_is_an_error() -> None:
    with pytest.raises(KeyError):
        facts_of("x = 1\n", "f")
    with pytest.raises(SyntaxError):
        facts_of("def f(:\n", "f")


@pytest.fixture
def live(tmp_path: Path) -> Iterator[ModuleType]:
    path = tmp_path / "live_net_of_test.py"
    path.write_text(LIVE)
    spec = importlib.util.spec_from_file_location("live_net_of_test", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def codes(block: object) -> list[str]:
    return [finding.code for finding in judge({"live": analyze_live(block)})]


def test_live_fields_decide_what_the_constructor_leaves_open(live: ModuleType) -> None:
    assert codes(live.Net(2, noisy=False)) == []
    assert codes(live.Net(1, noisy=False)) == ["AH106"]
    assert codes(live.Net(2, noisy=True)) == ["AH109"]


def test_a_child_is_found_below_a_container(live: ModuleType) -> None:
    from autohybrid.gluon import nn

    net = nn.HybridSequential()
    net.add(live.Net(2, noisy=True))
    assert codes(net) == ["AH109"]


def test_a_block_without_source_has_no_events() -> None:
    from autohybrid.gluon import nn

    assert analyze_live(nn.Dense(3)) == ()
