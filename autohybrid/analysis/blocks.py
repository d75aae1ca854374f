"""Calling blocks: layers of the library, blocks of the project, and what a block inherits from the library.

A hybrid child has been analysed by itself, as its inputs are tensors by contract; its call gives the summary of its
result. A plain block, or a hybrid one that overrides `forward`, is followed with the values it is called with.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from autohybrid.analysis.calls import call_function
from autohybrid.analysis.events import EventKind
from autohybrid.analysis.evidence import LIST, STATIC, TENSOR
from autohybrid.analysis.frame import Arguments, Frame
from autohybrid.analysis.index import ClassInfo, FunctionNode
from autohybrid.analysis.libraries import LIBRARY_BLOCKS
from autohybrid.analysis.value_queries import walk
from autohybrid.analysis.values import (
    NEVER,
    Func,
    InputKey,
    Instance,
    Layer,
    Map,
    Namespace,
    Origin,
    Seq,
    Static,
    Super,
    Tensor,
    Unknown,
    Value,
    is_none,
    join,
    make_seq,
    members_of,
    tensors_in,
    union,
)
from autohybrid.diagnostics.model import Confidence

_HOOKS = frozenset({"register_forward_hook", "register_forward_pre_hook", "register_op_hook"})


# -- library layers ---------------------------------------------------------------------------------------------------
def make_layer(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """A new block of the library."""
    facts = LIBRARY_BLOCKS[name]
    deferred = False
    if facts.size and arguments.double_star is None:
        given = arguments.keywords.get(facts.size)
        deferred = given is None or (isinstance(given, Static) and given.const in (0, None))
        deferred = deferred and len(arguments.positional) <= 4
    children: Value = NEVER
    if facts.returns == "function":
        children = arguments.get(0, "function") or Unknown("function")
    elif facts.container or facts.returns == "pair":
        blocks = [value for value in arguments.positional if isinstance(value, Layer | Instance)]
        children = union(blocks)
    return Layer(facts, deferred, children, node)


def call_layer(frame: Frame, layer: Layer, arguments: Arguments, node: ast.Call) -> Value:
    """The result of calling a block of the library."""
    if arguments.keywords and not frame.is_protected("TypeError"):
        frame.report(
            EventKind.CALL_BLOCK, node, name="keyword", subject=node.func, keyword=next(iter(arguments.keywords))
        )
    given = list(arguments.all)
    tensors = [tensor for tensor in (tensors_in(value)[0] for value in given) if tensor is not None]
    graph = any(tensor.graph for tensor in tensors) or not tensors
    cause = tensors[0] if tensors else None
    one = Tensor(graph=graph, origin=frame.origin(node, "`{}` is a tensor", cause))
    returns = layer.facts.returns
    if returns == "tensor" and not layer.facts.container:
        if given and isinstance(given[0], Tensor):
            frame.session.evidence.note(given[0].key, TENSOR)
        return one
    if returns == "pair":
        return make_seq("tuple", (one, Seq("list", None, Tensor(graph=graph, listlike=False, sure=False))))
    if returns == "layer":
        if (len(arguments.positional) > 1 and not is_none(arguments.positional[1])) or arguments.star is not None:
            return make_seq("tuple", (one, Seq("list", None, Tensor(graph=graph, sure=False))))
        return one
    if returns == "children":
        return _call_children(frame, layer, arguments, node, one)
    if returns == "function":
        return _call_wrapped(frame, layer, arguments, node, one)
    return Tensor(graph=graph, sure=False, origin=one.origin) if layer.facts.container else Unknown("result of a block")


def _call_children(frame: Frame, layer: Layer, arguments: Arguments, node: ast.Call, one: Tensor) -> Value:
    """A chain of blocks gives a tensor when every child does."""
    unsure = Tensor(graph=one.graph, sure=False, origin=one.origin)
    if layer.children is NEVER:
        return unsure
    for child in members_of(layer.children):
        if isinstance(child, Layer):
            if child.facts.returns == "tensor":
                continue
            inner = call_layer(frame, child, arguments, node) if child is not layer else unsure
        elif isinstance(child, Instance):
            inner = call_instance(frame, child, arguments, node)
        else:
            return unsure
        if not (isinstance(inner, Tensor) and inner.sure):
            return unsure
    return one


def _call_wrapped(frame: Frame, layer: Layer, arguments: Arguments, node: ast.Call, one: Tensor) -> Value:
    function = layer.children
    if isinstance(function, Func) and layer.facts.hybrid:
        return frame.call(function, Arguments((Namespace("F"), *arguments.positional), arguments.keywords), node)
    if isinstance(function, Func):
        return frame.call(function, arguments, node)
    return Tensor(graph=one.graph, sure=isinstance(function, Static), origin=one.origin)


def call_layer_method(frame: Frame, layer: Layer, name: str, arguments: Arguments, node: ast.Call) -> Value:
    """A method of a block of the library."""
    if name in ("add", "register_child") and layer.facts.container:
        return _add_children(frame, layer, arguments, node)
    if name in _HOOKS:
        _report_hook(frame, node, name)
        return Unknown("a hook")
    if name in ("hybrid_forward", "forward", "__call__"):
        return call_layer(frame, layer, arguments, node)
    if name == "begin_state":
        return Seq("list", None, Tensor(graph=False, sure=False))
    if name == "unroll":
        return make_seq("tuple", (Unknown("outputs of the cell"), Seq("list", None, Tensor(sure=False))))
    return Unknown(f"result of `{name}`")


def _add_children(frame: Frame, layer: Layer, arguments: Arguments, node: ast.Call) -> Value:
    from autohybrid.analysis.assignments import rebind

    added = union(arguments.all)
    for value in arguments.all:
        report_plain_child(frame, value, node, layer.facts.hybrid, "added")
    if isinstance(node.func, ast.Attribute):
        children = added if layer.children is NEVER else join(layer.children, added)
        rebind(frame, node.func.value, Layer(layer.facts, layer.deferred, children, layer.node))
    return Static("none", None)


def report_plain_child(frame: Frame, value: Value, node: ast.AST, parent_hybrid: bool, how: str) -> None:
    """Report a block that is no HybridBlock and becomes a child of one."""
    if not parent_hybrid:
        return
    members = members_of(value)
    plain = [name for name in (_plain_name(frame, member) for member in members) if name]
    if plain:
        confidence = Confidence.DEFINITE if len(plain) == len(members) else Confidence.LIKELY
        frame.report(EventKind.CHILD, node, name=plain[0], confidence=confidence, how=how)


def is_plain_child(frame: Frame, value: Value) -> bool:
    """Whether the value can be a block that is no HybridBlock."""
    return any(_plain_name(frame, member) for member in members_of(value))


def _plain_name(frame: Frame, value: Value) -> str:
    if isinstance(value, Layer) and not value.facts.hybrid:
        return value.facts.name
    if isinstance(value, Instance) and frame.session.classes.block_kind(value.info) == "plain":
        return value.info.name
    return ""


def _report_hook(frame: Frame, node: ast.Call, name: str) -> None:
    subject = node.func.value if isinstance(node.func, ast.Attribute) else None
    if isinstance(subject, ast.Attribute):
        frame.report(EventKind.HOOK, node, name=name, subject=subject, confidence=Confidence.DEFINITE)


# -- blocks of the project --------------------------------------------------------------------------------------------
def call_instance(frame: Frame, instance: Instance, arguments: Arguments, node: ast.Call) -> Value:
    """The result of calling an object of the project."""
    classes = frame.session.classes
    kind = classes.block_kind(instance.info)
    if not kind:
        custom = "mxnet.autograd.Function" in classes.mro(instance.info)
        return _call_own(frame, instance, "forward" if custom else "__call__", arguments, node)
    own_call = classes.find_method(instance.info, "__call__")
    if own_call is not None and kind == "hybrid":
        note_arguments(frame, instance.info, arguments)
        return _call_own(frame, instance, "__call__", arguments, node)
    if arguments.keywords and classes.library_base(instance.info) is not None and own_call is None:
        keyword = next(iter(arguments.keywords))
        frame.report(EventKind.CALL_BLOCK, node, name="keyword", subject=node.func, keyword=keyword)
    return run_block_call(frame, instance, arguments, node)


def run_block_call(frame: Frame, instance: Instance, arguments: Arguments, node: ast.Call) -> Value:
    """What `Block.__call__` gives for a block of the project."""
    classes = frame.session.classes
    for ancestor in classes.mro(instance.info):
        if not isinstance(ancestor, ClassInfo):
            facts = LIBRARY_BLOCKS.get(ancestor.rpartition(".")[2])
            if facts is not None and facts.returns not in ("unknown",):
                return call_layer(frame, Layer(facts), Arguments(arguments.positional), node)
            continue
        if "hybrid_forward" in ancestor.methods:
            note_arguments(frame, instance.info, arguments)
            return _as_result(frame, instance.info, arguments, node)
        if "forward" in ancestor.methods:
            return _call_own(frame, instance, "forward", arguments, node)
    return Unknown("a block without a forward method")


def _call_own(frame: Frame, instance: Instance, name: str, arguments: Arguments, node: ast.Call) -> Value:
    found = frame.session.classes.find_method(instance.info, name)
    if found is None:
        return Unknown(f"no method `{name}`")
    owner, definition = found
    closure = None
    receiver = instance if instance.ident != 0 else Instance(instance.info)
    return call_function(frame, Func(definition, owner.module, closure, owner, receiver), arguments, node)


def _as_result(frame: Frame, info: ClassInfo, arguments: Arguments, node: ast.Call) -> Value:
    """The summary of a child's result, as seen from this call: an input that it returns is what was passed for it."""
    value = frame.session.result_of(info)
    found = frame.session.classes.find_method(info, "hybrid_forward")
    passed: dict[str, Value] = {}
    if found is not None:
        for place, parameter in enumerate(found[1].args.args[2:]):
            passed[parameter.arg] = arguments.get(place, parameter.arg) or Unknown("argument")
    tensors = [tensor for tensor in (tensors_in(given)[0] for given in arguments.all) if tensor is not None]
    graph = not tensors or any(tensor.graph for tensor in tensors)
    origin = frame.origin(node, "`{}` is a tensor", tensors[0] if tensors else None)
    return _renewed(value, graph, origin, passed, 3)


