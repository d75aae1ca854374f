"""Lowering takes the source that a function was compiled from, or none."""

from __future__ import annotations

import importlib
import inspect
import linecache
import sys
import textwrap
import types
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import autohybrid as mx
from autohybrid.errors import SourceUnavailableWarning
from autohybrid.transform.source_check import is_source_of

_NET = """\
import autohybrid as mx


class Net(mx.gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        y = x * {factor}
        return F.relu(y)
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Any, Path]]:
    """A module with a block, and the file that it was imported from."""
    path = tmp_path / "edited_later.py"
    path.write_text(_NET.format(factor=2))
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("edited_later"), path
    sys.modules.pop("edited_later")


def test_an_edited_file_is_not_taken_for_the_source(module: tuple[Any, Path]) -> None:
    imported, path = module
    path.write_text(_NET.format(factor=333))
    linecache.checkcache(str(path))
    net = imported.Net()
    net.hybridize()
    with pytest.warns(SourceUnavailableWarning, match="edited after it was imported"):
        result = net(mx.nd.ones((2,)))
    assert result.asnumpy().tolist() == [2, 2]


def test_code_of_exec_under_the_name_of_a_real_file_is_not_taken_for_its_lines() -> None:
    scope: dict[str, Any] = {}
    exec(compile(_NET.format(factor=5), __file__, "exec"), scope)
    net = scope["Net"]()
    net.hybridize()
    with pytest.warns(SourceUnavailableWarning):
        result = net(mx.nd.ones((2,)))
    assert result.asnumpy().tolist() == [5, 5]


def test_the_unchanged_file_is_its_source(module: tuple[Any, Path]) -> None:
    net = module[0].Net()
    net.hybridize()
    with warnings.catch_warnings():
        warnings.simplefilter("error", SourceUnavailableWarning)
        assert net(mx.nd.ones((2,))).asnumpy().tolist() == [2, 2]


def _functions(module: types.ModuleType) -> list[types.FunctionType]:
    found: list[types.FunctionType] = []
    for value in vars(module).values():
        members = vars(value).values() if isinstance(value, type) else [value]
        found += [m for m in members if isinstance(m, types.FunctionType) and m.__module__ == module.__name__]
    return [f for f in found if f.__code__.co_name != "<lambda>" and f.__code__.co_filename == module.__file__]


@pytest.mark.parametrize("name", ["autohybrid.gluon.block", "autohybrid.gluon.rnn.cells", "argparse", "dataclasses"])
def test_every_function_of_a_module_is_known_by_its_source(name: str) -> None:
    functions = _functions(importlib.import_module(name))
    assert functions
    for function in functions:
        lines, _ = inspect.getsourcelines(function.__code__)
        assert is_source_of(textwrap.dedent("".join(lines)), function.__code__), function


def _closures() -> list[types.FunctionType]:
    value, other = 2, 3

    class Inner:
        __private = 1

        def method(self) -> Any:
            """Text over
            two lines."""
            return self.__private, super().__init__, [value + i for i in range(other)]

        def with_function(self) -> Any:
            def helper(x: int = 4) -> Any:
                return self.__private, x, value

            return helper

    helper = Inner().with_function()
    assert isinstance(helper, types.FunctionType)
    return [Inner.method, Inner.with_function, helper]  # type: ignore[list-item]


@pytest.mark.parametrize("function", _closures(), ids=lambda f: f.__name__)
def test_closures_private_names_and_texts_are_known(function: types.FunctionType) -> None:
    lines, _ = inspect.getsourcelines(function.__code__)
    assert is_source_of(textwrap.dedent("".join(lines)), function.__code__)


@pytest.mark.parametrize("changed", ["return x + 2", "return x - 1", "return y + 1", "return (lambda: x)() + 1"])
def test_any_change_of_the_body_is_seen(changed: str) -> None:
    scope: dict[str, Any] = {}
    exec("def f(x):\n    return x + 1\n", scope)
    assert is_source_of("def f(x):\n    return x + 1\n", scope["f"].__code__)
    assert not is_source_of(f"def f(x):\n    {changed}\n", scope["f"].__code__)


@pytest.mark.parametrize(
    "changed", ["return y - x", "return x - z", "x = y\n    return x - y", "return math.ceil(x) - y"]
)
def test_swapped_names_are_seen_where_the_module_decides_how_calls_are_compiled(changed: str) -> None:
    scope: dict[str, Any] = {}
    body = "def f(x, y, z):\n    math.floor(z)\n    {}\n"
    exec("import math\n" + body.format("return x - y"), scope)
    assert is_source_of(body.format("return x - y"), scope["f"].__code__)
    assert not is_source_of(body.format(changed), scope["f"].__code__)


@pytest.mark.parametrize("text", ["", "def f(x:\n", "def g(x):\n    return x + 1\n", "f = 1\n"])
def test_what_is_no_such_definition_is_not_its_source(text: str) -> None:
    scope: dict[str, Any] = {}
    exec("def f(x):\n    return x + 1\n", scope)
    assert not is_source_of(text, scope["f"].__code__)
