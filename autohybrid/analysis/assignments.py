"""Assignments: what binding a name, field or item does, and the events of changing something in place."""

from __future__ import annotations

import ast

from autohybrid.analysis.events import EventKind
from autohybrid.analysis.expressions import arithmetic_result, binary
from autohybrid.analysis.frame import Frame
from autohybrid.analysis.nodes import walk_nodes
from autohybrid.analysis.subscripts import describe_index, unpack
from autohybrid.analysis.values import (
    ANY,
    NEVER,
    ClassRef,
    Instance,
    Layer,
    Map,
    ModuleRef,
    Origin,
    Parameter,
    Seq,
    Static,
    Tensor,
    Unknown,
    Value,
    element_of,
    is_none,
    join,
    members_of,
    tensors_in,
)
from autohybrid.diagnostics.model import Confidence

_IN_PLACE = {ast.Add: "+=", ast.Sub: "-=", ast.Mult: "*=", ast.Div: "/=", ast.Mod: "%="}


def assign(frame: Frame, target: ast.expr, value: Value, source: ast.expr) -> None:
    """Bind `value`, which came from the expression `source`, to a target."""
    if isinstance(target, ast.Name):
        if value.__class__ is Tensor and not frame.quiet:
            value = _named(value, target.id, source)
        _assign_name(frame, target, value)
    elif isinstance(target, ast.Tuple | ast.List):
        starred = next((i for i, part in enumerate(target.elts) if isinstance(part, ast.Starred)), None)
        for part, item in zip(target.elts, unpack(frame, value, len(target.elts), starred, source)):
            assign(frame, part.value if isinstance(part, ast.Starred) else part, item, source)
    elif isinstance(target, ast.Attribute):
        _assign_field(frame, target, value, source)
    elif isinstance(target, ast.Subscript):
        _assign_item(frame, target, value)


def _named(value: Tensor, name: str, source: ast.expr) -> Tensor:
    """The same tensor, its origin told with the name it is given."""
    origin = value.origin
    if origin is None or origin.node is not source or not origin.note.startswith("`{}` is a tensor"):
        return value
    named = Origin(origin.module, source, f"`{name} = {{}}` is a tensor", origin.cause)
    return Tensor(
        value.graph,
        value.sure,
        value.listlike,
        value.key,
        value.depends,
        value.shape,
        value.single,
        origin=named,
        reduced=value.reduced,
        like=value.shape_origin,
    )


def _assign_name(frame: Frame, target: ast.Name, value: Value) -> None:
    scope = frame.declared.get(target.id) if frame.declared else None
    if scope is None:
        frame.env[target.id] = value
        return
    if scope == "global":
        frame.report(EventKind.MUTATE, target, name=scope, subject=target, how="name")
    elif frame.in_loop_body:
        frame.report(EventKind.LOOP_BODY, target, name="mutation", subject=target, how="name")
    closure = frame.closure
    while scope == "nonlocal" and closure is not None:
        if target.id in closure.env:
            closure.env[target.id] = join(closure.env[target.id], value)
            return
        closure = closure.closure


def _assign_field(frame: Frame, target: ast.Attribute, value: Value, source: ast.expr) -> None:
    base = frame.eval(target.value)
    if isinstance(base, Instance):
        if base.ident >= 0:
            frame.env[(base.ident, target.attr)] = value
        if base.ident < 0 or frame.session.classes.block_kind(base.info):
            _report_field(frame, target, value, source, "assigned")
    elif isinstance(base, Parameter | Layer):
        frame.report(EventKind.EFFECT, target, name="parameter", subject=target.value, call=target.attr)
    elif isinstance(base, ClassRef | ModuleRef):
        frame.report(EventKind.MUTATE, target, name="global", subject=target, how="field")
    else:
        tensor, certain = tensors_in(base)
        if tensor is not None and tensor.graph and certain:
            frame.report(EventKind.STORE_ATTRIBUTE, target, name=target.attr, value=base, subject=target.value)


