"""Conditions: truth tests and what they teach. Owns narrowing of the environment by a test.

`test` evaluates a condition where its truth decides something, reports tensors in it, and gives its truth where that
is the same in every run. `assume` refines the environment knowing that a test came out true or false: `is None`,
truthiness, `isinstance`, `hasattr`, `F is mx.nd`, and nothing else.
"""

from __future__ import annotations

import ast
import re

from autohybrid.analysis.events import EventKind
from autohybrid.analysis.evidence import LIST, STATIC, TENSOR
from autohybrid.analysis.frame import EnvKey, Frame
from autohybrid.analysis.kind_branches import check_kind_choice
from autohybrid.analysis.kinds import ARRAY_CLASS, GRAPH_CLASS, class_names
from autohybrid.analysis.value_queries import truth_of
from autohybrid.analysis.values import (
    NEVER,
    NONE,
    External,
    Func,
    Instance,
    Layer,
    Map,
    Namespace,
    Seq,
    Static,
    Tensor,
    Unknown,
    Value,
    is_none,
    members_of,
    tensors_in,
    union,
    without_none,
)

_FLAG_NAMES = re.compile(
    r"(is|use|with|has|do|no|return|apply|skip)_|(train|training|flag|verbose|debug|deterministic)$"
)
_SEQUENCES = frozenset({"builtins.list", "builtins.tuple", "builtins.dict", "builtins.set"})
_NUMBERS = frozenset({"builtins.int", "builtins.float", "builtins.str", "builtins.bool", "builtins.complex"})


def test(frame: Frame, node: ast.expr, form: str) -> bool | None:
    """Evaluate a condition; `form` names the construct (if, while, assert, ...). The truth, or None if it varies."""
    if isinstance(node, ast.BoolOp):
        return _test_operands(frame, node, form)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        answer = test(frame, node.operand, "not" if form == "value" else form)
        return None if answer is None else not answer
    value = frame.eval(node)
    check_truth(frame, node, value, form)
    return truth_of(value)


def _test_operands(frame: Frame, node: ast.BoolOp, form: str) -> bool | None:
    wanted = isinstance(node.op, ast.And)
    before = dict(frame.env)
    answers: list[bool | None] = []
    doubt = frame.doubt
    for operand in node.values:
        answer = test(frame, operand, form)
        answers.append(answer)
        if answer is (not wanted):
            break
        frame.doubt += answer is None
        assume(frame, operand, wanted)
    frame.doubt = doubt
    frame.env = before
    if any(answer is (not wanted) for answer in answers):
        return not wanted
    return wanted if all(answer is wanted for answer in answers) else None


def check_truth(frame: Frame, node: ast.expr, value: Value, form: str) -> None:
    """Report a tensor, or what was decided when the graph was built, whose truth value is asked for."""
    if isinstance(value, Static):
        if value.taint == "state":
            frame.report(EventKind.READ_STATE, node, name=form, subject=node)
        return
    tensor, _ = tensors_in(value)
    if tensor is None or not tensor.graph or tensor.listlike:
        return
    if tensor.key is not None and isinstance(node, ast.Name) and _FLAG_NAMES.match(tensor.key.name):
        frame.session.evidence.note_static(tensor.key, "a flag")
        return
    frame.session.evidence.note_use(tensor.key, "truth")
    frame.report(EventKind.CONDITION, node, name=form, value=value, subject=node, bare=isinstance(node, ast.Name))


def evaluate_bool_op(frame: Frame, node: ast.BoolOp) -> Value:
    """The value of `a and b`, `a or b`: every operand but the last is tested."""
    wanted = isinstance(node.op, ast.And)
    before = dict(frame.env)
    parts: list[Value] = []
    form, doubt = ("and" if wanted else "or"), frame.doubt
    for position, operand in enumerate(node.values):
        value = frame.eval(operand)
        if position == len(node.values) - 1:
            parts.append(value)
            break
        check_truth(frame, operand, value, form)
        truth = truth_of(value)
        if truth is (not wanted):
            parts.append(value)
            break
        if truth is None:
            parts.append(without_none(value) if not wanted else value)
            frame.doubt += 1
        assume(frame, operand, wanted)
    frame.doubt = doubt
    frame.env = before
    return union(parts)


def evaluate_if_exp(frame: Frame, node: ast.IfExp) -> Value:
    """The value of `a if test else b`. Where the test is open, what is found in one side is not certain to happen,
    though the line runs."""
    if not frame.quiet:
        check_kind_choice(frame, node)
    truth = test(frame, node.test, "conditional expression")
    before = frame.env
    parts: list[Value] = []
    for branch, outcome in ((node.body, True), (node.orelse, False)):
        if truth is (not outcome):
            continue
        frame.env = dict(before)
        if assume(frame, node.test, outcome):
            frame.doubt += truth is None
            parts.append(frame.eval(branch))
            frame.doubt -= truth is None
    frame.env = before
    return union(parts)


