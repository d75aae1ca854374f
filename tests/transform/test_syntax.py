"""Walking syntax trees: the places are those of LibCST, and what does not change is kept."""

from __future__ import annotations

from pathlib import Path

import libcst as cst
import pytest
from libcst.metadata import MetadataWrapper, PositionProvider

import autohybrid
from autohybrid.transform.syntax import code_and_places, positions, rebuild, walk

_ROOT = Path(autohybrid.__file__).parent
_FILES = sorted(p.relative_to(_ROOT).as_posix() for p in (*_ROOT.glob("gluon/*.py"), *_ROOT.glob("transform/*.py")))
_ODD = """
@decorated(a, b=[*c])
def f(x: int, /, y=(1, 2), *args, z: str = "ä" "b", **kw) -> "t":  # comment

    with a as b, c:
        x[1:2, ::3] += (yield)
    try:
        return f"{x!r:>{y}} {z}"
    except (A, B) as error: pass
    else:
        lambda u, *v: u if v else not u
    while x < y <= z: x, *y = {**a, "b": c}; continue
"""


def ranges(module: cst.Module) -> dict[int, tuple[int, int, int, int]]:
    found = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
    return {id(n): (r.start.line, r.start.column, r.end.line, r.end.column) for n, r in found.items()}


@pytest.mark.parametrize("name", ["odd", *_FILES])
def test_places_are_those_of_libcst(name: str) -> None:
    source = _ODD if name == "odd" else (_ROOT / name).read_text("utf-8")
    module = cst.parse_module(source)
    assert positions(module) == ranges(module)
    text, places = code_and_places(module)
    assert text == source
    assert {id(node): place for node, place in places} == positions(module)


def test_a_node_that_stands_twice_has_two_places() -> None:
    line = cst.parse_statement("x = y\n")
    _, places = code_and_places(cst.Module([line, line]))
    assert [place for node, place in places if node is line] == [(1, 0, 1, 5), (2, 0, 2, 5)]


def test_walk_passes_every_name_and_stops_at_closed_kinds() -> None:
    module = cst.parse_module(_ODD)
    names = {n.value for n in walk(module) if isinstance(n, cst.Name)}
    assert names >= {"decorated", "a", "c", "f", "x", "int", "args", "z", "kw", "error", "A", "u", "v"}
    assert {n.value for n in walk(module, (cst.FunctionDef,)) if isinstance(n, cst.Name)} == set()


def test_rebuild_keeps_what_does_not_change() -> None:
    module = cst.parse_module("a = f(b, c=d)\ne = 1\n")

    def rename(node: cst.CSTNode) -> cst.CSTNode:
        if isinstance(node, cst.Name) and node.value == "d":
            return node.with_changes(value="changed")
        return rebuild(node, rename)

    changed = rebuild(module, rename)
    assert changed.code == "a = f(b, c=changed)\ne = 1\n"
    assert changed.body[1] is module.body[1]
    assert rebuild(module, lambda node: node) is module