def _report_field(frame: Frame, target: ast.expr, value: Value, source: ast.expr, how: str) -> None:
    if frame.quiet:
        return
    tensor, _ = tensors_in(value)
    holds = "tensor" if tensor is not None else "value"
    confidence = Confidence.POSSIBLE if _is_settled(target, value, source) else Confidence.DEFINITE
    frame.report(
        EventKind.SET_FIELD,
        target,
        name=frame.text(target),
        subject=target,
        confidence=confidence,
        how=how,
        holds=holds,
    )


def _is_settled(target: ast.expr, value: Value, source: ast.expr) -> bool:
    """Whether a field gets the same value at every call: one that depends on no tensor and not on itself."""
    if not isinstance(value, Static) or value.taint or not isinstance(target, ast.Attribute):
        return False
    return not any(isinstance(node, ast.Attribute) and node.attr == target.attr for node in walk_nodes(source))


def _assign_item(frame: Frame, target: ast.Subscript, value: Value) -> None:
    base = frame.eval(target.value)
    kind, const, _ = describe_index(frame, target.slice)
    if _store_in_tensor(frame, base, target, kind, const):
        return
    report_mutation(frame, target.value, target, "item")
    if isinstance(base, Map):
        rebind(frame, target.value, _with_item(base, const, value))
    elif isinstance(base, Seq):
        rebind(frame, target.value, _with_element(base, kind, const, value))


def _store_in_tensor(frame: Frame, base: Value, target: ast.Subscript, kind: str, const: object) -> bool:
    tensor, _ = tensors_in(base)
    if tensor is None or not tensor.graph:
        return False
    if tensor.listlike and kind in ("int", "str", "unknown", "slice"):
        return True
    frame.report(
        EventKind.STORE_SUBSCRIPT,
        target,
        name=kind,
        value=base,
        subject=target.value,
        index=kind,
        index_text=frame.text(target.slice),
        const=const,
    )
    return True


def _with_item(base: Map, const: object, value: Value) -> Map:
    if const is ANY:
        return Map(base.items, join(base.element, value), base.default)
    kept = tuple(item for item in base.items if not (type(item[0]) is type(const) and item[0] == const))
    if len(kept) >= 64:
        return Map(base.items, join(base.element, value), base.default)
    return Map((*kept, (const, value)), base.element, base.default)


def _with_element(base: Seq, kind: str, const: object, value: Value) -> Seq:
    if (
        base.items is not None
        and kind == "int"
        and isinstance(const, int)
        and -len(base.items) <= const < len(base.items)
    ):
        items = list(base.items)
        items[const] = value
        return Seq(base.kind, tuple(items), NEVER, base.origin)
    if kind == "slice":
        value = element_of(value) if isinstance(value, Seq) else Unknown("element")
    known = element_of(base)
    return Seq(base.kind, None, value if is_none(known) else join(known, value), base.origin)


def rebind(frame: Frame, node: ast.expr, value: Value) -> None:
    """Store the changed container where it was read from: a name, a field, or an item of another container."""
    if isinstance(node, ast.Name):
        if node.id in frame.env:
            frame.env[node.id] = value
            return
        closure = frame.closure
        while closure is not None:
            if node.id in closure.env:
                closure.env[node.id] = value
                return
            closure = closure.closure
    elif isinstance(node, ast.Attribute):
        base = frame.eval(node.value)
        if isinstance(base, Instance) and base.ident >= 0:
            frame.env[(base.ident, node.attr)] = value
    elif isinstance(node, ast.Subscript):
        outer = frame.eval(node.value)
        kind, const, _ = describe_index(frame, node.slice)
        if isinstance(outer, Map):
            rebind(frame, node.value, _with_item(outer, const, value))
        elif isinstance(outer, Seq):
            rebind(frame, node.value, _with_element(outer, kind, const, value))


