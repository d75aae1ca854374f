"""ClassTable: what names of modules mean, and what classes are: their ancestors, methods and kind of block.

Owns name resolution across files (through the index, never by importing) and the method resolution order.
"""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING

from autohybrid.analysis.index import Binding, ClassInfo, FunctionNode, ModuleInfo, decorator_names
from autohybrid.analysis.libraries import BlockFacts, attribute_of_library, external, find_library_block
from autohybrid.analysis.values import (
    ClassRef,
    External,
    Func,
    ModuleRef,
    Namespace,
    Seq,
    Unknown,
    Value,
    union,
)

if TYPE_CHECKING:
    from autohybrid.analysis.frame import Session

_BUILTINS = frozenset(dir(builtins))
_REPLACING = frozenset({"contextmanager", "asynccontextmanager", "property", "cached_property", "singledispatch"})
_STAR_MODULES = ("mxnet.gluon", "mxnet.gluon.nn", "mxnet.gluon.rnn", "mxnet.gluon.loss")

HYBRID, PLAIN, NO_BLOCK = "hybrid", "plain", ""


class ClassTable:
    """Resolves names of modules and answers questions about classes, each once."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._mro: dict[ClassInfo, tuple[ClassInfo | str, ...]] = {}
        self._kinds: dict[ClassInfo, str] = {}
        self._external: dict[tuple[str, str], Value] = {}
        self._attributes: dict[tuple[ClassInfo, str], Value] = {}
        self._stars: dict[str, list[tuple[str, ModuleInfo | None]]] = {}

    def release(self) -> None:
        """Let go of everything resolved."""
        for table in (self._mro, self._kinds, self._external, self._attributes, self._stars):
            table.clear()

    # -- names ------------------------------------------------------------------------------------------------------
    def lookup_global(self, module: ModuleInfo, name: str) -> Value:
        """The value of a name of a module, or of a builtin."""
        known = module.globals.get(name)
        if known is not None:
            return known
        module.globals[name] = Unknown("circular definition")
        bindings = module.bindings.get(name)
        if bindings is not None:
            values = [self._bound_value(module, binding) for binding in bindings[-4:]]
            value = values[0] if len(values) == 1 else union(values)
        else:
            value = self._unbound(module, name)
        module.globals[name] = value
        return value

    def _unbound(self, module: ModuleInfo, name: str) -> Value:
        for source, other in self._star_sources(module) if module.stars else ():
            if other is not None and other is not module:
                if name in other.bindings or other.stars:
                    value = self.lookup_global(other, name)
                    if not (isinstance(value, Unknown) or (isinstance(value, External) and name in _BUILTINS)):
                        return value
            elif source.startswith(_STAR_MODULES):
                candidate = external(f"{source}.{name}")
                if isinstance(candidate, External) and find_library_block(candidate.name) is not None:
                    return candidate
        if name in _BUILTINS:
            return External(f"builtins.{name}")
        return Unknown(f"`{name}` is not defined in this module")

    def _star_sources(self, module: ModuleInfo) -> list[tuple[str, ModuleInfo | None]]:
        """The modules that `from ... import *` takes from: their full names, and those of the project."""
        known = self._stars.get(module.file.path)
        if known is None:
            names = [self._absolute(module, dotted, level) for dotted, level in module.stars]
            known = [(name, self._session.index.find_module(name, module)) for name in names]
            self._stars[module.file.path] = known
        return known

    def _bound_value(self, module: ModuleInfo, binding: Binding) -> Value:
        node = binding.node
        if binding.kind == "module":
            return self.module_value(binding.dotted, module)
        if binding.kind == "member":
            return self._member(module, binding)
        if binding.kind == "function" and isinstance(node, FunctionNode):
            if decorator_names(node) & _REPLACING:
                return Unknown("a decorator replaces the function")
            return Func(node, module)
        if binding.kind == "class" and isinstance(node, ast.ClassDef):
            return ClassRef(module.class_of_node[node])
        if binding.kind == "expression" and isinstance(node, ast.expr):
            value = self.evaluate_global(module, node)
            if binding.position is None:
                return value
            if isinstance(value, Seq) and value.items is not None and binding.position < len(value.items):
                return value.items[binding.position]
        return Unknown("bound by a statement that is not followed")

    def evaluate_global(self, module: ModuleInfo, node: ast.expr) -> Value:
        """The value of an expression at the level of a module; no event comes of it."""
        if node.__class__ is ast.Name:
            return self.lookup_global(module, node.id)
        from autohybrid.analysis.frame import Frame

        return Frame(self._session, module, quiet=True).eval(node)

    def module_value(self, dotted: str, near: ModuleInfo) -> Value:
        """A module by its full name: of the project, or external."""
        found = self._session.index.find_module(dotted, near)
        return ModuleRef(found) if found is not None and found is not near else external(dotted)

    def imported(self, module: ModuleInfo, node: ast.ImportFrom, name: str) -> Value:
        """The value that `from ... import name` inside a function binds."""
        return self._member(module, Binding("member", node, node.module or "", name, node.level))

    def _absolute(self, module: ModuleInfo, dotted: str, level: int) -> str:
        if level == 0:
            return dotted
        package = module.package_of(level)
        return f"{package}.{dotted}" if package and dotted else package or dotted

    def _member(self, module: ModuleInfo, binding: Binding) -> Value:
        source = self._absolute(module, binding.dotted, binding.level)
        other = self._session.index.find_module(source, module)
        if other is not None and other is not module:
            value = self.attribute_of_module(ModuleRef(other), binding.member)
            return Unknown("not found in its module") if isinstance(value, External) else value
        sub = self._session.index.find_module(f"{source}.{binding.member}" if source else binding.member, module)
        if sub is not None and sub is not module:
            return ModuleRef(sub)
        if binding.level and not source:
            return Unknown("relative import outside a package")
        return external(f"{source}.{binding.member}")

    def attribute_of_module(self, value: Value, name: str) -> Value:
        """`module.name` for a module of the project or a name of a library."""
        if isinstance(value, ModuleRef):
            module = value.module
            if name in module.bindings:
                return self.lookup_global(module, name)
            sub = self._session.index.find_module(f"{module.name}.{name}", module)
            if sub is not None:
                return ModuleRef(sub)
            starred = self._unbound(module, name) if module.stars else Unknown("not in the module")
            return Unknown("not in the module") if isinstance(starred, External) else starred
        if isinstance(value, External):
            key = (value.name, name)
            known = self._external.get(key)
            if known is None:
                found = self._session.index.find_module(f"{value.name}.{name}")
                known = ModuleRef(found) if found is not None else attribute_of_library(value, name)
                self._external[key] = known
            return known
        if isinstance(value, Namespace):
            return attribute_of_library(value, name)
        return Unknown("no module")

    # -- classes ----------------------------------------------------------------------------------------------------
    def mro(self, info: ClassInfo) -> tuple[ClassInfo | str, ...]:
        """The class and its ancestors in the order of lookup; a class outside the project is its dotted name, one that
        cannot be resolved is an empty text."""
        known = self._mro.get(info)
        if known is not None:
            return known
        self._mro[info] = (info,)
        order: list[ClassInfo | str] = [info]
        for base in info.node.bases:
            for ancestor in self._base(info, base):
                if ancestor in order:
                    order.remove(ancestor)
                order.append(ancestor)
        self._mro[info] = tuple(order)
        return self._mro[info]

    def _base(self, info: ClassInfo, base: ast.expr) -> tuple[ClassInfo | str, ...]:
        if isinstance(base, ast.Subscript):
            base = base.value
        value = self._class_value(info, base)
        if isinstance(value, ClassRef):
            return () if value.info is info else self.mro(value.info)
        if isinstance(value, External):
            return (value.name,)
        return ("",)

    def _class_value(self, info: ClassInfo, base: ast.expr) -> Value:
        if isinstance(base, ast.Name) and info.in_function:
            for other in info.module.classes:
                if other.name == base.id and other is not info:
                    return ClassRef(other)
        value = self.evaluate_global(info.module, base)
        for member in getattr(value, "members", ()):
            if isinstance(member, ClassRef | External):
                return member
        return value

    def block_kind(self, info: ClassInfo) -> str:
        """HYBRID, PLAIN or NO_BLOCK. A class of an unknown base that defines `hybrid_forward` is taken for hybrid."""
        known = self._kinds.get(info)
        if known is None:
            self._kinds[info] = NO_BLOCK
            known = self._kinds[info] = self._find_kind(info)
        return known

    def _find_kind(self, info: ClassInfo) -> str:
        unresolved = False
        for ancestor in self.mro(info):
            if isinstance(ancestor, ClassInfo):
                if ancestor.name == "HybridBlock" or self._is_named_base(ancestor.name):
                    return HYBRID
                if ancestor.name == "Block" and "hybrid_forward" not in info.methods:
                    return PLAIN
                continue
            facts = find_library_block(ancestor)
            if facts is not None:
                return HYBRID if facts.hybrid else PLAIN
            if ancestor and self._is_named_base(ancestor):
                return HYBRID
            unresolved = unresolved or not ancestor or not ancestor.startswith("builtins.")
        if unresolved and self.find_method(info, "hybrid_forward") is not None:
            return HYBRID
        return NO_BLOCK

    def _is_named_base(self, dotted: str) -> bool:
        bases = self._session.settings.block_bases
        return bool(bases) and (dotted in bases or dotted.rpartition(".")[2] in bases)

    def library_base(self, info: ClassInfo) -> BlockFacts | None:
        """The first ancestor that is a block of the library."""
        for ancestor in self.mro(info):
            if isinstance(ancestor, str):
                facts = find_library_block(ancestor)
                if facts is not None:
                    return facts
        return None

    def find_method(self, info: ClassInfo, name: str) -> tuple[ClassInfo, FunctionNode] | None:
        """The class that defines a method and its definition, along the ancestors that are part of the project."""
        for ancestor in self._mro.get(info) or self.mro(info):
            if ancestor.__class__ is ClassInfo:
                node = ancestor.methods.get(name)
                if node is not None:
                    return ancestor, node
        return None

    def find_after(self, info: ClassInfo, after: ClassInfo, name: str) -> tuple[ClassInfo, FunctionNode] | None:
        """As `find_method`, but only among the ancestors that come after `after`: what `super()` finds."""
        order = self.mro(info)
        start = order.index(after) + 1 if after in order else 0
        for ancestor in order[start:]:
            if isinstance(ancestor, ClassInfo):
                node = ancestor.methods.get(name)
                if node is not None:
                    return ancestor, node
        return None

    def class_attribute(self, info: ClassInfo, name: str) -> Value | None:
        """The value of an attribute set in the body of the class or of an ancestor."""
        for ancestor in self.mro(info):
            if isinstance(ancestor, ClassInfo) and name in ancestor.attributes:
                known = self._attributes.get((ancestor, name))
                if known is None:
                    known = self.evaluate_global(ancestor.module, ancestor.attributes[name])
                    self._attributes[(ancestor, name)] = known
                return known
        return None

    def is_known(self, info: ClassInfo) -> bool:
        """Whether every ancestor is known, so that a missing attribute is really missing."""
        return all(isinstance(ancestor, ClassInfo) or ancestor == "builtins.object" for ancestor in self.mro(info))
