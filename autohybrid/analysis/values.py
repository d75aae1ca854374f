"""The abstract values of the interpreter, and their laws: join, widen, and what a union holds.

A value says what an expression can be, never what it is in one run. Each carries an `Origin`, the reason for the
belief, which takes no part in equality. `Unknown` is a value with a reason and is never reported. Joining, widening
and narrowing of values happen here and nowhere else.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from autohybrid.records import record

if TYPE_CHECKING:
    from autohybrid.analysis.frame import Frame
    from autohybrid.analysis.index import ClassInfo, ModuleInfo
    from autohybrid.analysis.libraries import BlockFacts

MAX_UNION = 4
MAX_ITEMS = 12
MAX_SIZE = 300


class _Any:
    """The constant that is not known."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "ANY"


ANY = _Any()


@record
class Origin:
    """Why a value is believed: `note` is true of `node`, because of `cause`."""

    module: ModuleInfo
    node: ast.AST
    note: str
    cause: Origin | None = None


@record
class InputKey:
    """An argument of an analysed function: what is assumed about it is settled when all its uses are known."""

    path: str
    line: int
    name: str


@record
class Value:
    """Base of all values."""


@record
class Never(Value):
    """The value of code that is not reached."""


@record
class Unknown(Value):
    """Anything; `reason` says why nothing is known. `field` is the constructor argument it came from, if any."""

    reason: str = ""
    field: tuple[object, str] | None = field(default=None, compare=False)


@record
class Static(Value):
    """A Python value that is no tensor: `type` is the name of its type, `const` the value or ANY.

    `taint` says what decides it: ``"shape"``, ``"training"``, ``"state"``. `field` is the constructor argument it came
    from, as `(class, argument)`, so that the constants given to it can be looked up.
    """

    type: str
    const: object = ANY
    taint: str = ""
    field: tuple[object, str] | None = field(default=None, compare=False)


@record
class Tensor(Value):
    """A tensor. `graph`: a Symbol once hybridized (else an NDArray in both modes).

    `sure`: certainly one tensor; `listlike`: the code treats it as a list of tensors; `key`: the argument it is, while
    unchanged; `depends`: its value depends on an input or parameter; `shape`: sizes, None for an unknown one;
    `single`: the operator that could have had several outputs and has one; `reduced`: the origin of the tensor over
    whose axes it was summed (or averaged, ...) so that it broadcasts against that tensor; `like`: the origin of the
    tensor whose shape it has, where that is another one (see `shape_origin`).
    """

    graph: bool = True
    sure: bool = True
    listlike: bool = False
    key: InputKey | None = None
    depends: bool = True
    shape: tuple[int | None, ...] | None = None
    single: str = ""
    origin: Origin | None = field(default=None, compare=False)
    reduced: Origin | None = field(default=None, compare=False)
    like: Origin | None = field(default=None, compare=False)

    @property
    def shape_origin(self) -> Origin | None:
        """What stands for its shape: tensors with the same one have equal shapes, whatever these are."""
        return self.origin if self.like is None else self.like


@record
class Seq(Value):
    """A sequence: `kind` is list, tuple, outputs (of an operator), set, range, iterator, view. `items` are known one by
    one, or `element` stands for each; `names` are those of the fields of a named tuple;
    `default`: it is the default of an argument."""

    kind: str
    items: tuple[Value, ...] | None = None
    element: Value = Unknown("element")
    origin: Origin | None = field(default=None, compare=False)
    names: tuple[str, ...] = ()
    default: bool = False
    size: int = field(default=1, init=False, compare=False)

    def __post_init__(self) -> None:
        size = 1
        for value in self.items if self.items is not None else (self.element,):
            size += size_of(value)
        if size > MAX_SIZE:
            object.__setattr__(self, "items", None)
            object.__setattr__(self, "element", Unknown("part of a large container"))
            size = 1
        object.__setattr__(self, "size", size)


@record
class RecordType(Value):
    """A class made by `namedtuple` or a NamedTuple statement: its name and its fields."""

    name: str
    fields: tuple[str, ...]


@record
class Map(Value):
    """A dictionary: known `items`, and `element` for any other key. `default`: it is the default of an argument."""

    items: tuple[tuple[object, Value], ...] = ()
    element: Value = Never()
    default: bool = False
    size: int = field(default=1, init=False, compare=False)

    def __post_init__(self) -> None:
        size = 1 + sum(size_of(value) for _, value in self.items) + size_of(self.element)
        if size > MAX_SIZE:
            object.__setattr__(self, "items", ())
            object.__setattr__(self, "element", Unknown("part of a large container"))
            size = 1
        object.__setattr__(self, "size", size)


