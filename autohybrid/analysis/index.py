"""Modules and classes of the project: what each name of a module is bound to, found by reading, never by importing.

Owns `ModuleInfo` (bindings of one file), `ClassInfo` (bases, methods, class attributes) and `ProjectIndex` (which file
is which module). Files are parsed when they are first asked for.
"""

from __future__ import annotations

import ast
import posixpath
import re
import symtable
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from autohybrid.analysis.nodes import find_calls
from autohybrid.analysis.source import SourceFile, SourceText
from autohybrid.analysis.values import Value
from autohybrid.records import record

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
_NO_NAMES: frozenset[str] = frozenset()
_NESTED_CLASS = re.compile(r"\n[ \t\f]+class\s")
_MARK = "\ufeff"
_COMPOUND = (ast.If, ast.Try, ast.With, ast.For, ast.While, ast.AsyncWith, ast.AsyncFor)


@record
class Binding:
    """What a statement binds a name to. `kind`: module, member (of a module), function, class, expression, other."""

    kind: str
    node: ast.AST | None = None
    dotted: str = ""
    member: str = ""
    level: int = 0
    position: int | None = None


@dataclass(eq=False, slots=True)
class ClassInfo:
    """A class statement. `bases` and everything that needs names of other modules is resolved by the session."""

    node: ast.ClassDef
    module: ModuleInfo
    qualname: str
    methods: dict[str, FunctionNode] = field(default_factory=dict)
    attributes: dict[str, ast.expr] = field(default_factory=dict)
    annotations: dict[str, ast.expr | None] = field(default_factory=dict)
    outer: ClassInfo | None = None
    in_function: bool = False

    @property
    def name(self) -> str:
        """The bare name of the class."""
        return self.node.name

    def decorated_as(self, method: str) -> frozenset[str]:
        """Last names of the decorators of a method: property, staticmethod, setter, ..."""
        node = self.methods.get(method)
        return decorator_names(node) if node is not None else frozenset()


def decorator_names(node: FunctionNode | ast.ClassDef) -> frozenset[str]:
    """The last name of each decorator: `functools.wraps(f)` is ``wraps``."""
    if not node.decorator_list:
        return _NO_NAMES
    names = set()
    for decorator in node.decorator_list:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        if isinstance(target, ast.Attribute):
            names.add(target.attr)
        elif isinstance(target, ast.Name):
            names.add(target.id)
    return frozenset(names)


@dataclass(eq=False, slots=True)
class ModuleInfo:
    """One parsed file. `globals` caches the values of its names.

    Of the syntax tree only classes, signatures and bound expressions are kept: most functions of a module are never
    followed, and trees are what fills the memory. `restore` reads the body of a function again.
    """

    file: SourceFile
    name: str
    is_package: bool
    text: SourceText
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    stars: list[tuple[str, int]] = field(default_factory=list)
    classes: list[ClassInfo] = field(default_factory=list)
    functions: list[FunctionNode] = field(default_factory=list)
    globals: dict[str, Value] = field(default_factory=dict)
    class_of_node: dict[ast.ClassDef, ClassInfo] = field(default_factory=dict)
    has_nested_classes: bool = True

    def restore(self, node: FunctionNode) -> None:
        """Give a function of the module its body back, with the positions it had."""
        lines = self.text.lines[node.lineno - 1 : node.end_lineno]
        again = parse("\n" * (node.lineno - 1) + "\n".join(lines)).body[0]
        if isinstance(again, FunctionNode):
            node.body = again.body

    def calls_of(self, name: str) -> list[ast.Call]:
        """The calls in the file of what has this last name. Only what holds the name is looked through."""
        called = re.compile(rf"\b{name}\s*\(|\b{name}$")
        lines = [number for number, line in enumerate(self.text.lines, 1) if name in line and called.search(line)]
        roots: list[ast.AST] = []
        for node in (*self.functions, *(info.node for info in self.classes if not (info.outer or info.in_function))):
            inside = {line for line in lines if node.lineno <= line <= (node.end_lineno or node.lineno)}
            if inside:
                if isinstance(node, FunctionNode) and not node.body:
                    self.restore(node)
                roots.append(node)
                lines = [line for line in lines if line not in inside]
        return find_calls([parse(self.file.text)] if lines else roots, name)

    def package_of(self, level: int) -> str:
        """The package a relative import of `level` dots starts from."""
        parts = self.name.split(".")
        drop = level - 1 if self.is_package else level
        return ".".join(parts[: len(parts) - drop]) if drop < len(parts) else ""