def report_mutation(frame: Frame, node: ast.expr, where: ast.AST, how: str) -> None:
    """Report the change of a container that outlives the call: of a block, a module, a default argument, or of the
    function around a loop body."""
    if frame.quiet:
        return
    root = node
    while isinstance(root, ast.Attribute | ast.Subscript):
        root = root.value
    if not isinstance(root, ast.Name):
        return
    value = frame.env.get(root.id)
    if value is not None:
        if isinstance(value, Map | Seq) and getattr(value, "default", False):
            frame.report(EventKind.MUTATE, where, name="default", subject=node, how=how)
        elif value is frame.receiver and root is not node and _is_block(frame, value):
            frame.report(EventKind.SET_FIELD, where, name=frame.text(node), subject=node, how=how, holds="value")
        return
    closure = frame.closure
    while closure is not None:
        if root.id in closure.env:
            if frame.in_loop_body:
                frame.report(EventKind.LOOP_BODY, where, name="mutation", subject=node, how=how)
            elif isinstance(closure.env[root.id], Instance) and root is not node:
                frame.report(EventKind.SET_FIELD, where, name=frame.text(node), subject=node, how=how, holds="value")
            return
        closure = closure.closure
    owner = frame.lookup(root.id)
    if isinstance(owner, Map | Seq | Unknown | ClassRef) and root.id in frame.module.bindings:
        imported = all(binding.kind in ("module", "member") for binding in frame.module.bindings[root.id])
        if not imported:
            frame.report(EventKind.MUTATE, where, name="global", subject=node, how=how)


def _is_block(frame: Frame, value: Value) -> bool:
    return isinstance(value, Instance) and (value.ident < 0 or bool(frame.session.classes.block_kind(value.info)))


def augment(frame: Frame, node: ast.AugAssign) -> None:
    """`target op= value`."""
    target = node.target
    right = frame.eval(node.value)
    if isinstance(target, ast.Subscript):
        base = frame.eval(target.value)
        kind, const, _ = describe_index(frame, target.slice)
        tensor, _ = tensors_in(base)
        if tensor is not None and tensor.graph and not (tensor.listlike and kind in ("int", "str", "unknown")):
            _store_in_tensor(frame, base, target, kind, const)
            return
    left = frame.eval(target)
    result = _augmented(frame, left, right, node)
    whole = ast.copy_location(ast.BinOp(_as_read(target), node.op, node.value), node)
    assign(frame, target, result, whole)


def _as_read(target: ast.expr) -> ast.expr:
    """The target of `op=` as an expression that reads it."""
    if isinstance(target, ast.Attribute):
        return ast.copy_location(ast.Attribute(target.value, target.attr, ast.Load()), target)
    return target


def _augmented(frame: Frame, left: Value, right: Value, node: ast.AugAssign) -> Value:
    tensor, _ = tensors_in(left)
    if tensor is None or not tensor.graph or tensor.listlike:
        return binary(frame, left, right, node.op, node, node.target, node.value)
    operator = _IN_PLACE.get(node.op.__class__)
    if operator is None:
        return binary(frame, left, right, node.op, node, node.target, node.value)
    if any(isinstance(member, Seq) for member in members_of(right)) and tensor.key is not None:
        return Unknown("list or tensor")
    report_in_place(frame, node, left, operator, node.target, node.value)
    return arithmetic_result(frame, left, right, node)


def report_in_place(frame: Frame, node: ast.AST, left: Value, operator: str, target: ast.expr, value: ast.expr) -> None:
    """Report `target op= value` on a tensor. A number that became a tensor fails from the second time on."""
    numbers = [member for member in members_of(left) if isinstance(member, Static) and not is_none(member)]
    tensor, _ = tensors_in(left)
    confidence = Confidence.LIKELY if numbers and isinstance(tensor, Tensor) else None
    frame.report(
        EventKind.AUGMENT,
        node,
        name=operator,
        value=left,
        subject=target,
        confidence=confidence,
        nodes={"left": target, "right": value} if isinstance(node, ast.AugAssign) else None,
        target=frame.text(target),
        operand=frame.text(value),
        number=bool(numbers),
    )
