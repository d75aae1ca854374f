"""Attributes: what `value.name` is for every kind of value, and the events of reading one from a tensor."""

from __future__ import annotations

import ast
from types import MappingProxyType

from autohybrid.analysis.events import EventKind
from autohybrid.analysis.evidence import LIST
from autohybrid.analysis.frame import Frame
from autohybrid.analysis.index import ClassInfo
from autohybrid.analysis.libraries import attribute_of_library
from autohybrid.analysis.mxnet_names import closest_name, method_facts, namespace_facts
from autohybrid.analysis.subscripts import child_of
from autohybrid.analysis.value_queries import walk
from autohybrid.analysis.values import (
    ANY,
    NEVER,
    ClassRef,
    External,
    Func,
    Instance,
    Layer,
    Map,
    Method,
    ModuleRef,
    Namespace,
    Operator,
    Parameter,
    RecordType,
    Seq,
    Static,
    Super,
    Tensor,
    Union,
    Unknown,
    Value,
    is_none,
    tensors_in,
    union,
)

_SHAPE_VALUES = MappingProxyType(
    {
        "shape": Seq("tuple", None, Static("int", ANY, "shape")),
        "size": Static("int", ANY, "shape"),
        "ndim": Static("int", ANY, "shape"),
        "dtype": Static("dtype", ANY, "shape"),
        "stype": Static("str", ANY, "shape"),
        "context": Static("context", ANY, "shape"),
        "ctx": Static("context", ANY, "shape"),
        "name": Static("str"),
        "writable": Static("bool"),
    }
)
_SPECIAL_METHODS = frozenset(
    "__getitem__ __setitem__ __len__ __iter__ __bool__ __iadd__ __isub__ __imul__ __itruediv__".split()
)
_CONTAINER_METHODS = frozenset(
    "append extend insert remove pop clear index count keys values items get update setdefault popitem add".split()
)
_LAYER_PARAMETERS = frozenset(
    "weight bias gamma beta running_mean running_var i2h_weight h2h_weight i2h_bias h2h_bias alpha".split()
)


def evaluate_attribute(frame: Frame, node: ast.Attribute) -> Value:
    """The value of an attribute expression."""
    return get_attribute(frame, frame.eval(node.value), node.attr, node)


def get_attribute(frame: Frame, base: Value, name: str, node: ast.expr) -> Value:
    """`base.name`; `node` is where it is read."""
    kind = base.__class__
    if kind is Instance:
        return instance_attribute(frame, base, name, node)  # type: ignore[arg-type]
    if kind is Tensor:
        return _tensor_attribute(frame, base, base, name, node)  # type: ignore[arg-type]
    if kind is Namespace:
        return namespace_member(frame, base, name, node)  # type: ignore[arg-type]
    if kind is Union:
        return _union_attribute(frame, base, name, node)  # type: ignore[arg-type]
    if kind is External or kind is ModuleRef:
        return frame.session.classes.attribute_of_module(base, name)
    if kind is Unknown:
        return base
    return _other_attribute(frame, base, name, node)


def _other_attribute(frame: Frame, base: Value, name: str, node: ast.expr) -> Value:
    if isinstance(base, Seq):
        if name in base.names and base.items is not None:
            return base.items[base.names.index(name)]
        return Method(base, name)
    if isinstance(base, Static):
        return _static_attribute(base, name)
    if isinstance(base, Map):
        return Method(base, name)
    if isinstance(base, Layer):
        return _layer_attribute(base, name)
    if isinstance(base, Parameter):
        return _parameter_attribute(base, name)
    if isinstance(base, ClassRef):
        return _class_attribute(frame, base, name)
    if isinstance(base, Super):
        return _super_attribute(frame, base, name)
    if isinstance(base, RecordType):
        return Method(base, name)
    if isinstance(base, Operator) and base.name.count(".") == 0 and base.root in ("np", "npx"):
        return attribute_of_library(Namespace(base.root, base.name), name)
    return NEVER if base is NEVER else Unknown("attribute")


def _union_attribute(frame: Frame, base: Union, name: str, node: ast.expr) -> Value:
    parts: list[Value] = []
    for member in base.members:
        if is_none(member):
            continue
        if isinstance(member, Tensor):
            parts.append(_tensor_attribute(frame, base, member, name, node))
        else:
            parts.append(get_attribute(frame, member, name, node))
    return union(parts)


