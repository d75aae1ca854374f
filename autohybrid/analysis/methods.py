"""Methods of values that are no objects of the project: tensors, parameters, layers, lists, dictionaries, texts."""

from __future__ import annotations

import ast
from itertools import pairwise

from autohybrid.analysis.assignments import rebind, report_in_place, report_mutation
from autohybrid.analysis.blocks import call_inherited, call_layer_method
from autohybrid.analysis.comparisons import check_ordering
from autohybrid.analysis.events import EventKind
from autohybrid.analysis.evidence import TENSOR
from autohybrid.analysis.frame import Arguments, Frame
from autohybrid.analysis.mxnet_names import method_facts, operator_facts
from autohybrid.analysis.operators import note_tensors, outputs_of, reduced_origin, same_shape
from autohybrid.analysis.subscripts import iterate, subscript
from autohybrid.analysis.values import (
    ANY,
    NEVER,
    Instance,
    Layer,
    Map,
    Method,
    Parameter,
    RecordType,
    Seq,
    Static,
    Super,
    Tensor,
    Unknown,
    Value,
    element_of,
    join,
    make_seq,
    tensors_in,
    union,
)
from autohybrid.diagnostics.model import Confidence

_TO_HOST = {"asnumpy": "numpy", "asscalar": "float", "item": "float", "tolist": "any"}
_CHANGE = frozenset("append extend insert remove pop clear sort reverse update setdefault popitem add discard".split())
_OF_CONTAINERS = (_CHANGE | frozenset("index count keys values items get".split())) - frozenset({"sort"})
_PARAMETER_READS = frozenset("data list_data grad list_grad row_sparse_data".split())
_PARAMETER_WRITES = frozenset("set_data zero_grad initialize reset_ctx cast".split())


def call_method(frame: Frame, method: Method, arguments: Arguments, node: ast.Call) -> Value:
    """The result of calling a method of a value."""
    receiver = method.receiver
    if isinstance(receiver, Tensor):
        return call_tensor_method(frame, receiver, method.name, arguments, node)
    if isinstance(receiver, Parameter):
        return _call_parameter(frame, receiver, method.name, node)
    if isinstance(receiver, Seq | Map):
        return _call_container(frame, receiver, method.name, arguments, node)
    if isinstance(receiver, Layer):
        return call_layer_method(frame, receiver, method.name, arguments, node)
    if isinstance(receiver, Instance | Super):
        return call_inherited(frame, receiver, method.name, arguments, node)
    if isinstance(receiver, Static):
        return _call_static(receiver, method.name, arguments, node, frame)
    if isinstance(receiver, RecordType) and method.name == "_make":
        source = arguments.get(0)
        element = iterate(frame, source, node, "_make") if source is not None else Unknown("field")
        return Seq("namedtuple", (element,) * len(receiver.fields), NEVER, None, receiver.fields)
    return Unknown(f"result of `{method.name}`")


# -- tensors ----------------------------------------------------------------------------------------------------------
def call_tensor_method(frame: Frame, tensor: Tensor, name: str, arguments: Arguments, node: ast.Call) -> Value:
    """`x.name(...)` on a tensor."""
    if name in _OF_CONTAINERS and (tensor.listlike or tensor.key is not None):
        return Unknown("method of an argument")
    subject = node.func.value if isinstance(node.func, ast.Attribute) else node.func
    if not tensor.graph:
        if name in _TO_HOST:
            return Static(_TO_HOST[name])
        return outputs_of(frame, name, arguments_after_self(arguments), Tensor(graph=False, depends=tensor.depends))
    if name.startswith("__"):
        return _call_special(frame, tensor, name, arguments, node, subject)
    if name not in ("copy", "sort", "split"):
        frame.session.evidence.note(tensor.key, TENSOR)
    facts = method_facts()
    if name in facts.refused:
        frame.report(EventKind.METHOD, node, name=name, value=tensor, subject=subject, nodes={"subject": subject})
        if name in _TO_HOST:
            return Static(_TO_HOST[name], ANY, "shape")
        return _recovered(frame, tensor, name, node)
    if name in facts.array_only or name in facts.graph_only:
        return _recovered(frame, tensor, name, node)
    _check_method(frame, tensor, name, arguments, node, subject)
    note_tensors(frame, operator_facts(name), arguments_after_self(arguments))
    one = Tensor(
        depends=tensor.depends or any(tensors_in(value)[0] is not None for value in arguments.all),
        origin=frame.origin(node, "`{}` is a tensor", tensor),
        reduced=reduced_origin(name, tensor, arguments_after_self(arguments)),
        like=same_shape(name, tensor),
    )
    return outputs_of(frame, name, arguments_after_self(arguments), one)


