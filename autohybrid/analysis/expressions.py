"""Expressions: the value of every kind of expression but attributes, subscripts, calls and conditions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from autohybrid.analysis.conditions import test
from autohybrid.analysis.events import EventKind
from autohybrid.analysis.frame import Frame
from autohybrid.analysis.subscripts import iterate
from autohybrid.analysis.values import (
    ANY,
    NEVER,
    NONE,
    Func,
    Map,
    Parameter,
    Seq,
    Static,
    Tensor,
    Union,
    Unknown,
    Value,
    element_of,
    join,
    make_seq,
    members_of,
    tensors_in,
    union,
)

_CONSTANTS = {int: "int", float: "float", str: "str", bool: "bool", bytes: "bytes", complex: "complex"}
_REFUSED = {
    ast.FloorDiv: "//",
    ast.MatMult: "@",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
}
_EXPONENTS = frozenset({"k", "n", "p", "power", "exponent", "order", "degree"})
_SYMBOLS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Mod: "%", ast.Pow: "**"}


def evaluate_constant(frame: Frame, node: ast.Constant) -> Value:
    """A literal."""
    const = node.value
    if const is None:
        return NONE
    if const is Ellipsis:
        return Static("ellipsis")
    return Static(_CONSTANTS.get(const.__class__, "any"), const)


def evaluate_name(frame: Frame, node: ast.Name) -> Value:
    """A name."""
    value = frame.env.get(node.id)
    return frame.lookup(node.id) if value is None else value


def evaluate_bin_op(frame: Frame, node: ast.BinOp) -> Value:
    """`left op right`."""
    left, right = frame.eval(node.left), frame.eval(node.right)
    return binary(frame, left, right, node.op, node, node.left, node.right)


def binary(
    frame: Frame, left: Value, right: Value, op: ast.operator, node: ast.AST, left_node: ast.expr, right_node: ast.expr
) -> Value:
    """The value of an arithmetic operation, and the events when one operand is a tensor."""
    left_tensor, _ = tensors_in(left)
    right_tensor, _ = tensors_in(right)
    if left_tensor is None and right_tensor is None:
        return _static_binary(left, right, op)
    if isinstance(op, ast.Mod) and isinstance(left, Static) and left.type in ("str", "bytes"):
        return Static(left.type, ANY, "text")
    tensor = left_tensor or right_tensor
    assert tensor is not None
    if (left_tensor is None and is_list(left)) or (right_tensor is None and is_list(right)):
        return _with_list(frame, left, right, op, tensor, node)
    if tensor.listlike and (left_tensor is None or right_tensor is None or right_tensor.listlike):
        return Tensor(sure=False, listlike=True, origin=tensor.origin)
    exponent = right_tensor.key if isinstance(op, ast.Pow) and right_tensor is not None else None
    if exponent is not None and exponent.name in _EXPONENTS:
        frame.session.evidence.note_static(exponent, "an exponent")
    refused = _REFUSED.get(op.__class__)
    if refused is not None:
        value = left if left_tensor is not None else right
        frame.report(
            EventKind.OPERATOR,
            node,
            name=refused,
            value=value,
            nodes={"left": left_node, "right": right_node},
            left=frame.text(left_node),
            right=frame.text(right_node),
        )
    else:
        check_operands(frame, left, right, _SYMBOLS.get(op.__class__, "+"), node, left_node, right_node)
    return arithmetic_result(frame, left, right, node)


def arithmetic_result(frame: Frame, left: Value, right: Value, node: ast.AST) -> Tensor:
    """The tensor that an element-wise operation of two operands gives."""
    tensors = [tensor for tensor in (tensors_in(left)[0], tensors_in(right)[0]) if tensor is not None]
    graph = any(tensor.graph for tensor in tensors)
    depends = any(tensor.depends for tensor in tensors)
    other_unknown = isinstance(left, Unknown) or isinstance(right, Unknown)
    shape = tensors[0].shape if len({tensor.shape for tensor in tensors}) == 1 and len(tensors) == 2 else None
    cause = next((tensor for tensor in tensors if tensor.graph == graph), tensors[0])
    return Tensor(
        graph=graph,
        sure=any(tensor.sure for tensor in tensors),
        depends=depends or other_unknown,
        shape=shape,
        origin=frame.origin(node, "`{}` is a tensor", cause),
        reduced=tensors[0].reduced if len(tensors) == 1 else None,
        like=cause.shape_origin,  # a graph has only equal shapes here
    )


def check_operands(
    frame: Frame, left: Value, right: Value, symbol: str, node: ast.AST, left_node: ast.expr, right_node: ast.expr
) -> None:
    """Report operands that a Symbol does not accept beside it: booleans, lists, NumPy and NDArray values, None; and
    shapes that need broadcasting."""
    left_tensor, left_sure = tensors_in(left)
    right_tensor, right_sure = tensors_in(right)
    if left_tensor is not None and right_tensor is not None:
        _check_two_tensors(frame, left_tensor, right_tensor, symbol, node, left_node, right_node)
        return
    tensor_value, other, other_node = (left, right, right_node) if left_tensor is not None else (right, left, left_node)
    tensor = left_tensor or right_tensor
    if tensor is None or not tensor.graph or not (left_sure or right_sure):
        return
    kind = _odd_operand(other)
    if kind:
        sure = _is_const(other)
        frame.report(
            EventKind.OPERATOR,
            node,
            name=symbol,
            value=tensor_value if sure else Union((tensor_value, other)) if tensor_value != other else tensor_value,
            operand=kind,
            nodes={"other": other_node},
            left=frame.text(left_node),
            right=frame.text(right_node),
            other=frame.text(other_node),
        )


def _is_const(value: Value) -> bool:
    return (isinstance(value, Static) and (value.const is not ANY or value.field is None)) or isinstance(
        value, Parameter
    )


def _odd_operand(other: Value) -> str:
    if isinstance(other, Static):
        if other.type in ("bool", "str", "numpy"):
            return other.type
        return "none" if other.type == "none" else ""
    if isinstance(other, Parameter):
        return "parameter"
    return "dict" if isinstance(other, Map) else ""


def _check_two_tensors(
    frame: Frame, left: Tensor, right: Tensor, symbol: str, node: ast.AST, left_node: ast.expr, right_node: ast.expr
) -> None:
    if left.graph != right.graph:
        graph, array = (left, right_node) if left.graph else (right, left_node)
        frame.report(EventKind.FOREIGN, node, name=symbol, value=graph, how="operand", array=frame.text(array))
        return
    if not left.graph:
        return
    verdict = shapes_differ(left, right)
    if verdict:
        frame.report(
            EventKind.SHAPES,
            node,
            name=symbol,
            value=Tensor(sure=verdict == "differ", origin=(left.origin if left.shape is None else right.origin)),
            nodes={"left": left_node, "right": right_node},
            left=frame.text(left_node),
            right=frame.text(right_node),
            left_shape=left.shape,
            right_shape=right.shape,
        )


def shapes_differ(left: Tensor, right: Tensor) -> str:
    """``"differ"`` when two known shapes are not equal, ``"may"`` when a shape with sizes of 1 meets a tensor whose
    shape is not known, or a sum over axes the tensor it was made of; else an empty text."""
    for one, other in ((left, right), (right, left)):
        if one.reduced is not None and one.reduced is other.shape_origin:
            return "may"
    if left.shape is not None and right.shape is not None:
        if len(left.shape) != len(right.shape):
            return "differ"
        pairs = zip(left.shape, right.shape)
        return "differ" if any(a is not None and b is not None and a != b for a, b in pairs) else ""
    known = left.shape if left.shape is not None else right.shape
    return "may" if known is not None and 1 in known else ""


def is_list(value: Value) -> bool:
    """Whether a sequence is among the alternatives."""
    return any(isinstance(member, Seq) for member in members_of(value))


def _with_list(frame: Frame, left: Value, right: Value, op: ast.operator, tensor: Tensor, node: ast.AST) -> Value:
    """A list beside something that may be a tensor: list concatenation when that something may be a list."""
    seq = next(member for member in (*members_of(left), *members_of(right)) if isinstance(member, Seq))
    if isinstance(op, ast.Add) and (tensor.listlike or tensor.key is not None or not tensor.sure):
        return Seq(seq.kind, None, join(element_of(seq), Tensor(sure=False, listlike=True, origin=tensor.origin)))
    if isinstance(left, Union) or isinstance(right, Union):
        return Unknown("operation on a list")
    if seq.kind != "outputs":
        frame.report(EventKind.OPERATOR, node, name=_SYMBOLS.get(op.__class__, "+"), value=tensor, operand="list")
    return Tensor(sure=False, origin=tensor.origin)


def _static_binary(left: Value, right: Value, op: ast.operator) -> Value:
    if isinstance(left, Static) and isinstance(right, Static):
        return _static_numbers(left, right, op)
    if isinstance(left, Unknown) or isinstance(right, Unknown):
        return left if isinstance(left, Unknown) else right
    if isinstance(left, Union) or isinstance(right, Union):
        if len(members_of(left)) * len(members_of(right)) > 9:
            return Unknown("operation on many kinds of value")
        return union(_static_binary(a, b, op) for a in members_of(left) for b in members_of(right))
    if isinstance(left, Seq) and isinstance(right, Seq) and isinstance(op, ast.Add):
        if left.items is not None and right.items is not None:
            return make_seq(left.kind, (*left.items, *right.items), left.origin)
        return Seq(left.kind, None, join(element_of(left), element_of(right)), left.origin)
    if isinstance(op, ast.Mult):
        for seq, times in ((left, right), (right, left)):
            if isinstance(seq, Seq) and isinstance(times, Static):
                return _repeat(seq, times)
    return Unknown("operation")


def _repeat(seq: Seq, times: Static) -> Seq:
    if seq.items is not None and type(times.const) is int and 0 <= times.const * len(seq.items) <= 12:
        return make_seq(seq.kind, seq.items * times.const, seq.origin)
    return Seq(seq.kind, None, element_of(seq), seq.origin)


def _static_numbers(left: Static, right: Static, op: ast.operator) -> Static:
    taint = left.taint or right.taint
    if "numpy" in (left.type, right.type):
        return Static("numpy", ANY, taint)
    if "any" in (left.type, right.type):
        return Static("any", ANY, taint)
    if left.type == "str":
        return Static("str", ANY, taint)
    numeric = {"int", "float", "bool"}
    if left.type not in numeric or right.type not in numeric:
        return Static("any", ANY, taint)
    if isinstance(op, ast.Div) or "float" in (left.type, right.type):
        return Static("float", ANY, taint)
    return Static("int", _fold(left.const, right.const, op), taint)


def _fold(left: object, right: object, op: ast.operator) -> object:
    """The constant of an integer operation, for small numbers only: it decides indices and counts."""
    if not (isinstance(left, int) and isinstance(right, int) and abs(left) < 10**6 and abs(right) < 10**6):
        return ANY
    folds: dict[type[ast.operator], Callable[[int, int], int]] = {
        ast.Add: lambda a, b: a + b,
        ast.Sub: lambda a, b: a - b,
        ast.Mult: lambda a, b: a * b,
    }
    fold = folds.get(op.__class__)
    if fold is not None:
        return fold(left, right)
    if isinstance(op, ast.FloorDiv) and right:
        return left // right
    return left % right if isinstance(op, ast.Mod) and right else ANY


def evaluate_unary_op(frame: Frame, node: ast.UnaryOp) -> Value:
    """`-x`, `+x`, `~x`, `not x`."""
    if isinstance(node.op, ast.Not):
        truth = test(frame, node.operand, "not")
        return Static("bool", ANY if truth is None else not truth)
    value = frame.eval(node.operand)
    tensor, _ = tensors_in(value)
    if tensor is None:
        if isinstance(value, Static) and isinstance(value.const, int | float) and isinstance(node.op, ast.USub):
            return Static(value.type, -value.const, value.taint)
        return value if isinstance(value, Static) else Unknown("operation")
    if not isinstance(node.op, ast.USub):
        symbol = "+" if isinstance(node.op, ast.UAdd) else "~"
        frame.report(EventKind.OPERATOR, node, name=f"unary {symbol}", value=value, right=frame.text(node.operand))
    return arithmetic_result(frame, tensor, tensor, node)


def elements(frame: Frame, nodes: Sequence[ast.expr]) -> tuple[list[Value], bool]:
    """The values of the elements of a display, and whether each is known by itself (no `*` of unknown length)."""
    values: list[Value] = []
    exact = True
    for node in nodes:
        if not isinstance(node, ast.Starred):
            values.append(frame.eval(node))
            continue
        inner = frame.eval(node.value)
        if isinstance(inner, Seq) and inner.items is not None:
            values.extend(inner.items)
        else:
            values.append(iterate(frame, inner, node.value, "*"))
            exact = False
    return values, exact


def evaluate_sequence(frame: Frame, node: ast.Tuple | ast.List) -> Value:
    """A tuple or list display."""
    kind = "tuple" if isinstance(node, ast.Tuple) else "list"
    values, exact = elements(frame, node.elts)
    if exact:
        return make_seq(kind, values)
    return Seq(kind, None, union(values))


def evaluate_set(frame: Frame, node: ast.Set) -> Value:
    """A set display: its elements are hashed."""
    values, _ = elements(frame, node.elts)
    for value, element in zip(values, node.elts):
        check_hash(frame, value, element)
    return Seq("set", None, union(values))


def check_hash(frame: Frame, value: Value, node: ast.expr) -> None:
    """Report a tensor that is hashed."""
    tensor, _ = tensors_in(value)
    if tensor is not None and tensor.graph and not tensor.listlike:
        frame.report(EventKind.HASH, node, value=value, subject=node)


def evaluate_dict(frame: Frame, node: ast.Dict) -> Value:
    """A dictionary display."""
    items: list[tuple[object, Value]] = []
    element: Value = NEVER
    for key_node, value_node in zip(node.keys, node.values):
        value = frame.eval(value_node)
        if key_node is None:
            if isinstance(value, Map):
                items.extend(value.items)
                element = join(element, value.element)
            else:
                element = Unknown("unpacked dictionary")
            continue
        key = frame.eval(key_node)
        check_hash(frame, key, key_node)
        if isinstance(key, Static) and key.const is not ANY and len(items) < 64:
            items.append((key.const, value))
        else:
            element = join(element, value)
    return Map(tuple({(type(key), key): (key, value) for key, value in items}.values()), element)


def evaluate_lambda(frame: Frame, node: ast.Lambda) -> Value:
    """A lambda expression."""
    return Func(node, frame.module, frame, frame.owner)


def evaluate_joined_str(frame: Frame, node: ast.JoinedStr) -> Value:
    """An f-string; of a tensor it shows the name once hybridized, which matters where the text is kept."""
    taint = ""
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            value = frame.eval(part.value)
            if tensors_in(value)[0] is not None:
                taint = "text"
            elif isinstance(value, Static):
                taint = taint or value.taint
    return Static("str", ANY, taint)


def evaluate_named(frame: Frame, node: ast.NamedExpr) -> Value:
    """`name := value`."""
    value = frame.eval(node.value)
    if isinstance(node.target, ast.Name):
        frame.env[node.target.id] = value
    return value


def evaluate_starred(frame: Frame, node: ast.Starred) -> Value:
    """`*value` outside a display."""
    return iterate(frame, frame.eval(node.value), node.value, "*")


def evaluate_yield(frame: Frame, node: ast.Yield) -> Value:
    """`yield value`: the function gives an iterator over what is yielded."""
    frame.is_generator = True
    value = frame.eval(node.value) if node.value is not None else NONE
    frame.yielded = join(frame.yielded, value)
    return Unknown("sent to the generator")


def evaluate_yield_from(frame: Frame, node: ast.YieldFrom) -> Value:
    """`yield from values`."""
    frame.is_generator = True
    frame.yielded = join(frame.yielded, iterate(frame, frame.eval(node.value), node.value, "yield from"))
    return Unknown("returned by the generator")


def evaluate_await(frame: Frame, node: ast.Await) -> Value:
    """`await value`."""
    frame.eval(node.value)
    return Unknown("awaited")
