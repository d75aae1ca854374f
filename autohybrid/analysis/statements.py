"""Statements: how each changes the environment, and where control goes."""

from __future__ import annotations

import ast
from collections.abc import Callable

from autohybrid.analysis.assignments import assign, augment, report_mutation
from autohybrid.analysis.conditions import assume, test
from autohybrid.analysis.events import EventKind
from autohybrid.analysis.frame import Env, Frame, join_envs, widen_envs
from autohybrid.analysis.index import ClassInfo, FunctionNode
from autohybrid.analysis.kind_branches import check_kind_branch
from autohybrid.analysis.subscripts import iterate
from autohybrid.analysis.values import (
    NEVER,
    NONE,
    ClassRef,
    Func,
    Layer,
    Namespace,
    Operator,
    Unknown,
    Value,
    join,
    tensors_in,
)

MAX_ROUNDS = 3
MAX_NESTED_LOOPS = 3


def run_expr(frame: Frame, node: ast.Expr) -> bool:
    """An expression statement."""
    if not isinstance(node.value, ast.Constant):
        frame.eval(node.value)
    return True


def run_assign(frame: Frame, node: ast.Assign) -> bool:
    """`a = b = value`."""
    value = frame.eval(node.value)
    for target in node.targets:
        assign(frame, target, value, node.value)
    return True


def run_ann_assign(frame: Frame, node: ast.AnnAssign) -> bool:
    """`name: type = value`."""
    if node.value is not None:
        assign(frame, node.target, frame.eval(node.value), node.value)
    return True


def run_aug_assign(frame: Frame, node: ast.AugAssign) -> bool:
    """`name op= value`."""
    augment(frame, node)
    return True


def run_return(frame: Frame, node: ast.Return) -> bool:
    """`return value`: an exit of the function."""
    value = frame.eval(node.value) if node.value is not None else NONE
    if not frame.is_eager or isinstance(value, Namespace | Operator):
        frame.returned = join(frame.returned, value)
    frame.returns.append((node, value))
    frame.exit_envs.append(frame.env)
    return False


def run_raise(frame: Frame, node: ast.Raise) -> bool:
    """`raise`: the flow ends."""
    if node.exc is not None:
        frame.raising += 1
        frame.eval(node.exc)
        frame.raising -= 1
    return False


def run_if(frame: Frame, node: ast.If) -> bool:
    """`if`: both branches from copies of the environment, then joined."""
    if not frame.quiet:
        check_kind_branch(frame, node, frame.rest)
    truth = test(frame, node.test, "if")
    before = frame.env
    ends: list[Env] = []
    for body, outcome in ((node.body, True), (node.orelse, False)):
        if truth is (not outcome):
            continue
        frame.env = dict(before)
        if assume(frame, node.test, outcome) and run_block(frame, body):
            ends.append(frame.env)
    return _meet(frame, ends, before)


def run_block(frame: Frame, body: list[ast.stmt]) -> bool:
    """Run a branch; one that ends by raising is a check, and its effects are of no interest."""
    raises = bool(body) and isinstance(body[-1], ast.Raise)
    frame.raising += raises
    live = frame.run(body)
    frame.raising -= raises
    return live


def _meet(frame: Frame, ends: list[Env], before: Env) -> bool:
    if not ends:
        frame.env = before
        return False
    env = ends[0]
    for other in ends[1:]:
        env = join_envs(env, other)
    frame.env = env
    return True


def run_for(frame: Frame, node: ast.For) -> bool:
    """`for`: the body to a fixpoint."""
    source = frame.eval(node.iter)
    element = iterate(frame, source, node.iter, "for")

    def enter() -> bool:
        assign(frame, node.target, element, node.iter)
        return element is not NEVER

    return _run_loop(frame, enter, node.body, node.orelse, lambda: True)


def run_while(frame: Frame, node: ast.While) -> bool:
    """`while`: the body to a fixpoint."""
    truths: list[bool | None] = []

    def enter() -> bool:
        truth = test(frame, node.test, "while")
        truths.append(truth)
        return truth is not False and assume(frame, node.test, True)

    def leave() -> bool:
        return truths[-1] is not True and assume(frame, node.test, False)

    return _run_loop(frame, enter, node.body, node.orelse, leave)


def _run_loop(
    frame: Frame,
    enter: Callable[[], bool],
    body: list[ast.stmt],
    orelse: list[ast.stmt],
    leave: Callable[[], bool],
) -> bool:
    session, outer_breaks, outer_continues = frame.session, frame.breaks, frame.continues
    outer_missed, session.missed = session.missed, set()
    frame.breaks, head = [], frame.env
    frame.loops += 1
    for _ in range(_rounds(frame)):
        frame.env, frame.continues = dict(head), []
        if not enter():
            break
        ends = [*([frame.env] if frame.run(body) else []), *frame.continues]
        if not ends:
            break
        widened = head
        for end in ends:
            widened = widen_envs(widened, end)
        settled = _says_nothing_new(frame, head, widened)
        head = widened
        if settled:
            break
    frame.loops -= 1
    breaks = frame.breaks
    frame.breaks, frame.continues = outer_breaks, outer_continues
    session.missed |= outer_missed
    frame.env = dict(head)
    ends = []
    if leave() and (not orelse or frame.run(orelse)):
        ends.append(frame.env)
    return _meet(frame, [*ends, *breaks], head)