# -- narrowing --------------------------------------------------------------------------------------------------------
def assume(frame: Frame, node: ast.expr, outcome: bool) -> bool:
    """Refine the environment of `frame` knowing that `node` is true (or false). False when that cannot be."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return assume(frame, node.operand, not outcome)
    if isinstance(node, ast.BoolOp):
        if isinstance(node.op, ast.And) is outcome:
            return all([assume(frame, operand, outcome) for operand in node.values])
        return _assume_one_of(frame, node, outcome)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return _assume_compare(frame, node, outcome)
    if isinstance(node, ast.Call):
        return _assume_call(frame, node, outcome)
    return _assume_truth(frame, node, outcome)


def _assume_one_of(frame: Frame, node: ast.BoolOp, outcome: bool) -> bool:
    """`not (a and b)` or `a or b`: nothing is learnt unless all operands but one are decided."""
    if len(node.values) == 2 and isinstance(node.op, ast.Or):
        left = _quiet_truth(frame, node.values[0])
        if left is (not outcome):
            return assume(frame, node.values[1], outcome)
    return True


def _quiet_truth(frame: Frame, node: ast.expr) -> bool | None:
    quiet, frame.quiet = frame.quiet, True
    truth = truth_of(frame.eval(node))
    frame.quiet = quiet
    return truth


def _key_of(frame: Frame, node: ast.expr) -> EnvKey | None:
    """The environment key of a name or of a field of an object."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.NamedExpr) and isinstance(node.target, ast.Name):
        return node.target.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        owner = frame.lookup(node.value.id)
        if isinstance(owner, Instance) and owner.ident >= 0:
            return owner.ident, node.attr
    return None


def _value_of(frame: Frame, node: ast.expr) -> Value:
    if isinstance(node, ast.NamedExpr):
        node = node.target
    quiet, frame.quiet = frame.quiet, True
    value = frame.eval(node)
    frame.quiet = quiet
    return value


def _refine(frame: Frame, node: ast.expr, value: Value) -> bool:
    if value is NEVER:
        return False
    key = _key_of(frame, node)
    if key is not None:
        frame.env[key] = value
    return True


def _assume_truth(frame: Frame, node: ast.expr, outcome: bool) -> bool:
    if _key_of(frame, node) is None:
        return True
    value = _value_of(frame, node)
    if outcome:
        kept = union(member for member in members_of(value) if truth_of(member) is not False)
    else:
        kept = union(member for member in members_of(value) if truth_of(member) is not True)
    if kept is NEVER:
        return False
    return kept is value or _refine(frame, node, kept)


def _assume_compare(frame: Frame, node: ast.Compare, outcome: bool) -> bool:
    operator, right = node.ops[0], node.comparators[0]
    if isinstance(operator, ast.Is | ast.IsNot | ast.Eq | ast.NotEq):
        same = isinstance(operator, ast.Is | ast.Eq) is outcome
        if isinstance(right, ast.Constant) and right.value is None:
            return _assume_none(frame, node.left, same)
        if isinstance(right, ast.Constant):
            return True
        left_value, right_value = _value_of(frame, node.left), _value_of(frame, right)
        if isinstance(left_value, Namespace) or isinstance(right_value, Namespace):
            return _assume_namespace(frame, left_value, right_value, same)
        if isinstance(node.left, ast.Call) and getattr(node.left.func, "id", "") == "type" and len(node.left.args) == 1:
            return _assume_instance(frame, node.left.args[0], right_value, same)
    return True


def _assume_none(frame: Frame, node: ast.expr, is_none_now: bool) -> bool:
    value = _value_of(frame, node)
    if isinstance(value, Unknown):
        return True
    if is_none_now:
        if any(is_none(member) for member in members_of(value)):
            return _refine(frame, node, NONE)
        return not _certainly_set(value)
    return _refine(frame, node, without_none(value))


def _certainly_set(value: Value) -> bool:
    """Whether the value can in no run be None. An argument might still be passed as None, so it does not count."""
    if isinstance(value, Tensor):
        return value.sure and value.key is None
    if isinstance(value, Static):
        return value.type not in ("none", "any") and value.const is not None and value.field is None
    return isinstance(value, Layer | Instance | Func | Seq)


def _assume_namespace(frame: Frame, left: Value, right: Value, same: bool) -> bool:
    spaces = [value for value in (left, right) if isinstance(value, Namespace)]
    if len(spaces) != 2 or not any(space.root == "F" for space in spaces):
        return True
    other = next((space.root for space in spaces if space.root != "F"), "F")
    if (other == "nd" and same) or (other == "sym" and not same):
        frame.mark_eager()
    return True