def _tensor_attribute(frame: Frame, whole: Value, tensor: Tensor, name: str, node: ast.expr) -> Value:
    if not tensor.graph:
        value = _SHAPE_VALUES.get(name)
        return value if value is not None else Method(tensor, name)
    facts = method_facts()
    if name in facts.shared and name != "handle" and name[:2] != "__":
        return Method(tensor, name)
    if tensor.listlike and name in _CONTAINER_METHODS:
        return Method(tensor, name)
    if name.startswith("__") and name.endswith("__"):
        return Method(tensor, name) if name in _SPECIAL_METHODS else Unknown("special attribute")
    if tensor.key is not None and name in _CONTAINER_METHODS:
        frame.session.evidence.note(tensor.key, LIST)
        return Method(tensor, name)
    if name == "handle":
        return Unknown("handle")
    if name in facts.array_only:
        _report_attribute(frame, whole, name, node, "array")
        value = _SHAPE_VALUES.get(name)
        if value is not None:
            return value
        return Tensor(origin=tensor.origin) if name in ("T", "grad") else Method(tensor, name)
    if name in facts.graph_only:
        _report_attribute(frame, whole, name, node, "graph")
        return _SHAPE_VALUES.get(name) or Method(tensor, name)
    _report_attribute(frame, whole, name, node, "neither")
    return Unknown(f"a tensor has no attribute `{name}`")


def _report_attribute(frame: Frame, whole: Value, name: str, node: ast.expr, owner: str) -> None:
    if frame.is_protected("AttributeError"):
        return
    subject = node.value if isinstance(node, ast.Attribute) else node
    records = frame.session.record_fields
    similar = records.get(name, "") if owner == "neither" else ""
    nodes = {"subject": subject}
    frame.report(
        EventKind.ATTRIBUTE, node, name=name, value=whole, subject=subject, nodes=nodes, owner=owner, record=similar
    )


def _static_attribute(base: Static, name: str) -> Value:
    if base.type in ("numpy", "any"):
        if name == "shape":
            return Seq("tuple", None, Static("int"))
        if name in ("size", "ndim"):
            return Static("int")
        if name in ("T", "real", "flat"):
            return base
        if name == "dtype":
            return Static("dtype")
    return Method(base, name)


def _layer_attribute(layer: Layer, name: str) -> Value:
    if name in _LAYER_PARAMETERS:
        return Parameter(name, deferred=layer.deferred)
    if name == "_children":
        return Map((), child_of(layer))
    if name in ("name", "prefix"):
        return Static("str")
    if name == "params":
        return Static("params")
    return Method(layer, name)


def _parameter_attribute(parameter: Parameter, name: str) -> Value:
    if name == "shape":
        if parameter.shape is None:
            return Seq("tuple", None, Static("int"))
        return Seq("tuple", tuple(Static("int", ANY if size is None else size) for size in parameter.shape))
    if name in ("name", "grad_req", "dtype", "lr_mult", "wd_mult"):
        return Static("str" if name != "dtype" else "dtype")
    return Method(parameter, name)


def _class_attribute(frame: Frame, base: ClassRef, name: str) -> Value:
    classes = frame.session.classes
    found = classes.find_method(base.info, name)
    if found is not None:
        owner, definition = found
        receiver = base if "classmethod" in owner.decorated_as(name) else None
        return Func(definition, owner.module, None, owner, receiver)
    value = classes.class_attribute(base.info, name)
    if value is not None:
        return value
    return Static("str") if name in ("__name__", "__qualname__", "__module__") else Unknown("class attribute")


def _super_attribute(frame: Frame, base: Super, name: str) -> Value:
    classes = frame.session.classes
    info = base.receiver.info if isinstance(base.receiver, Instance | ClassRef) else base.owner
    found = classes.find_after(info, base.owner, name)
    if found is not None:
        owner, definition = found
        return bind(owner, definition, name, base.receiver, frame)
    return Method(base, name)