def _renewed(value: Value, graph: bool, origin: Origin, passed: Mapping[str, Value], depth: int) -> Value:
    if isinstance(value, Tensor):
        if value.key is not None and value.key.name in passed:
            return passed[value.key.name]
        if value.listlike:
            return Unknown("an argument that is returned")
        return Tensor(graph=graph, sure=value.sure, single=value.single, origin=origin)
    if depth == 0:
        return Unknown("deeply nested result")
    if isinstance(value, Seq):
        if value.items is not None:
            items = tuple(_renewed(item, graph, origin, passed, depth - 1) for item in value.items)
            return Seq(value.kind, items, NEVER, None, value.names)
        return Seq(value.kind, None, _renewed(value.element, graph, origin, passed, depth - 1))
    if isinstance(value, Map):
        items_of_map = tuple((key, _renewed(item, graph, origin, passed, depth - 1)) for key, item in value.items)
        return Map(items_of_map, _renewed(value.element, graph, origin, passed, depth - 1))
    members = members_of(value)
    if len(members) > 1:
        return union(_renewed(member, graph, origin, passed, depth - 1) for member in members)
    return value


def note_arguments(frame: Frame, info: ClassInfo, arguments: Arguments) -> None:
    """What the arguments of a call say about the inputs of the block that is called."""
    found = frame.session.classes.find_method(info, "hybrid_forward")
    if found is None:
        return
    owner, definition = found
    names = [parameter.arg for parameter in definition.args.args[2:]]
    for place, name in enumerate(names):
        value = arguments.get(place, name)
        if value is not None:
            note_value(frame, input_key(owner, definition, name), value)