def _says_nothing_new(frame: Frame, head: Env, widened: Env) -> bool:
    """Whether another round of a loop would see what this one saw: a name that the body binds for itself counts only
    where it was looked for before; the children that containers get in a constructor do not count."""
    for key, now in widened.items():
        known = head.get(key)
        if known is None:
            if key in frame.session.missed:
                return False
        elif now is not known and now != known and not (frame.constructing and _differ_in_children(known, now)):
            return False
    return True


def _differ_in_children(left: Value, right: Value) -> bool:
    if not (isinstance(left, Layer) and isinstance(right, Layer)):
        return False
    return left.facts is right.facts and left.deferred == right.deferred


def _rounds(frame: Frame) -> int:
    """How often a loop is run at most: constructors only tell kinds of fields, which two rounds settle."""
    if frame.loops > MAX_NESTED_LOOPS:
        return 1
    return 2 if frame.constructing else MAX_ROUNDS


def run_break(frame: Frame, node: ast.Break) -> bool:
    """`break`."""
    frame.breaks.append(frame.env)
    return False


def run_continue(frame: Frame, node: ast.Continue) -> bool:
    """`continue`."""
    frame.continues.append(frame.env)
    return False


def run_with(frame: Frame, node: ast.With | ast.AsyncWith) -> bool:
    """`with`: what `as` binds is not known."""
    for item in node.items:
        frame.eval(item.context_expr)
        if item.optional_vars is not None:
            assign(frame, item.optional_vars, Unknown("bound by with"), item.context_expr)
    return frame.run(node.body)


def run_try(frame: Frame, node: ast.Try) -> bool:
    """`try`: a handler may start from any point of the body."""
    before = dict(frame.env)
    names = frozenset(name for handler in node.handlers for name in _caught(handler))
    if names and "Exception" not in names:
        frame.handlers.append(names)
    live = frame.run(node.body)
    if names and "Exception" not in names:
        frame.handlers.pop()
    after_body = frame.env
    ends: list[Env] = []
    if live and (not node.orelse or frame.run(node.orelse)):
        ends.append(frame.env)
    for handler in node.handlers:
        frame.env = dict(join_envs(before, after_body))
        if handler.name:
            frame.env[handler.name] = Unknown("exception")
        if frame.run(handler.body):
            ends.append(frame.env)
    live = _meet(frame, ends, before)
    if node.finalbody:
        live = frame.run(node.finalbody) and live
    return live


def _caught(handler: ast.ExceptHandler) -> list[str]:
    if handler.type is None:
        return ["Exception"]
    nodes = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    names = [node.id if isinstance(node, ast.Name) else getattr(node, "attr", "") for node in nodes]
    return ["Exception" if name in ("BaseException", "") else name for name in names]


def run_assert(frame: Frame, node: ast.Assert) -> bool:
    """`assert`: what follows knows that the test was true."""
    truth = test(frame, node.test, "assert")
    if node.msg is not None:
        frame.raising += 1
        frame.eval(node.msg)
        frame.raising -= 1
    return truth is not False and assume(frame, node.test, True)


def run_delete(frame: Frame, node: ast.Delete) -> bool:
    """`del`."""
    for target in node.targets:
        if isinstance(target, ast.Name):
            frame.env.pop(target.id, None)
        elif isinstance(target, ast.Subscript):
            base = frame.eval(target.value)
            tensor, certain = tensors_in(base)
            if tensor is not None and tensor.graph and certain and not tensor.listlike:
                frame.report(EventKind.DELETE, target, value=base, subject=target.value)
            else:
                report_mutation(frame, target.value, target, "item")
    return True


def run_function(frame: Frame, node: FunctionNode) -> bool:
    """A nested function: it sees the names of this frame as they are when it is called."""
    value: Value = Func(node, frame.module, frame)
    if node.decorator_list:
        for decorator in node.decorator_list:
            frame.eval(decorator)
    frame.env[node.name] = value
    return True


def run_class(frame: Frame, node: ast.ClassDef) -> bool:
    """A class defined in a function."""
    info = frame.module.class_of_node.get(node)
    frame.env[node.name] = ClassRef(info if info is not None else ClassInfo(node, frame.module, node.name))
    return True


def run_import(frame: Frame, node: ast.Import) -> bool:
    """`import` inside a function."""
    classes = frame.session.classes
    for alias in node.names:
        dotted = alias.name if alias.asname else alias.name.partition(".")[0]
        frame.env[alias.asname or dotted] = classes.module_value(dotted, frame.module)
    return True


def run_import_from(frame: Frame, node: ast.ImportFrom) -> bool:
    """`from ... import` inside a function."""
    for alias in node.names:
        if alias.name != "*":
            frame.env[alias.asname or alias.name] = frame.session.classes.imported(frame.module, node, alias.name)
    return True


def run_scope(frame: Frame, node: ast.Global | ast.Nonlocal) -> bool:
    """`global`, `nonlocal`: assignments to these names leave the function."""
    scope = "global" if isinstance(node, ast.Global) else "nonlocal"
    frame.declared = {**(frame.declared or {}), **dict.fromkeys(node.names, scope)}
    return True


def run_match(frame: Frame, node: ast.Match) -> bool:
    """`match`: every case from a copy; captured names are not known."""
    frame.eval(node.subject)
    before = frame.env
    ends: list[Env] = [before]
    for case in node.cases:
        frame.env = dict(before)
        for pattern in ast.walk(case.pattern):
            name = getattr(pattern, "name", None) or getattr(pattern, "rest", None)
            if isinstance(name, str):
                frame.env[name] = Unknown("captured by a pattern")
        if case.guard is not None:
            test(frame, case.guard, "case guard")
        if frame.run(case.body):
            ends.append(frame.env)
    return _meet(frame, ends, before)