_IN_PLACE = {"__iadd__": "+=", "__isub__": "-=", "__imul__": "*=", "__itruediv__": "/="}


def _call_special(
    frame: Frame, tensor: Tensor, name: str, arguments: Arguments, node: ast.Call, subject: ast.expr
) -> Value:
    """`x.__getitem__(0)` and the like: what the operator does."""
    argument = node.args[0] if node.args else node
    if name in _IN_PLACE:
        report_in_place(frame, node, tensor, _IN_PLACE[name], subject, argument)
    elif name == "__getitem__":
        value = arguments.get(0) or Unknown("index")
        const = value.const if isinstance(value, Static) else ANY
        return subscript(frame, tensor, value.type if isinstance(value, Static) else "unknown", const, value, node)
    elif name == "__setitem__":
        text = frame.text(argument)
        frame.report(EventKind.STORE_SUBSCRIPT, node, name="call", value=tensor, subject=subject, index_text=text)
    elif name == "__len__":
        frame.report(EventKind.LENGTH, node, name="len", value=tensor, subject=subject)
    elif name == "__iter__":
        frame.report(EventKind.ITERATE, node, name="iter", value=tensor, subject=subject)
    elif name == "__bool__":
        frame.report(EventKind.CONVERT, node, name="bool", value=tensor, subject=subject)
    return _recovered(frame, tensor, "copy", node)


def arguments_after_self(arguments: Arguments) -> Arguments:
    """The arguments of a method as those of the operator, whose first argument is the tensor."""
    return Arguments((Static("any"), *arguments.positional), arguments.keywords, arguments.star, arguments.double_star)


def _recovered(frame: Frame, tensor: Tensor, name: str, node: ast.Call) -> Value:
    if name in ("copy", "as_in_context", "detach", "tostype", "copyto", "T", "slice_assign", "slice_assign_scalar"):
        return Tensor(sure=tensor.sure, depends=tensor.depends, origin=frame.origin(node, "`{}` is a tensor", tensor))
    return Unknown(f"result of `{name}`")


def argument_nodes(node: ast.Call, keyword: str) -> dict[str, ast.AST | None]:
    """The pieces of a call that a fix may need: its first and last argument, and a keyword with what stands before."""
    pieces: dict[str, ast.AST | None] = {}
    plain = not node.keywords and not any(isinstance(argument, ast.Starred) for argument in node.args)
    if node.args and plain:
        pieces.update(first=node.args[0], last=node.args[-1])
    written: list[ast.expr | ast.keyword] = [*node.args, *node.keywords]
    for previous, current in pairwise(written):
        if isinstance(current, ast.keyword) and current.arg == keyword:
            pieces.update(previous=previous, keyword=current)
    return pieces


def _check_method(
    frame: Frame, tensor: Tensor, name: str, arguments: Arguments, node: ast.Call, subject: ast.expr
) -> None:
    problem = ""
    if name == "reshape" and (len(arguments.positional) > 1 or arguments.star is not None):
        problem = "reshape"
    elif (name == "astype" and "copy" in arguments.keywords) or (name == "astype" and len(arguments.positional) > 1):
        problem = "astype-copy"
    elif name == "sort" and arguments.get(0, "axis") is None and arguments.double_star is None:
        problem = "sort-axis"
    elif name == "transpose" and len(arguments.positional) > 1:
        problem = "transpose"
    elif "out" in arguments.keywords:
        problem = "out"
    if problem:
        confidence = Confidence.LIKELY if arguments.star is not None and problem == "reshape" else None
        frame.report(
            EventKind.ARGUMENT,
            node,
            name=name,
            value=tensor,
            subject=subject,
            nodes=argument_nodes(node, "copy"),
            problem=problem,
            confidence=confidence,
            sizes=", ".join(frame.text(argument) for argument in node.args),
        )


