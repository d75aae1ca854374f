"""The fields of live objects as values: what `hybridize()` knows and `check` can only read from `__init__`.

Nothing of the run-time is imported: blocks, parameters and arrays are told by what they have. Only attributes that are
already there are read; no property, `__getattr__` or other code of the user runs.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from autohybrid.analysis.libraries import LIBRARY_BLOCKS
from autohybrid.analysis.source import SourceFile
from autohybrid.analysis.values import (
    NEVER,
    NONE,
    Instance,
    Layer,
    Map,
    Parameter,
    Static,
    Tensor,
    Unknown,
    Value,
    join,
    make_seq,
    union,
)

if TYPE_CHECKING:
    from autohybrid.analysis.frame import Session
    from autohybrid.analysis.index import ClassInfo

_SCALARS = {int: "int", float: "float", str: "str", bool: "bool", bytes: "bytes"}
_MAX_DEPTH = 4
_MAX_ITEMS = 64


class LiveFields:
    """A `FieldSource` over the objects below one block; objects of one class are joined."""

    def __init__(self, session: Session, root: object) -> None:
        self._session = session
        self._fields: dict[tuple[str, str], Mapping[str, Value]] = {}
        for block in blocks_below(root):
            self._add(block)

    def find_field(self, info: ClassInfo, name: str) -> Value | None:
        """The value of a field in the objects of this class."""
        return self.all_fields(info).get(name)

    def all_fields(self, info: ClassInfo) -> Mapping[str, Value]:
        """Every field of the objects of this class."""
        return self._fields.get((info.module.file.path, info.qualname), {})

    def _add(self, block: object) -> None:
        path = source_path(type(block))
        if path is None:
            return
        key = (path, type(block).__qualname__.replace(".<locals>", ""))
        fields = {name: self._value(item, _MAX_DEPTH) for name, item in _attributes(block).items()}
        known = self._fields.get(key)
        self._fields[key] = fields if known is None else _joined(known, fields)

    def _value(self, thing: object, depth: int) -> Value:
        if thing is None:
            return NONE
        scalar = _SCALARS.get(type(thing))
        if scalar is not None:
            return Static(scalar, thing)
        if depth == 0:
            return Unknown("deeply nested")
        if isinstance(thing, list | tuple):
            kind = "tuple" if isinstance(thing, tuple) else "list"
            return make_seq(kind, (self._value(item, depth - 1) for item in thing[:_MAX_ITEMS]))
        if isinstance(thing, dict):
            items = list(thing.items())[:_MAX_ITEMS]
            known = [(key, self._value(item, depth - 1)) for key, item in items if type(key) in _SCALARS]
            rest = NEVER if len(known) == len(thing) else Unknown("item of a dictionary")
            return Map(tuple(known), rest)
        return self._object(thing, depth)

    def _object(self, thing: object, depth: int) -> Value:
        attributes = _attributes(thing)
        if "_children" in attributes and "_reg_params" in attributes:
            return self._block(thing, attributes, depth)
        if "_grad_req" in attributes or "_deferred_init" in attributes:
            return _parameter(attributes)
        if type(thing).__name__ == "NDArray":
            return Tensor(graph=False)
        if hasattr(type(thing), "__array_interface__"):
            return Static("numpy")
        path = source_path(type(thing))
        info = None if path is None else self._session.index.find_class(path, type(thing).__qualname__)
        return Instance(info) if info is not None else Unknown(f"an object of class {type(thing).__name__}")

    def _block(self, block: object, attributes: Mapping[str, Any], depth: int) -> Value:
        for cls in type(block).__mro__:
            path = source_path(cls)
            info = None if path is None else self._session.index.find_class(path, cls.__qualname__)
            if info is not None:
                return Instance(info)
            facts = LIBRARY_BLOCKS.get(cls.__name__)
            if facts is not None and _is_library(cls):
                children: list[Value] = [self._value(child, depth - 1) for child in attributes["_children"].values()]
                open_shape = any(_parameter(_attributes(p)).deferred for p in attributes["_reg_params"].values())
                return Layer(facts, open_shape, union(children))
        return Unknown("a block")


def _joined(left: Mapping[str, Value], right: Mapping[str, Value]) -> dict[str, Value]:
    joined = dict(left)
    for name, value in right.items():
        joined[name] = join(joined[name], value) if name in joined else value
    return joined


def _attributes(thing: object) -> Mapping[str, Any]:
    """The attributes of an object that are stored in it; parameters and children of a block among them."""
    found: dict[str, Any] = dict(getattr(thing, "__dict__", {}))
    for slot in (name for cls in type(thing).__mro__ for name in cls.__dict__.get("__slots__", ())):
        descriptor = type(thing).__dict__.get(slot)
        if descriptor is not None and hasattr(descriptor, "__objclass__") and slot not in found:
            try:
                found[slot] = descriptor.__get__(thing)
            except AttributeError:
                continue
    return found


def _parameter(attributes: Mapping[str, Any]) -> Parameter:
    shape = attributes.get("_shape")
    name = str(attributes.get("_name", attributes.get("name", "")))
    if not isinstance(shape, tuple):
        return Parameter(name, None, shape is None)
    sizes = tuple(size if isinstance(size, int) and size > 0 else None for size in shape)
    return Parameter(name, sizes, None in sizes)


def _is_library(cls: type) -> bool:
    return cls.__module__.partition(".")[0] in ("autohybrid", "mxnet")


def blocks_below(root: object) -> Iterator[object]:
    """A block and every block below it, each once."""
    seen: set[int] = set()
    waiting = [root]
    while waiting:
        block = waiting.pop()
        if id(block) in seen:
            continue
        seen.add(id(block))
        yield block
        children = _attributes(block).get("_children")
        if isinstance(children, dict):
            waiting.extend(children.values())


def source_path(cls: type) -> str | None:
    """The file of a class outside the library, None when there is none."""
    if _is_library(cls):
        return None
    path = getattr(sys.modules.get(cls.__module__), "__file__", None)
    if not isinstance(path, str):  # a module that was run, or loaded by hand, need not be in sys.modules
        codes = (getattr(value, "__code__", None) for value in vars(cls).values())
        path = next((code.co_filename for code in codes if code is not None), None)
    return path if isinstance(path, str) and path.endswith(".py") else None


def source_files(root: object) -> list[SourceFile]:
    """The files that the blocks below `root` may run: those of their classes and the loaded modules of the same
    packages. A file that cannot be read is left out."""
    paths: dict[str, str] = {}
    packages: set[str] = set()
    for block in blocks_below(root):
        for cls in type(block).__mro__:
            path = source_path(cls)
            if path is not None:
                paths[path] = cls.__module__
                packages.add(cls.__module__.partition(".")[0])
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None)
        if isinstance(path, str) and path.endswith(".py") and name.partition(".")[0] in packages:
            paths.setdefault(path, name)
    files = []
    for path, name in paths.items():
        # As the interpreter has it: a module may come from a text that is on no disk.
        linecache.checkcache(path)
        text = "".join(linecache.getlines(path))
        if not text:
            continue
        files.append(SourceFile(path, text, name if name != "__main__" else None))
    return files