@record
class Parameter(Value):
    """A gluon Parameter of the block (before it is passed to `hybrid_forward` as a tensor)."""

    name: str = ""
    shape: tuple[int | None, ...] | None = None
    deferred: bool = False
    origin: Origin | None = field(default=None, compare=False)


@record
class Layer(Value):
    """An instance of a block class of the library: `facts` say what it is, `deferred` that a shape was left open,
    `children` what was added to a container."""

    facts: BlockFacts
    deferred: bool = False
    children: Value = Never()
    node: ast.AST | None = field(default=None, compare=False)


@record
class Namespace(Value):
    """`root` is F (nd or sym, decided by the call), nd, sym, np or npx; `path` a sub-namespace such as contrib."""

    root: str
    path: str = ""


@record
class Operator(Value):
    """An operator of a namespace: `name` is dotted below the root, for example ``contrib.box_nms``."""

    root: str
    name: str


@record
class External(Value):
    """A name of a module that is not part of the project, by its full dotted name."""

    name: str


@record
class ModuleRef(Value):
    """A module of the project."""

    module: ModuleInfo


@record
class Func(Value):
    """A function or lambda of the project, with the frame it was defined in and, for a method, its receiver."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    module: ModuleInfo
    closure: Frame | None = field(default=None, compare=False)
    owner: ClassInfo | None = None
    receiver: Value | None = None


@record
class ClassRef(Value):
    """A class of the project."""

    info: ClassInfo


@record
class Instance(Value):
    """An object of a class of the project. `ident` names its fields in the environment; 0 is the analysed `self`."""

    info: ClassInfo
    ident: int = -1


@record
class Method(Value):
    """A method of a value that is no object of the project: `x.sum`, `names.append`."""

    receiver: Value
    name: str


@record
class Partial(Value):
    """`functools.partial`."""

    function: Value
    args: tuple[Value, ...]
    keywords: tuple[tuple[str, Value], ...] = ()


@record
class Super(Value):
    """`super()` inside a method of `owner`, on `receiver`."""

    owner: ClassInfo
    receiver: Value


@record
class Union(Value):
    """One of two to MAX_UNION values."""

    members: tuple[Value, ...]


NONE = Static("none", None)
NEVER = Never()
TRUE = Static("bool", True)
FALSE = Static("bool", False)


def size_of(value: Value) -> int:
    """How many values are inside; containers above MAX_SIZE forget theirs, so that no value grows without end."""
    kind = value.__class__
    if kind is Seq or kind is Map:
        return value.size  # type: ignore[attr-defined,no-any-return]
    return sum(size_of(member) for member in value.members) if isinstance(value, Union) else 1


def members_of(value: Value) -> tuple[Value, ...]:
    """The alternatives of a value: the members of a union, or the value alone."""
    return value.members if value.__class__ is Union else (value,)


def join(left: Value, right: Value) -> Value:
    """The least value that holds what either holds."""
    if left is right:
        return left
    left_class, right_class = left.__class__, right.__class__
    if left_class is Never:
        return right
    if right_class is Never:
        return left
    if left_class is Unknown or right_class is Unknown:
        return left if left_class is Unknown else right
    if left_class is Union or right_class is Union:
        return union((*members_of(left), *members_of(right)))
    if left_class is right_class:
        merged = _merge(left, right)
        if merged is not None:
            return merged
    return Union((left, right))


def union(values: Iterable[Value]) -> Value:
    """Join of many values, flat and without repetitions."""
    kept: list[Value] = []
    for value in values:
        for member in value.members if value.__class__ is Union else (value,):
            kind = member.__class__
            if kind is Unknown:
                return member
            if kind is not Never and len(kept) <= MAX_UNION:
                _add_member(kept, member)
    if not kept:
        return NEVER
    if len(kept) == 1:
        return kept[0]
    if len(kept) > MAX_UNION:
        return Unknown("too many kinds of value")
    return Union(tuple(kept))


def _add_member(kept: list[Value], member: Value) -> None:
    for position, other in enumerate(kept):
        if other is member:
            return
        if other.__class__ is member.__class__:
            merged = _merge(other, member)
            if merged is not None:
                kept[position] = merged
                return
    kept.append(member)


def _merge(left: Value, right: Value) -> Value | None:
    """Join of two values of one class as one value of that class, or None where both must be kept."""
    merge = _MERGES.get(left.__class__)
    if merge is not None:
        return merge(left, right)
    return left if left == right else None


def _merge_layer(left: Layer, right: Layer) -> Layer | None:
    if left.facts is not right.facts:
        return None
    if left.children == right.children and left.deferred == right.deferred:
        return left
    children = join(left.children, right.children)
    return replace(left, deferred=left.deferred and right.deferred, children=children)


def _merge_instance(left: Instance, right: Instance) -> Instance | None:
    if left.info is not right.info:
        return None
    return left if left.ident == right.ident else Instance(left.info)


def _merge_operator(left: Operator, right: Operator) -> Operator | None:
    if left.name != right.name or left.root == right.root:
        return left if left == right else None
    return Operator("F", left.name) if {left.root, right.root} <= {"F", "nd", "sym"} else None


def _merge_roots(left: Namespace, right: Namespace) -> Namespace | None:
    """`mx.nd` or `mx.sym`, whichever fits the tensors, is what `F` is."""
    if left.path != right.path or left.root == right.root:
        return left if left == right else None
    return Namespace("F", left.path) if {left.root, right.root} <= {"F", "nd", "sym"} else None


def _merge_static(left: Static, right: Static) -> Static | None:
    if left.type != right.type:
        return None
    if left.const is right.const and left.taint == right.taint:
        return left
    same = type(left.const) is type(right.const) and left.const == right.const
    return Static(left.type, left.const if same else ANY, left.taint or right.taint, left.field or right.field)


def _merge_tensor(left: Tensor, right: Tensor) -> Tensor | None:
    if left.graph != right.graph:
        return None
    if left == right:
        return left
    return Tensor(
        graph=left.graph,
        sure=left.sure and right.sure,
        listlike=left.listlike or right.listlike,
        key=left.key if left.key == right.key else None,
        depends=left.depends or right.depends,
        shape=left.shape if left.shape == right.shape else None,
        single=left.single if left.single == right.single else "",
        origin=left.origin or right.origin,
    )


def _merge_seq(left: Seq, right: Seq) -> Seq:
    kind = left.kind if left.kind == right.kind else "list"
    if left.items is not None and right.items is not None and len(left.items) == len(right.items):
        names = left.names if left.names == right.names else ()
        return Seq(kind, tuple(join(a, b) for a, b in zip(left.items, right.items)), NEVER, left.origin, names)
    return Seq(kind, None, join(element_of(left), element_of(right)), left.origin)


def _merge_map(left: Map, right: Map) -> Map:
    if left == right:
        return left
    merged = dict(left.items)
    for key, value in right.items:
        merged[key] = join(merged[key], value) if key in merged else value
    default = left.default or right.default
    return Map(tuple(merged.items()), join(left.element, right.element), default)


_MERGES: Mapping[type[Value], Callable[[Any, Any], Value | None]] = {
    Static: _merge_static,
    Tensor: _merge_tensor,
    Seq: _merge_seq,
    Map: _merge_map,
    Layer: _merge_layer,
    Instance: _merge_instance,
    Namespace: _merge_roots,
    Operator: _merge_operator,
}


def element_of(value: Seq) -> Value:
    """What one element of a sequence can be."""
    return value.element if value.items is None else union(value.items)


def widen(old: Value, new: Value) -> Value:
    """Join for loops: sequences and unions that still grow lose their single items, so that loops end."""
    joined = join(old, new)
    if joined.__class__ is Seq and joined != old:
        seq: Seq = joined
        if seq.items is not None and (old.__class__ is not Seq or len(seq.items) > MAX_ITEMS):
            return Seq(seq.kind, None, element_of(seq), seq.origin)
    return joined


def make_seq(kind: str, items: Iterable[Value], origin: Origin | None = None) -> Seq:
    """A sequence of known items, or of their join when there are too many to keep apart."""
    listed = tuple(items)
    if len(listed) > MAX_ITEMS:
        return Seq(kind, None, union(listed), origin)
    return Seq(kind, listed, NEVER, origin)


def tensors_in(value: Value) -> tuple[Tensor | None, bool]:
    """The tensor a value can be and whether it is certainly that one, `None` apart (an optional tensor is a tensor
    wherever its methods are called)."""
    kind = value.__class__
    if kind is Tensor:
        return value, value.sure  # type: ignore[return-value,attr-defined]
    if kind is not Union:
        return None, False
    found: Tensor | None = None
    certain = True
    for member in value.members:  # type: ignore[attr-defined]
        if isinstance(member, Tensor):
            found = member if found is None else _merge_tensor(found, member) or found
        elif not (isinstance(member, Static) and member.type == "none"):
            certain = False
    return found, certain and found is not None and found.sure


def without(value: Value, unwanted: type[Value]) -> Value:
    """The value without its members of one class; NEVER when nothing is left."""
    return union(member for member in members_of(value) if not isinstance(member, unwanted))


def without_none(value: Value) -> Value:
    """The value knowing that it is not None."""
    return union(member for member in members_of(value) if not is_none(member))


def is_none(value: Value) -> bool:
    """Whether the value is certainly None."""
    return value.__class__ is Static and value.type == "none"


def may_be_none(value: Value) -> bool:
    """Whether None is among the alternatives."""
    return any(is_none(member) for member in members_of(value))