# -- parameters -------------------------------------------------------------------------------------------------------
def _call_parameter(frame: Frame, parameter: Parameter, name: str, node: ast.Call) -> Value:
    subject = node.func.value if isinstance(node.func, ast.Attribute) else node.func
    if name in _PARAMETER_READS:
        frame.report(
            EventKind.PARAMETER_DATA, node, name=name, value=parameter, subject=subject, parameter=parameter.name
        )
        array = Tensor(graph=False, shape=parameter.shape, origin=frame.origin(node, "`{}` is an NDArray"))
        return array if not name.startswith("list") else Seq("list", None, array)
    if name == "var":
        return Tensor(shape=parameter.shape, origin=frame.origin(node, "`{}` is a tensor"))
    if name in _PARAMETER_WRITES:
        frame.report(EventKind.EFFECT, node, name="parameter", subject=subject, call=name)
        return Static("none", None)
    return Unknown(f"result of `{name}`")


# -- containers -------------------------------------------------------------------------------------------------------
def _call_container(frame: Frame, receiver: Seq | Map, name: str, arguments: Arguments, node: ast.Call) -> Value:
    target = node.func.value if isinstance(node.func, ast.Attribute) else None
    if name in _CHANGE and target is not None:
        report_mutation(frame, target, node, "call")
    if isinstance(receiver, Map):
        return _call_map(frame, receiver, name, arguments, target)
    return _call_seq(frame, receiver, name, arguments, node, target)


def _call_map(frame: Frame, receiver: Map, name: str, arguments: Arguments, target: ast.expr | None) -> Value:
    inside = union([*(value for _, value in receiver.items), receiver.element])
    if inside is NEVER:
        inside = Unknown("item of a dictionary")
    if name in ("get", "pop", "setdefault"):
        key, default = arguments.get(0), arguments.get(1)
        if isinstance(key, Static) and key.const is not ANY:
            for known, value in receiver.items:
                if type(known) is type(key.const) and known == key.const:
                    return value
        return join(inside, default) if default is not None else inside
    if name == "values":
        return Seq("view", tuple(value for _, value in receiver.items) or None, inside)
    if name == "keys":
        return Seq("view", None, Static("any"))
    if name == "items":
        pairs = tuple(make_seq("tuple", (Static(type(key).__name__, key), value)) for key, value in receiver.items)
        return Seq("view", pairs or None, make_seq("tuple", (Static("any"), inside)))
    if name == "copy":
        return Map(receiver.items, receiver.element)
    if name == "update" and target is not None:
        items = dict(receiver.items)
        element = receiver.element
        for value in arguments.positional:
            if isinstance(value, Map):
                items.update(value.items)
                element = join(element, value.element)
            else:
                element = Unknown("updated from something")
        items.update(arguments.keywords)
        rebind(frame, target, Map(tuple(items.items()), element, receiver.default))
        return Static("none", None)
    return Unknown(f"result of `{name}`")


def _call_seq(
    frame: Frame, receiver: Seq, name: str, arguments: Arguments, node: ast.Call, target: ast.expr | None
) -> Value:
    value = arguments.get(0)
    if name in ("append", "add") and value is not None:
        return _grown(frame, receiver, target, (value,))
    if name == "insert" and len(arguments.positional) == 2:
        changed = Seq(receiver.kind, None, join(element_of(receiver), arguments.positional[1]), receiver.origin)
        if receiver.items is not None and isinstance(value, Static) and value.const == 0:
            changed = make_seq(receiver.kind, (arguments.positional[1], *receiver.items), receiver.origin)
        if target is not None:
            rebind(frame, target, changed)
        return Static("none", None)
    if name == "extend" and value is not None:
        if isinstance(value, Seq) and value.items is not None:
            return _grown(frame, receiver, target, value.items)
        element = iterate(frame, value, node.args[0] if node.args else node, "extend")
        if target is not None:
            rebind(frame, target, Seq(receiver.kind, None, join(element_of(receiver), element), receiver.origin))
        return Static("none", None)
    if name == "pop":
        return _popped(frame, receiver, arguments, target)
    if name in ("index", "count"):
        return _search(frame, receiver, name, value, node)
    if name == "sort" and target is not None and (receiver.items is None or len(receiver.items) > 1):
        check_ordering(frame, "sorted", element_of(receiver), arguments, node, target)
    if name in ("copy", "__iter__", "reverse", "sort"):
        return receiver if name == "copy" else Static("none", None)
    if name == "_asdict":
        return Map(tuple(zip(receiver.names, receiver.items or ())))
    return Unknown(f"result of `{name}`")