def _assume_call(frame: Frame, node: ast.Call, outcome: bool) -> bool:
    if not isinstance(node.func, ast.Name) or not node.args:
        return True
    if node.func.id == "isinstance" and len(node.args) == 2:
        return _assume_instance(frame, node.args[0], _value_of(frame, node.args[1]), outcome)
    if node.func.id == "hasattr" and len(node.args) == 2:
        return _assume_has(frame, node.args[0], node.args[1], outcome)
    if node.func.id == "callable":
        value = _value_of(frame, node.args[0])
        callables = (Layer, Instance, Func, External)
        kept = union(m for m in members_of(value) if isinstance(m, callables) is outcome or not _is_plain(m))
        return kept is NEVER or _refine(frame, node.args[0], kept)
    return True


def _is_plain(value: Value) -> bool:
    return isinstance(value, Static | Seq | Map | Layer | Func)


def _assume_instance(frame: Frame, node: ast.expr, classes: Value, outcome: bool) -> bool:
    names = class_names(classes)
    value = _value_of(frame, node)
    if isinstance(value, Unknown) or "" in names:
        return True
    if names in ({ARRAY_CLASS}, {GRAPH_CLASS}) and all(isinstance(member, Tensor) for member in members_of(value)):
        if outcome is (names == {ARRAY_CLASS}):
            frame.mark_eager()
        return True
    kept: list[Value] = []
    for member in members_of(value):
        verdict = _is_instance(frame, member, names)
        if verdict is None:
            kept.extend(_split_argument(frame, member, names, outcome))
        elif verdict is outcome:
            kept.append(member)
    refined = union(kept)
    return refined is not NEVER and _refine(frame, node, refined)


def _is_instance(frame: Frame, value: Value, names: frozenset[str]) -> bool | None:
    """Whether the value is an instance of one of the classes, None where that is open."""
    if isinstance(value, Seq):
        return f"builtins.{value.kind}" in names or None if value.kind in ("list", "tuple") else None
    if isinstance(value, Static):
        if value.type == "any":
            return None
        return f"builtins.{value.type}" in names
    if isinstance(value, Map):
        return "builtins.dict" in names
    if isinstance(value, Tensor):
        if value.key is not None or value.listlike or not value.sure:
            return None
        return bool(names & {ARRAY_CLASS, GRAPH_CLASS})
    return None


def _split_argument(frame: Frame, value: Value, names: frozenset[str], outcome: bool) -> list[Value]:
    """Of an argument that may be a list: the alternatives that agree with the outcome of the test."""
    if not isinstance(value, Tensor):
        return [value]
    asks_sequence = bool(names & _SEQUENCES)
    asks_tensor = bool(names & {ARRAY_CLASS, GRAPH_CLASS})
    if asks_sequence and not asks_tensor and not names & _NUMBERS:
        if outcome:
            return [Seq("list", None, Tensor(sure=False, listlike=True, origin=value.origin))]
        if "builtins.list" not in names:
            return [value]
        return [Tensor(graph=value.graph, sure=True, depends=value.depends, origin=value.origin)]
    if asks_tensor and not asks_sequence:
        if outcome:
            return [Tensor(graph=value.graph, sure=True, depends=value.depends, origin=value.origin)]
        return [Unknown("not a tensor")]
    if names and names <= _NUMBERS:
        return [Static("any")] if outcome else [value]
    return [value]


def note_instance_test(frame: Frame, value: Value, names: frozenset[str]) -> None:
    """An argument tested for being a list or a number is not always a tensor."""
    for member in members_of(value):
        if isinstance(member, Tensor) and member.key is not None:
            if names & _SEQUENCES:
                frame.session.evidence.note(member.key, LIST)
            if names & _NUMBERS:
                frame.session.evidence.note(member.key, STATIC)
            if ARRAY_CLASS in names or GRAPH_CLASS in names:
                frame.session.evidence.note(member.key, TENSOR)


def _assume_has(frame: Frame, node: ast.expr, name: ast.expr, outcome: bool) -> bool:
    value = _value_of(frame, node)
    wanted = name.value if isinstance(name, ast.Constant) else None
    if isinstance(value, Namespace) and outcome:
        frame.env[f"<has {value.path}.{wanted!s}>"] = Static("bool", True)
    tensor, _ = tensors_in(value)
    if tensor is not None and tensor.graph and isinstance(wanted, str):
        from autohybrid.analysis.mxnet_names import method_facts

        facts = method_facts()
        if (wanted in facts.array_only and outcome) or (wanted in facts.graph_only and not outcome):
            frame.mark_eager()
    return True