def instance_attribute(frame: Frame, base: Instance, name: str, node: ast.expr) -> Value:
    """An attribute of an object of the project: its field, method, property or class attribute."""
    value = frame.env.get((base.ident, name))
    if value is not None:
        return value
    closure = frame.closure
    while closure is not None:
        value = closure.env.get((base.ident, name))
        if value is not None:
            return value
        closure = closure.closure
    if name == "__class__":
        return ClassRef(base.info)
    session = frame.session
    if frame.loops:
        session.missed.add((base.ident, name))
    found = session.classes.find_method(base.info, name)
    if found is not None:
        owner, definition = found
        if owner.decorated_as(name) & {"property", "cached_property", "lazy_property"}:
            getter = Func(definition, owner.module, None, owner, base)
            return session.interpreter.call_function(frame, getter, node)
        return bind(owner, definition, name, base, frame)
    value = session.field_source.find_field(base.info, name)
    if value is not None:
        return value
    value = session.classes.class_attribute(base.info, name)
    if value is not None:
        if isinstance(value, Func) and value.receiver is None and isinstance(value.node, ast.Lambda):
            return Func(value.node, value.module, value.closure, value.owner, base)
        return value
    return _inherited_attribute(frame, base, name)


def _inherited_attribute(frame: Frame, base: Instance, name: str) -> Value:
    kind = frame.session.classes.block_kind(base.info)
    if not kind:
        return Unknown("attribute is not set in the constructor")
    if name == "params":
        return Static("params")
    if name in ("prefix", "name", "_prefix", "_name"):
        return Static("str")
    if name == "_children":
        return Map((), children_of(frame, base))
    library = frame.session.classes.library_base(base.info)
    if library is not None and (library.container or name in _BLOCK_METHODS):
        return Method(base, name)
    if library is not None and name in _LAYER_PARAMETERS:
        return Parameter(name)
    return Method(base, name) if name in _BLOCK_METHODS else Unknown("attribute is not set in the constructor")


_BLOCK_METHODS = frozenset(
    "name_scope register_child register_forward_hook register_forward_pre_hook collect_params initialize hybridize "
    "cast add apply save_parameters load_parameters export infer_shape forward hybrid_forward __call__ reset "
    "begin_state unroll summary register_op_hook state_info".split()
)


def children_of(frame: Frame, base: Instance) -> Value:
    """What a child of a block can be: every block among its fields."""
    fields = frame.session.field_source.all_fields(base.info)
    found: list[Value] = []
    for value in fields.values():
        for part in walk(value):
            if isinstance(part, Layer | Instance):
                found.append(part)
            elif isinstance(part, Unknown):
                return Unknown("children")
    return union(found) if found else Unknown("children")


def bind(
    owner: ClassInfo, definition: ast.FunctionDef | ast.AsyncFunctionDef, name: str, base: Value, frame: Frame
) -> Value:
    """The method `definition` of `owner` taken from `base`."""
    decorators = owner.decorated_as(name)
    if "staticmethod" in decorators:
        return Func(definition, owner.module, None, owner)
    if "classmethod" in decorators and isinstance(base, Instance):
        return Func(definition, owner.module, None, owner, ClassRef(base.info))
    if decorators & {"contextmanager", "asynccontextmanager"}:
        return Unknown("a decorator replaces the method")
    return Func(definition, owner.module, None, owner, base)


def namespace_member(frame: Frame, space: Namespace, name: str, node: ast.expr) -> Value:
    """`F.name` or `mx.nd.name`; a name that a Symbol's namespace does not have is an event when read through `F`."""
    if name.startswith("__"):
        return Map((), Unknown("operator")) if name == "__dict__" else Static("str", ANY, "namespace")
    value = attribute_of_library(space, name)
    if space.root == "F" and (isinstance(value, Operator) or name in ("NDArray", "Symbol")):
        _check_exists(frame, space, name, node)
    return value


def _check_exists(frame: Frame, space: Namespace, name: str, node: ast.expr) -> None:
    facts = namespace_facts(space.path)
    if facts is None or name in facts.shared or frame.is_silent:
        return
    if f"<has {space.path}.{name}>" in frame.env or frame.is_protected("AttributeError"):
        return
    if name in facts.array_only:
        owner = "array"
    elif name in facts.graph_only:
        owner = "graph"
    else:
        owner = "neither"
    frame.report(
        EventKind.MISSING,
        node,
        name=f"{space.path}.{name}" if space.path else name,
        nodes={"function": node} if isinstance(node, ast.Attribute) and node.end_lineno == node.lineno else None,
        owner=owner,
        closest=closest_name(name, space.path),
        namespace=frame.text(node.value) if isinstance(node, ast.Attribute) else "F",
    )


def certain_tensor(value: Value) -> bool:
    """Whether the value is certainly a tensor."""
    return tensors_in(value)[1]