def _grown(frame: Frame, receiver: Seq, target: ast.expr | None, added: tuple[Value, ...]) -> Value:
    if target is not None:
        if receiver.items is not None:
            changed = make_seq(receiver.kind, (*receiver.items, *added), receiver.origin)
        else:
            changed = Seq(receiver.kind, None, union((receiver.element, *added)), receiver.origin)
        rebind(frame, target, changed)
    return Static("none", None)


def _popped(frame: Frame, receiver: Seq, arguments: Arguments, target: ast.expr | None) -> Value:
    index = arguments.get(0)
    if receiver.items:
        place = index.const if isinstance(index, Static) else -1 if index is None else ANY
        if isinstance(place, int) and -len(receiver.items) <= place < len(receiver.items):
            items = list(receiver.items)
            value = items.pop(place)
            if target is not None:
                rebind(frame, target, Seq(receiver.kind, tuple(items), NEVER, receiver.origin))
            return value
    return element_of(receiver)


def _search(frame: Frame, receiver: Seq, name: str, value: Value | None, node: ast.Call) -> Value:
    if value is not None:
        tensor, certain = tensors_in(value)
        inside, _ = tensors_in(element_of(receiver))
        if tensor is not None and tensor.graph and certain and inside is not None:
            frame.report(EventKind.COMPARE, node, name=name, value=value, operand="tensor")
    return Static("int")


# -- everything else --------------------------------------------------------------------------------------------------
def _call_static(receiver: Static, name: str, arguments: Arguments, node: ast.Call, frame: Frame) -> Value:
    if receiver.type == "generator":
        frame.report(EventKind.RANDOM, node, name=name, source="random", confidence=Confidence.DEFINITE)
        return Static("any")
    if receiver.type == "params":
        return _call_parameter_dict(name, arguments)
    if receiver.type == "logger":
        if name in ("debug", "info", "warning", "error", "critical", "exception", "log"):
            frame.report(EventKind.EFFECT, node, name="log", confidence=Confidence.LIKELY)
        return Static("none", None)
    if receiver.type == "str":
        if name in ("split", "rsplit", "splitlines", "partition"):
            return Seq("list", None, Static("str"))
        if name in ("startswith", "endswith", "isdigit", "isalpha", "islower", "isupper"):
            return Static("bool", ANY, receiver.taint)
        shown = any(tensors_in(value)[0] is not None for value in arguments.all)
        taint = receiver.taint or ("text" if shown else "")
        return Static("int" if name in ("find", "index", "count", "rfind") else "str", ANY, taint)
    if receiver.type == "numpy":
        scalar = name in ("sum", "mean", "max", "min", "item", "std", "var", "prod", "argmax", "argmin")
        return Static("float") if scalar and not arguments.positional and not arguments.keywords else Static("any")
    if receiver.type in ("int", "float", "bool"):
        return Static("any")
    return Unknown(f"result of `{name}`")


def _call_parameter_dict(name: str, arguments: Arguments) -> Value:
    if name not in ("get", "get_constant"):
        return Unknown(f"result of `{name}`")
    title = arguments.get(0, "name")
    text = str(title.const) if isinstance(title, Static) and title.const is not ANY else ""
    if name == "get_constant":
        return Parameter(text)
    return make_parameter(text, arguments.keywords.get("shape"))


def make_parameter(name: str, shape: Value | None) -> Parameter:
    """A parameter with the sizes that are written in the source."""
    if isinstance(shape, Static) and isinstance(shape.const, int):
        return Parameter(name, (shape.const,), shape.const == 0)
    if not isinstance(shape, Seq) or shape.items is None:
        return Parameter(name, None, shape is None)
    sizes: list[int | None] = []
    for item in shape.items:
        size = item.const if isinstance(item, Static) and item.field is None else None
        sizes.append(size if isinstance(size, int) else None)
    return Parameter(name, tuple(sizes), 0 in sizes)
