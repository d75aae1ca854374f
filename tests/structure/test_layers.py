"""The import table of the design, checked against every import statement of the package.

A module may import modules of its own layer and of lower ones, and third-party packages only where the table says so.
Imports inside functions count as well; only `if TYPE_CHECKING:` blocks do not, since they never run.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "autohybrid"
FILES = sorted(PACKAGE.rglob("*.py"))

# The longest prefix that fits decides; files directly under `autohybrid/` are of layer 0, folders that are not named
# belong to the run-time API of layer 5.
LEAVES, RUN_TIME_API = 0, 5
LAYERS: dict[str, int] = {
    "diagnostics/model.py": 1,
    "diagnostics/codes.py": 1,
    "analysis": 2,
    "tensor": 2,
    "diagnostics": 3,
    "graph": 3,
    "ndarray": 3,
    "numpy": 3,
    "numpy_extension": 3,
    "symbol": 3,
    "transform": 4,
    "interop": 4,
    "compat": 6,
    "cli": 6,
    "proving": 6,
    "lsp": 6,
}
# The records of the operators, which the linter loads: they, and all of `tensor` that they import, are of layer 1 and
# free of numpy, for kernels receive their namespace.
RECORDS = ("tensor/opdef.py", "tensor/ops")

# What an import of a third-party package is allowed in; "*" is everything at run time, which computes with numpy.
THIRD_PARTY: dict[str, tuple[str, ...]] = {
    "numpy": ("*",),
    "cupy": ("tensor/backend.py",),
    "rich": (
        "diagnostics/render/full.py",
        "diagnostics/report.py",
        "gluon/summary.py",
        "graph/profile_table.py",
        "cli",
    ),
    "libcst": ("transform",),
    "onnx": ("interop",),
    "pygls": ("lsp",),
    "lsprotocol": ("lsp",),
    "matplotlib": ("*",),
    "graphviz": ("*",),
    "cv2": ("*",),
    "PIL": ("*",),
    "scipy": ("tensor",),
    "requests": ("gluon/utils",),
}
# Never at run time: what the linter and the command line consist of.
LINTER = ("analysis", "diagnostics", "cli", "lsp")
# Not installed with autohybrid: imported inside the function that needs them, so that nothing else needs them.
OPTIONAL = ("cupy", "onnx", "matplotlib", "graphviz", "cv2", "PIL", "scipy", "requests")
# The records of the operators, which the linter loads: they, and all of `tensor` that they import, are of layer 1 and
# free of numpy, for kernels receive their namespace.
RECORDS = ("tensor/opdef.py", "tensor/ops")


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def is_under(name: str, prefix: str) -> bool:
    return name == prefix or name.startswith(prefix + "/")


@cache
def records() -> frozenset[str]:
    """The files of the operator records and, transitively, those of `tensor` that they import."""
    found = {name_of(path) for path in FILES if any(is_under(name_of(path), prefix) for prefix in RECORDS)}
    queue = list(found)
    while queue:
        for _, dotted in imports_of(PACKAGE / queue.pop()):
            target = find_module(dotted) if dotted.startswith("autohybrid.tensor") else None
            if target and target != "tensor/__init__.py" and target not in found:
                found.add(target)
                queue.append(target)
    return frozenset(found)


def layer_of(name: str) -> int:
    if name in records():
        return 1
    if "/" not in name:
        return LEAVES
    fitting = [prefix for prefix in LAYERS if is_under(name, prefix)]
    return LAYERS[max(fitting, key=len)] if fitting else RUN_TIME_API


def is_allowed(name: str, package: str) -> bool:
    places = THIRD_PARTY.get(package, ())
    if "*" in places:
        return layer_of(name) > 1 and not any(is_under(name, prefix) for prefix in LINTER)
    return any(is_under(name, prefix) for prefix in places)


def imports_of(path: Path) -> Iterator[tuple[int, str]]:
    """Line and absolute dotted name of everything imported when the module, or a function of it, runs."""
    stack: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            stack.extend(node.orelse)
            continue
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            assert node.module is not None
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)
        stack.extend(ast.iter_child_nodes(node))


def top_level_imports_of(path: Path) -> set[str]:
    """The packages that importing the module imports, whatever it imports later inside functions."""
    found: set[str] = set()
    stack: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while stack:
        node = stack.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        if isinstance(node, ast.Import):
            found.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.split(".")[0])
        if not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)):
            stack.extend(ast.iter_child_nodes(node))
    return found


def find_module(dotted: str) -> str | None:
    """The file of the package that `autohybrid.a.b.c` names: the module itself, or the one that holds `c`."""
    parts = dotted.split(".")[1:]
    while True:
        base = PACKAGE.joinpath(*parts)
        for candidate in (base.with_suffix(".py") if parts else base, base / "__init__.py"):
            if candidate.is_file():
                return name_of(candidate)
        if not parts:
            return None
        parts = parts[:-1]


def test_the_table_names_only_what_exists() -> None:
    prefixes = {*LAYERS, *LINTER, *RECORDS} - {"lsp", "compat"}
    assert not [prefix for prefix in prefixes if not (PACKAGE / prefix).exists()]


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_imports_go_downwards(path: Path) -> None:
    name = name_of(path)
    if name in ("__init__.py", "__main__.py"):
        return
    wrong: list[str] = []
    for line, dotted in imports_of(path):
        if dotted.split(".")[0] != "autohybrid":
            continue
        target = find_module(dotted)
        if target not in (None, "__init__.py") and layer_of(str(target)) > layer_of(name):
            wrong.append(f"{name}:{line} (layer {layer_of(name)}) imports {target} (layer {layer_of(str(target))})")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_third_party_packages_are_imported_where_the_table_allows(path: Path) -> None:
    name = name_of(path)
    wrong: list[str] = []
    for line, dotted in imports_of(path):
        top = dotted.split(".")[0]
        if top == "autohybrid" or top in sys.stdlib_module_names:
            continue
        if not is_allowed(name, top):
            wrong.append(f"{name}:{line} imports {top}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_optional_packages_are_imported_where_they_are_used(path: Path) -> None:
    assert not top_level_imports_of(path) & set(OPTIONAL)


def test_the_checks_above_can_fail(tmp_path: Path) -> None:
    source = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import numpy\ndef f():\n    import rich.text\n"
    path = tmp_path / "a.py"
    path.write_text(source)
    assert top_level_imports_of(path) == {"typing"}
    assert sorted(dotted for _, dotted in imports_of(path)) == ["rich.text", "typing.TYPE_CHECKING"]
    assert {"tensor/opdef.py", "tensor/shapes.py"} < records()
    assert layer_of("diagnostics/model.py") < layer_of("tensor/array.py") < layer_of("diagnostics/engine.py")
    assert not is_allowed("analysis/values.py", "numpy") and not is_allowed("spans.py", "numpy")
    assert not is_allowed("tensor/ops/dot.py", "numpy") and is_allowed("gluon/block.py", "numpy")
    assert find_module("autohybrid.spans.Span") == "spans.py"
    assert find_module("autohybrid.diagnostics.render") == "diagnostics/render/__init__.py"
