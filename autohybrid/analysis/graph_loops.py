"""The control-flow operators `foreach`, `while_loop` and `cond`: their functions are followed with tensors."""

from __future__ import annotations

import ast

from autohybrid.analysis.events import EventKind
from autohybrid.analysis.frame import Arguments, Frame
from autohybrid.analysis.nodes import walk_nodes
from autohybrid.analysis.values import (
    NEVER,
    Func,
    Method,
    Seq,
    Tensor,
    Unknown,
    Value,
    make_seq,
    union,
)


def call_loop(frame: Frame, name: str, arguments: Arguments, node: ast.Call) -> Value:
    """The result of `F.contrib.foreach`, `while_loop` or `cond`."""
    if name == "foreach":
        return _foreach(frame, arguments, node)
    if name == "while_loop":
        return _while_loop(frame, arguments, node)
    results = []
    for place, keyword in ((1, "then_func"), (2, "else_func")):
        function = arguments.get(place, keyword)
        if isinstance(function, Func | Method):
            results.append(_follow(frame, function, Arguments(), node))
    return union(results) if results else Unknown("result of cond")


def _follow(frame: Frame, function: Value | None, arguments: Arguments, node: ast.Call) -> Value:
    if function is None:
        return Unknown("function of the loop")
    inside, frame.in_loop_body = frame.in_loop_body, True
    result = frame.call(function, arguments, node)
    frame.in_loop_body = inside
    return result


def _foreach(frame: Frame, arguments: Arguments, node: ast.Call) -> Value:
    data, states = arguments.get(1, "data"), arguments.get(2, "init_states")
    element = _slices(frame, data, node)
    result = _follow(frame, arguments.get(0, "body"), Arguments((element, _states(states))), node)
    if isinstance(result, Seq) and result.items is not None and len(result.items) == 2:
        return make_seq("tuple", result.items)
    tensor = Tensor(sure=False, origin=frame.origin(node, "`{}` is a tensor"))
    return make_seq("tuple", (tensor, Unknown("states of the loop")))


def _slices(frame: Frame, data: Value | None, node: ast.Call) -> Value:
    origin = frame.origin(node, "`{}` passes slices of a tensor")
    if isinstance(data, Seq):
        return Seq("list", None, Tensor(origin=origin))
    if isinstance(data, Tensor) and data.listlike:
        return Tensor(sure=False, listlike=True, origin=origin)
    return Tensor(origin=origin) if isinstance(data, Tensor) else Unknown("data of the loop")


def _states(states: Value | None) -> Value:
    if isinstance(states, Seq):
        return states
    if isinstance(states, Tensor):
        return Tensor(sure=states.sure, listlike=states.listlike, origin=states.origin)
    return Unknown("states of the loop")


def _while_loop(frame: Frame, arguments: Arguments, node: ast.Call) -> Value:
    variables = arguments.get(2, "loop_vars")
    if isinstance(variables, Seq) and variables.items is not None:
        passed = Arguments(variables.items)
    else:
        passed = Arguments((), {}, Tensor(sure=False))
    for place, keyword in ((0, "cond"), (1, "func")):
        function = arguments.get(place, keyword)
        captured = _captured(frame, function)
        if captured:
            frame.report(EventKind.LOOP_BODY, node, name="capture", subject=None, captured=captured)
    _follow(frame, arguments.get(0, "cond"), passed, node)
    _follow(frame, arguments.get(1, "func"), passed, node)
    tensor = Tensor(sure=False, origin=frame.origin(node, "`{}` is a tensor"))
    return make_seq("tuple", (Seq("list", None, tensor), Seq("list", None, tensor)))


def _captured(frame: Frame, function: Value | None) -> str:
    """The first tensor of the function around that a loop function uses, or an empty text."""
    if not isinstance(function, Func) or function.closure is None:
        return ""
    definition = function.node
    own = {parameter.arg for parameter in (*definition.args.args, *definition.args.posonlyargs)}
    body: list[ast.AST] = [definition.body] if isinstance(definition, ast.Lambda) else list(definition.body)
    for root in body:
        for part in walk_nodes(root):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load) and part.id not in own:
                value = function.closure.env.get(part.id, NEVER)
                if isinstance(value, Tensor) and value.graph:
                    return part.id
    return ""