class ProjectIndex:
    """Which file holds which module. Parsing happens on demand and once. `read` are the files asked for by name."""

    def __init__(self, files: Iterable[SourceFile]) -> None:
        self.files: dict[str, SourceFile] = {}
        self.errors: dict[str, SyntaxError] = {}
        self.read: set[str] = set()
        self._by_name: dict[str, list[str]] = {}
        self._parsed: dict[str, ModuleInfo | None] = {}
        self._names: dict[str, tuple[str, bool]] = {}
        for file in files:
            self.files[file.path] = file
        self._name_files()

    def _name_files(self) -> None:
        packages = {posixpath.dirname(path) for path in self.files if path.endswith("__init__.py")}
        self._by_name.clear()
        for path, file in self.files.items():
            name, is_package = _module_name(file, packages)
            self._names[path] = (name, is_package)
            self._by_name.setdefault(name, []).append(path)

    def replace(self, file: SourceFile) -> None:
        """Take a new text of a file, or a new file."""
        is_new = file.path not in self.files
        self.files[file.path] = file
        self._parsed.pop(file.path, None)
        self.errors.pop(file.path, None)
        if is_new:
            self._name_files()

    def release(self) -> None:
        """Let go of everything read, so that the trees are freed at once and not by the collector of cycles."""
        for module in self.parsed:
            for info in module.classes:
                info.methods.clear()
                info.attributes.clear()
                info.annotations.clear()
                info.node.body = []
            module.globals.clear()
            module.bindings.clear()
            module.classes.clear()
            module.functions.clear()
            module.class_of_node.clear()
        self._parsed.clear()

    def remove(self, path: str) -> None:
        """Forget a file."""
        del self.files[path]
        self._parsed.pop(path, None)
        self.errors.pop(path, None)
        self._name_files()

    def name_of(self, path: str) -> str:
        """The dotted name of the module in a file."""
        return self._names[path][0]

    def find_module(self, name: str, near: ModuleInfo | None = None) -> ModuleInfo | None:
        """The module of this dotted name; of several files with one name, the one that lies nearest to `near`."""
        paths = self._by_name.get(name)
        if not paths:
            return None
        path = paths[0]
        if len(paths) > 1 and near is not None:
            path = max(paths, key=lambda candidate: _common_prefix(candidate, near.file.path))
        self.read.add(path)
        return self.module_of(path)

    def module_of(self, path: str) -> ModuleInfo | None:
        """The parsed module of a file; None when it does not parse (see `errors`)."""
        if path not in self._parsed:
            self._parsed[path] = None
            self._parsed[path] = self._parse(path)
        return self._parsed[path]

    def check(self, path: str) -> None:
        """Look for a syntax error in a file that was not needed: a table of its symbols is cheaper than a tree."""
        if path in self._parsed:
            return
        try:
            symtable.symtable(self.files[path].text.removeprefix(_MARK), path, "exec")
        except SyntaxError as error:
            self.errors[path] = error
            self._parsed[path] = None
        except (ValueError, RecursionError, MemoryError, OverflowError):
            self.module_of(path)

    def find_class(self, path: str, qualname: str) -> ClassInfo | None:
        """The class of this qualified name in a file; of several, the last, which is what a name is bound to."""
        module = self.module_of(path) if path in self.files else None
        if module is None:
            return None
        return next((info for info in reversed(module.classes) if info.qualname == qualname), None)

    @property
    def parsed(self) -> Iterator[ModuleInfo]:
        """The modules parsed so far."""
        return (module for module in list(self._parsed.values()) if module is not None)

    def _parse(self, path: str) -> ModuleInfo | None:
        file = self.files[path]
        try:
            tree = parse(file.text)
        except SyntaxError as error:
            self.errors[path] = error
            return None
        name, is_package = self._names[path]
        module = ModuleInfo(file, name, is_package, SourceText(path, file.text))
        module.has_nested_classes = _NESTED_CLASS.search(file.text) is not None or "\r" in file.text
        _bind_statements(module, tree.body, None, "", False)
        return module


def parse(text: str) -> ast.Module:
    """The syntax tree of a file. Raises SyntaxError for everything that Python cannot parse, whatever Python says."""
    try:
        return ast.parse(text.removeprefix(_MARK))
    except SyntaxError:
        raise
    except (ValueError, RecursionError, MemoryError, OverflowError) as error:
        raise SyntaxError(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__) from error


def _module_name(file: SourceFile, packages: set[str]) -> tuple[str, bool]:
    folder, name = posixpath.split(file.path.replace("\\", "/"))
    is_package = name == "__init__.py"
    if file.module is not None:
        return file.module, is_package
    stem = posixpath.splitext(name)[0]
    parts = [] if is_package else [stem]
    while folder in packages and posixpath.basename(folder):
        folder, package = posixpath.split(folder)
        parts.append(package)
    return ".".join(reversed(parts)) or stem, is_package


def _common_prefix(left: str, right: str) -> int:
    count = 0
    for a, b in zip(left, right):
        if a != b:
            break
        count += 1
    return count


