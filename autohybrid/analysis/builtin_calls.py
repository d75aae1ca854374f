"""Calls of Python's own functions, of `operator`, `functools` and `itertools`, with tensors among their arguments."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from types import MappingProxyType

from autohybrid.analysis.assignments import report_in_place, report_mutation
from autohybrid.analysis.attributes import get_attribute
from autohybrid.analysis.comparisons import check_ordering
from autohybrid.analysis.conditions import check_truth, note_instance_test
from autohybrid.analysis.events import EventKind
from autohybrid.analysis.expressions import arithmetic_result, binary, check_hash
from autohybrid.analysis.frame import Arguments, Frame
from autohybrid.analysis.kinds import ARRAY_CLASS, GRAPH_CLASS, class_names
from autohybrid.analysis.mxnet_names import method_facts
from autohybrid.analysis.subscripts import iterate, subscript
from autohybrid.analysis.values import (
    ANY,
    NEVER,
    NONE,
    ClassRef,
    Instance,
    Map,
    Namespace,
    Partial,
    Seq,
    Static,
    Tensor,
    Unknown,
    Value,
    element_of,
    is_none,
    join,
    make_seq,
    tensors_in,
    union,
)
from autohybrid.diagnostics.model import Confidence

Handler = Callable[[Frame, Arguments, ast.Call], Value]


def _argument_node(node: ast.Call, place: int) -> ast.expr:
    return node.args[place] if place < len(node.args) else node


def _iterated(frame: Frame, arguments: Arguments, node: ast.Call, place: int, how: str) -> Value:
    if place < len(arguments.positional):
        return iterate(frame, arguments.positional[place], _argument_node(node, place), how)
    return arguments.star if arguments.star is not None else Unknown("argument")


def _len(frame: Frame, arguments: Arguments, node: ast.Call) -> Value:
    value = arguments.get(0)
    if value is None:
        return Static("int")
    tensor, _ = tensors_in(value)
    if tensor is not None and tensor.graph and not tensor.listlike:
        frame.session.evidence.note_use(tensor.key, "len")
        frame.report(EventKind.LENGTH, node, name="len", value=value, subject=_argument_node(node, 0))
        return Static("int", ANY, "shape")
    if isinstance(value, Seq) and value.items is not None and value.kind in ("tuple", "outputs"):
        return Static("int", len(value.items))
    return Static("int")


def _range(frame: Frame, arguments: Arguments, node: ast.Call) -> Value:
    for place, value in enumerate(arguments.positional):
        tensor, certain = tensors_in(value)
        if tensor is not None and tensor.graph and certain:
            frame.session.evidence.note_static(tensor.key, "`range`")
            frame.report(EventKind.CONVERT, node, name="range", value=value, subject=_argument_node(node, place))
    taints = [value.taint for value in arguments.positional if isinstance(value, Static) and value.taint]
    return Seq("range", None, Static("int", ANY, taints[0] if taints else ""))


def _enumerate(frame: Frame, arguments: Arguments, node: ast.Call) -> Value:
    value = arguments.get(0)
    if isinstance(value, Seq) and value.items is not None:
        return make_seq("iterator", (make_seq("tuple", (Static("int", i), item)) for i, item in enumerate(value.items)))
    element = _iterated(frame, arguments, node, 0, "enumerate")
    return Seq("iterator", None, make_seq("tuple", (Static("int"), element)))


def _zip(frame: Frame, arguments: Arguments, node: ast.Call) -> Value:
    columns = arguments.positional
    if columns and all(isinstance(column, Seq) and column.items is not None for column in columns):
        rows = zip(*(column.items or () for column in columns if isinstance(column, Seq)))
        return make_seq("iterator", (make_seq("tuple", row) for row in rows))
    others = any(tensors_in(column)[0] is None for column in columns)
    parts = tuple(
        _iterated(frame, arguments, node, place, "zip" if not others else "zip with") for place in range(len(columns))
    )
    if arguments.star is not None:
        return Seq("iterator", None, Seq("tuple", None, Unknown("unpacked")))
    return Seq("iterator", None, make_seq("tuple", parts))


def _sequence(kind: str) -> Handler:
    def build(frame: Frame, arguments: Arguments, node: ast.Call) -> Value:
        value = arguments.get(0)
        if value is None:
            return Seq(kind, (), NEVER)
        if isinstance(value, Seq):
            if kind == "set":
                check_hash(frame, element_of(value), _argument_node(node, 0))
            keep = value.items if kind != "set" else None
            return Seq(kind, keep, NEVER if keep is not None else element_of(value), value.origin)
        return Seq(kind, None, iterate(frame, value, _argument_node(node, 0), kind))

    return build


def _dict(frame: Frame, arguments: Arguments, node: ast.Call) -> Value:
    value = arguments.get(0)
    items = tuple(arguments.keywords.items())
    if isinstance(value, Map):
        return Map((*value.items, *items), value.element)
    if isinstance(value, Seq):
        pair = element_of(value)
        inside = pair.items[1] if isinstance(pair, Seq) and pair.items is not None and len(pair.items) == 2 else None
        return Map(items, inside if inside is not None else Unknown("item"))
    element: Value = NEVER if value is None and arguments.double_star is None else Unknown("item")
    return Map(items, element)


def _map(frame: Frame, arguments: Arguments, node: ast.Call) -> Value:
    function = arguments.get(0)
    parts = tuple(_iterated(frame, arguments, node, place, "map") for place in range(1, len(arguments.positional)))
    if function is None:
        return Unknown("map")
    return Seq("iterator", None, frame.call(function, Arguments(parts), node))


def _filter(frame: Frame, arguments: Arguments, node: ast.Call) -> Value:
    function = arguments.get(0)
    element = _iterated(frame, arguments, node, 1, "filter")
    if function is not None and is_none(function):
        check_truth(frame, node, element, "filter")
    elif function is not None:
        check_truth(frame, node, frame.call(function, Arguments((element,)), node), "filter")
    return Seq("iterator", None, element)


def _reversed(frame: Frame, arguments: Arguments, node: ast.Call) -> Value:
    value = arguments.get(0)
    if isinstance(value, Seq) and value.items is not None:
        return Seq("iterator", tuple(reversed(value.items)), NEVER, value.origin)
    return Seq("iterator", None, _iterated(frame, arguments, node, 0, "reversed"))


def _sorted(frame: Frame, arguments: Arguments, node: ast.Call) -> Value:
    element = _iterated(frame, arguments, node, 0, "sorted")
    source = arguments.get(0)
    if not isinstance(source, Seq) or source.items is None or len(source.items) > 1:
        check_ordering(frame, "sorted", element, arguments, node, _argument_node(node, 0))
    return Seq("list", None, element)


def _iter(frame: Frame, arguments: Arguments, node: ast.Call) -> Value:
    return Seq("iterator", None, _iterated(frame, arguments, node, 0, "iter"))


def _next(frame: Frame, arguments: Arguments, node: ast.Call) -> Value:
    value = arguments.get(0)
    if node.args and not isinstance(node.args[0], ast.Call):
        report_mutation(frame, node.args[0], node, "call")
    return element_of(value) if isinstance(value, Seq) else Unknown("next")


def _sum(frame: Frame, arguments: Arguments, node: ast.Call) -> Value:
    element = _iterated(frame, arguments, node, 0, "sum")
    if isinstance(element, Static):
        return Static(element.type if element.type in ("int", "float") else "any", ANY, element.taint)
    tensor, _ = tensors_in(element)
    return Tensor(tensor.graph, tensor.sure, origin=tensor.origin) if tensor is not None else Unknown("sum")


def _extreme(name: str) -> Handler:
    def run(frame: Frame, arguments: Arguments, node: ast.Call) -> Value:
        values = list(arguments.positional)
        if len(values) == 1:
            values = [_iterated(frame, arguments, node, 0, name)] if isinstance(values[0], Seq) else values
        for place, value in enumerate(values):
            tensor = check_ordering(frame, name, value, arguments, node, _argument_node(node, place))
            if tensor is not None:
                return Tensor(origin=frame.origin(node, "`{}` is a tensor", tensor))
        return union(values) if values else Unknown(name)

    return run


def _any_all(name: str) -> Handler:
    def run(frame: Frame, arguments: Arguments, node: ast.Call) -> Value:
        element = _iterated(frame, arguments, node, 0, name)
        tensor, certain = tensors_in(element)
        if tensor is not None and tensor.graph and certain:
            frame.report(
                EventKind.CONDITION, node, name=name, value=element, subject=_argument_node(node, 0), bare=False
            )
        return Static("bool")

    return run


def _abs(frame: Frame, arguments: Arguments, node: ast.Call) -> Value:
    value = arguments.get(0)
    tensor = None if value is None else tensors_in(value)[0]
    return arithmetic_result(frame, tensor, tensor, node) if tensor is not None else value or Unknown("abs")


def _convert(name: str, result: str) -> Handler:
    def run(frame: Frame, arguments: Arguments, node: ast.Call) -> Value:
        value = arguments.get(0)
        if value is None:
            return Static(result)
        tensor, _ = tensors_in(value)
        if tensor is not None and tensor.graph and not tensor.listlike:
            frame.report(EventKind.CONVERT, node, name=name, value=value, subject=_argument_node(node, 0))
            return Static(result, ANY, "shape")
        if isinstance(value, Static):
            return Static(result, ANY, value.taint)
        return Static(result)

    return run


def _text(frame: Frame, arguments: Arguments, node: ast.Call) -> Value:
    return Static("str", ANY, "text" if any(tensors_in(value)[0] is not None for value in arguments.all) else "")


def _print(frame: Frame, arguments: Arguments, node: ast.Call) -> Value:
    shown = any(tensors_in(value)[0] is not None for value in arguments.all)
    frame.report(EventKind.EFFECT, node, name="print", confidence=Confidence.LIKELY, tensor=shown)
    return NONE


def _open(frame: Frame, arguments: Arguments, node: ast.Call) -> Value:
    frame.report(EventKind.EFFECT, node, name="file", confidence=Confidence.LIKELY)
    return Unknown("a file")


def _isinstance(frame: Frame, arguments: Arguments, node: ast.Call) -> Value:
    value, classes = arguments.get(0), arguments.get(1)
    if value is None or classes is None:
        return Static("bool")
    names = class_names(classes)
    note_instance_test(frame, value, names)
    tensor, _ = tensors_in(value)
    if tensor is not None and tensor.graph:
        if names == {"builtins.tuple"} and tensor.key is not None:
            subject, tested = _argument_node(node, 0), {"classes": _argument_node(node, 1)}
            frame.report(
                EventKind.TYPE_TEST, node, name="tuple", subject=subject, nodes=tested, confidence=Confidence.LIKELY
            )
        elif names and names <= {ARRAY_CLASS, GRAPH_CLASS}:
            return Static("bool", ANY, "kind")
    return Static("bool")


def _hasattr(frame: Frame, arguments: Arguments, node: ast.Call) -> Value:
    value = arguments.get(0)
    tensor = None if value is None else tensors_in(value)[0]
    return Static("bool", ANY, "kind" if tensor is not None and tensor.graph else "")


def _getattr(frame: Frame, arguments: Arguments, node: ast.Call) -> Value:
    owner, name = arguments.get(0), arguments.get(1)
    if owner is None or name is None:
        return Unknown("getattr")
    default = arguments.get(2)
    _check_switch(frame, owner, name, default, node)
    texts = _texts(frame, name)
    if not texts or (isinstance(owner, Namespace) and default is not None):
        return _wildcard(frame, owner, name)
    parts: list[Value] = [] if default is None else [default]
    for text in texts:
        if default is not None:
            frame.handlers.append(frozenset({"AttributeError"}))
        sub = ast.copy_location(ast.Attribute(node.args[0], text, ast.Load()), node)
        ast.copy_location(sub.ctx, node)
        parts.append(get_attribute(frame, owner, text, sub))
        if default is not None:
            frame.handlers.pop()
    return union(parts)


def _check_switch(frame: Frame, owner: Value, name: Value, default: Value | None, node: ast.Call) -> None:
    """`getattr(x, "shape", None)`: one answer for arrays, another for symbols."""
    tensor, certain = tensors_in(owner)
    if default is None or tensor is None or not tensor.graph or not certain or not isinstance(name, Static):
        return
    facts = method_facts()
    if name.const in facts.array_only or name.const in facts.graph_only:
        subject = _argument_node(node, 0)
        frame.report(EventKind.TYPE_TEST, node, name="attribute", subject=subject, confidence=Confidence.LIKELY)


def _texts(frame: Frame, name: Value) -> list[str]:
    """The texts that a name can be: a constant, or the constants given to a constructor argument."""
    if not isinstance(name, Static) or name.type != "str":
        return []
    if isinstance(name.const, str):
        return [name.const]
    if name.field is None:
        return []
    return [text for text in frame.session.constants.given(name.field) if isinstance(text, str)][:4]


def _wildcard(frame: Frame, owner: Value, name: Value) -> Value:
    if isinstance(owner, Instance):
        value = frame.session.field_source.find_field(owner.info, "*")
        if value is not None:
            return value
    return Unknown("attribute of a name that is computed")


def _setattr(frame: Frame, arguments: Arguments, node: ast.Call) -> Value:
    owner, name, value = arguments.get(0), arguments.get(1), arguments.get(2)
    if isinstance(owner, Instance) and value is not None and isinstance(name, Static):
        key = name.const if isinstance(name.const, str) else "*"
        if owner.ident >= 0:
            known = frame.env.get((owner.ident, key))
            frame.env[(owner.ident, key)] = value if known is None or key != "*" else join(known, value)
        if frame.session.classes.block_kind(owner.info) and not frame.constructing:
            subject = _argument_node(node, 0)
            frame.report(EventKind.SET_FIELD, node, name="setattr", subject=subject, how="assigned", holds="value")
    return NONE


def _type(frame: Frame, arguments: Arguments, node: ast.Call) -> Value:
    value = arguments.get(0)
    if isinstance(value, Instance):
        return ClassRef(value.info)
    return Static("any", ANY, "kind") if value is not None and tensors_in(value)[0] is not None else Unknown("type")


def _hash(frame: Frame, arguments: Arguments, node: ast.Call) -> Value:
    value = arguments.get(0)
    if value is not None:
        check_hash(frame, value, _argument_node(node, 0))
    return Static("int")


def _partial(frame: Frame, arguments: Arguments, node: ast.Call) -> Value:
    if not arguments.positional or arguments.star is not None:
        return Unknown("partial")
    if any(isinstance(value, Partial) for value in arguments.positional[1:]):
        return Unknown("partial of partials")
    pairs = tuple(arguments.keywords.items())
    return Partial(arguments.positional[0], arguments.positional[1:], pairs)


def _reduce(frame: Frame, arguments: Arguments, node: ast.Call) -> Value:
    function = arguments.get(0)
    element = _iterated(frame, arguments, node, 1, "reduce")
    start = arguments.get(2)
    total = element if start is None else join(start, element)
    if function is None:
        return Unknown("reduce")
    return frame.call(function, Arguments((total, element)), node)


def _chain(frame: Frame, arguments: Arguments, node: ast.Call) -> Value:
    parts = [_iterated(frame, arguments, node, place, "chain") for place in range(len(arguments.positional))]
    return Seq("iterator", None, union(parts))


def _same(frame: Frame, arguments: Arguments, node: ast.Call) -> Value:
    return arguments.get(0) or Unknown("copy")


_OPERATIONS: Mapping[str, ast.operator] = MappingProxyType(
    {
        "add": ast.Add(),
        "sub": ast.Sub(),
        "mul": ast.Mult(),
        "truediv": ast.Div(),
        "mod": ast.Mod(),
        "pow": ast.Pow(),
        "floordiv": ast.FloorDiv(),
        "matmul": ast.MatMult(),
    }
)
_IN_PLACE = MappingProxyType({"iadd": "+=", "isub": "-=", "imul": "*=", "itruediv": "/=", "imod": "%="})


def call_operator_module(frame: Frame, name: str, arguments: Arguments, node: ast.Call) -> Value:
    """`operator.add(a, b)`, `operator.iadd(a, b)`, `operator.getitem(a, i)`, ..."""
    left, right = arguments.get(0), arguments.get(1)
    if left is None:
        return Unknown("operator")
    left_node, right_node = _argument_node(node, 0), _argument_node(node, 1)
    if name in _IN_PLACE and right is not None:
        tensor, _ = tensors_in(left)
        if tensor is not None and tensor.graph:
            report_in_place(frame, node, left, _IN_PLACE[name], left_node, right_node)
            return arithmetic_result(frame, left, right, node)
        name = name[1:]
    if name in _OPERATIONS and right is not None:
        return binary(frame, left, right, _OPERATIONS[name], node, left_node, right_node)
    if name == "getitem" and right is not None:
        const = right.const if isinstance(right, Static) else ANY
        kind = right.type if isinstance(right, Static) else "unknown"
        return subscript(frame, left, kind, const, right, node)
    if name in ("neg", "abs") and tensors_in(left)[0] is not None:
        return arithmetic_result(frame, left, left, node)
    if name in ("truth", "not_"):
        check_truth(frame, left_node, left, f"operator.{name}")
        return Static("bool")
    return Unknown("operator")


BUILTINS: Mapping[str, Handler] = MappingProxyType(
    {
        "len": _len,
        "range": _range,
        "enumerate": _enumerate,
        "zip": _zip,
        "list": _sequence("list"),
        "tuple": _sequence("tuple"),
        "set": _sequence("set"),
        "frozenset": _sequence("set"),
        "dict": _dict,
        "map": _map,
        "filter": _filter,
        "reversed": _reversed,
        "sorted": _sorted,
        "iter": _iter,
        "next": _next,
        "sum": _sum,
        "max": _extreme("max"),
        "min": _extreme("min"),
        "any": _any_all("any"),
        "all": _any_all("all"),
        "abs": _abs,
        "int": _convert("int", "int"),
        "float": _convert("float", "float"),
        "bool": _convert("bool", "bool"),
        "complex": _convert("complex", "complex"),
        "round": _convert("round", "any"),
        "divmod": _convert("divmod", "any"),
        "str": _text,
        "repr": _text,
        "format": _text,
        "print": _print,
        "open": _open,
        "input": _open,
        "isinstance": _isinstance,
        "hasattr": _hasattr,
        "getattr": _getattr,
        "setattr": _setattr,
        "type": _type,
        "hash": _hash,
    }
)

FUNCTIONS: Mapping[str, Handler] = MappingProxyType(
    {
        "functools.partial": _partial,
        "functools.reduce": _reduce,
        "itertools.chain": _chain,
        "copy.copy": _same,
        "copy.deepcopy": _same,
        "collections.OrderedDict": _dict,
        "collections.deque": _sequence("list"),
    }
)