def input_key(owner: ClassInfo, definition: FunctionNode, name: str) -> InputKey:
    """The key of an input of a method."""
    return InputKey(owner.module.file.path, definition.lineno, name)


def note_value(frame: Frame, key: InputKey, value: Value) -> None:
    """An input is called with this value somewhere."""
    for member in members_of(value):
        if isinstance(member, Tensor) and member.sure and member.key is None and not member.listlike:
            frame.session.evidence.note(key, TENSOR)
        elif isinstance(member, Seq | Map):
            frame.session.evidence.note(key, LIST)
        elif isinstance(member, Static) and not is_none(member):
            frame.session.evidence.note(key, STATIC)


# -- what a block inherits --------------------------------------------------------------------------------------------
def call_inherited(frame: Frame, receiver: Instance | Super, name: str, arguments: Arguments, node: ast.Call) -> Value:
    """A method that the class takes from the library: `self.register_child`, `super().forward(x)`, ..."""
    instance = receiver if isinstance(receiver, Instance) else receiver.receiver
    if not isinstance(instance, Instance):
        return Unknown("inherited")
    if name in _HOOKS:
        if isinstance(receiver, Instance) and receiver.ident != 0:
            _report_hook(frame, node, name)
        return Unknown("a hook")
    if name in ("forward", "__call__") and isinstance(receiver, Super):
        if frame.session.classes.find_method(instance.info, "hybrid_forward") is not None and name == "forward":
            note_arguments(frame, instance.info, arguments)
            return _as_result(frame, instance.info, arguments, node)
        return run_block_call(frame, instance, arguments, node) if name == "__call__" else Unknown("inherited forward")
    if name in ("register_child", "add"):
        return _register(frame, instance, name, arguments, node)
    if name == "__setattr__" and frame.constructing and len(arguments.positional) >= 2:
        key, value = arguments.positional[0], arguments.positional[1]
        if isinstance(key, Static) and isinstance(key.const, str):
            frame.env[(instance.ident, key.const)] = value
        return Static("none", None)
    if name == "begin_state":
        return Seq("list", None, Tensor(graph=False, sure=False))
    return Unknown(f"result of `{name}`")


def _register(frame: Frame, instance: Instance, name: str, arguments: Arguments, node: ast.Call) -> Value:
    hybrid = frame.session.classes.block_kind(instance.info) == "hybrid"
    for value in arguments.positional if name == "add" else arguments.positional[:1]:
        report_plain_child(frame, value, node, hybrid, "registered")
        if frame.constructing and instance.ident >= 0:
            key = (instance.ident, "<child>")
            for part in walk(value, 1):
                if isinstance(part, Layer | Instance):
                    frame.env[key] = join(frame.env.get(key, NEVER), part)
    return Static("none", None)