def _bind(module: ModuleInfo, outer: ClassInfo | None, name: str, binding: Binding) -> None:
    if outer is None:
        module.bindings.setdefault(name, []).append(binding)


def _bind_statements(
    module: ModuleInfo, body: list[ast.stmt], outer: ClassInfo | None, prefix: str, in_function: bool
) -> None:
    """Record what the statements of a module, class or function bind, and every class among them."""
    for statement in body:
        if isinstance(statement, ast.ClassDef):
            _bind_class(module, statement, outer, prefix, in_function)
        elif isinstance(statement, FunctionNode):
            _bind_function(module, statement, outer, prefix, in_function)
        elif isinstance(statement, _COMPOUND):
            for inner in _blocks_of(statement):
                _bind_statements(module, inner, outer, prefix, in_function)
            if not in_function:
                _bind_compound(module, statement, outer)
        elif not in_function:
            _bind_simple(module, statement, outer)


def _blocks_of(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(statement, name, None)
        if block:
            yield block
    for handler in getattr(statement, "handlers", ()):
        yield handler.body


def _bind_compound(module: ModuleInfo, statement: ast.stmt, outer: ClassInfo | None) -> None:
    if isinstance(statement, ast.For | ast.AsyncFor):
        _bind_target(module, outer, statement.target, Binding("other", statement))
    elif isinstance(statement, ast.With | ast.AsyncWith):
        for item in statement.items:
            if item.optional_vars is not None:
                _bind_target(module, outer, item.optional_vars, Binding("other", statement))


def _bind_class(
    module: ModuleInfo, node: ast.ClassDef, outer: ClassInfo | None, prefix: str, in_function: bool
) -> None:
    qualname = f"{prefix}.{node.name}" if prefix else node.name
    info = ClassInfo(node, module, qualname, outer=outer, in_function=in_function)
    module.classes.append(info)
    module.class_of_node[node] = info
    if not in_function:
        _bind(module, outer, node.name, Binding("class", node))
    _bind_statements(module, node.body, info, qualname, in_function)


def _bind_function(
    module: ModuleInfo, node: FunctionNode, outer: ClassInfo | None, prefix: str, in_function: bool
) -> None:
    if outer is not None:
        names = decorator_names(node)
        if "setter" not in names and "overload" not in names:
            outer.methods[node.name] = node
    elif not in_function:
        module.functions.append(node)
        _bind(module, outer, node.name, Binding("function", node))
    classes = len(module.classes)
    if module.has_nested_classes:
        _bind_nested_classes(module, node, f"{prefix}.{node.name}" if prefix else node.name)
    if outer is None and not in_function and node.col_offset == 0 and len(module.classes) == classes:
        node.body = []


def _bind_nested_classes(module: ModuleInfo, node: FunctionNode, prefix: str) -> None:
    for statement in node.body:
        if isinstance(statement, ast.ClassDef):
            _bind_class(module, statement, None, prefix, True)
        elif isinstance(statement, FunctionNode):
            _bind_nested_classes(module, statement, f"{prefix}.{statement.name}")
        elif isinstance(statement, _COMPOUND):
            for block in _blocks_of(statement):
                for inner in block:
                    if isinstance(inner, ast.ClassDef):
                        _bind_class(module, inner, None, prefix, True)


def _bind_simple(module: ModuleInfo, statement: ast.stmt, outer: ClassInfo | None) -> None:
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            dotted = alias.name if alias.asname else alias.name.partition(".")[0]
            _bind(module, outer, alias.asname or dotted, Binding("module", statement, dotted))
    elif isinstance(statement, ast.ImportFrom):
        for alias in statement.names:
            if alias.name == "*":
                module.stars.append((statement.module or "", statement.level))
                continue
            binding = Binding("member", statement, statement.module or "", alias.name, statement.level)
            _bind(module, outer, alias.asname or alias.name, binding)
    elif isinstance(statement, ast.Assign):
        for target in statement.targets:
            _bind_target(module, outer, target, Binding("expression", statement.value))
            if outer is not None and isinstance(target, ast.Name):
                outer.attributes[target.id] = statement.value
    elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        if outer is not None:
            outer.annotations[statement.target.id] = statement.value
        if statement.value is not None:
            _bind(module, outer, statement.target.id, Binding("expression", statement.value))
            if outer is not None:
                outer.attributes[statement.target.id] = statement.value
    elif isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        _bind(module, outer, statement.target.id, Binding("other", statement))


def _bind_target(module: ModuleInfo, outer: ClassInfo | None, target: ast.expr, binding: Binding) -> None:
    if isinstance(target, ast.Name):
        _bind(module, outer, target.id, binding)
    elif isinstance(target, ast.Tuple | ast.List):
        for position, element in enumerate(target.elts):
            if isinstance(element, ast.Name):
                _bind(module, outer, element.id, Binding(binding.kind, binding.node, position=position))
