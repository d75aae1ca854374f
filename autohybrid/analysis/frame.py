"""Frame and Session: the state of one interpreted call, and the state of one analysis of a project.

A `Frame` holds the environment of a function body while it is interpreted: the names, the fields of objects (keyed
`(ident, name)`), the exits met so far. A `Session` holds what all frames share: the index, caches, budgets, evidence
about arguments, and the events. Neither knows how an expression is evaluated: the tables are handed in.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Protocol

from autohybrid.analysis.classes import ClassTable
from autohybrid.analysis.constants import GivenConstants
from autohybrid.analysis.events import Event, EventKind, Part
from autohybrid.analysis.evidence import Evidence
from autohybrid.analysis.index import ClassInfo, FunctionNode, ModuleInfo, ProjectIndex
from autohybrid.analysis.settings import AnalysisSettings
from autohybrid.analysis.values import (
    NEVER,
    Func,
    InputKey,
    Map,
    Namespace,
    Origin,
    Seq,
    Static,
    Tensor,
    Unknown,
    Value,
    join,
    members_of,
    tensors_in,
    widen,
)
from autohybrid.diagnostics.model import Confidence, Label
from autohybrid.records import record
from autohybrid.spans import Span

MAX_DEPTH = 12
MAX_CALLS = 800
MAX_TRAIL = 3
EnvKey = str | tuple[int, str]
Env = dict[EnvKey, Value]
EAGER = "<eager>"
_MARK = Static("bool", True)
_OF_CONSTRUCTORS = frozenset({EventKind.HOOK, EventKind.CHILD})

Evaluator = Callable[["Frame", ast.expr], Value]
Executor = Callable[["Frame", ast.stmt], bool]


@record
class Arguments:
    """The arguments of a call: `star` and `double_star` stand for what `*` and `**` unpack, if present."""

    positional: tuple[Value, ...] = ()
    keywords: Mapping[str, Value] = field(default_factory=dict)
    star: Value | None = None
    double_star: Value | None = None

    def get(self, position: int, keyword: str = "") -> Value | None:
        """An argument by place or keyword, None when it was not given."""
        if keyword and keyword in self.keywords:
            return self.keywords[keyword]
        return self.positional[position] if 0 <= position < len(self.positional) else None

    @property
    def all(self) -> tuple[Value, ...]:
        """Every value given, whichever way."""
        if self.star is None and self.double_star is None:
            return (*self.positional, *self.keywords.values()) if self.keywords else self.positional
        unpacked = (value for value in (self.star, self.double_star) if value is not None)
        return (*self.positional, *self.keywords.values(), *unpacked)


class Interpreter(Protocol):
    """What a session needs from the interpreter: evaluation, execution and calls."""

    expressions: Mapping[type[ast.AST], Evaluator]
    statements: Mapping[type[ast.AST], Executor]

    def call(self, frame: Frame, callee: Value, arguments: Arguments, node: ast.Call) -> Value:
        """The result of calling `callee`."""

    def call_function(self, frame: Frame, function: Func, node: ast.AST) -> Value:
        """The result of calling a function of the project without arguments besides its receiver."""


class FieldSource(Protocol):
    """Where the fields of objects come from: the constructor's source, or a live object (see `facts`)."""

    def find_field(self, info: ClassInfo, name: str) -> Value | None:
        """The value of a field of an object of this class, None when it is not known to be set."""

    def all_fields(self, info: ClassInfo) -> Mapping[str, Value]:
        """Every field known to be set."""


@record
class Pending:
    """An event whose confidence still depends on what is learnt about the argument `key`."""

    event: Event
    key: InputKey | None


class Session:
    """What all frames of one analysis share."""

    def __init__(
        self,
        index: ProjectIndex,
        settings: AnalysisSettings,
        interpreter: Interpreter,
        make_field_source: Callable[[Session], FieldSource],
        run_block: Callable[[Session, ClassInfo], Value],
    ) -> None:
        self.index = index
        self.settings = settings
        self.interpreter = interpreter
        self.classes = ClassTable(self)
        self.constants = GivenConstants(self)
        self.evidence = Evidence()
        self.pending: dict[tuple[object, ...], Pending] = {}
        self.summaries: dict[tuple[object, ...], Value] = {}
        self._results: dict[ClassInfo, Value] = {}
        self._run_block = run_block
        self.field_source = make_field_source(self)
        self.record_fields: dict[str, str] = {}
        self.input_nodes: dict[InputKey, tuple[ModuleInfo, ast.arg, str, str]] = {}
        self.inner_blocks: set[tuple[str, str]] = set()
        self.calls = 0
        self.missed: set[EnvKey] = set()
        self.records: dict[ast.AST, Value] | None = None

    def result_of(self, info: ClassInfo) -> Value:
        """What `hybrid_forward` of a class returns; its analysis runs on the first question."""
        known = self._results.get(info)
        if known is None:
            self._results[info] = Unknown("a block that calls itself")
            calls, self.calls = self.calls, 0
            known = self._results[info] = self._run_block(self, info)
            self.calls = calls
        return known

    def release(self) -> None:
        """Let go of what was learnt, so that it is freed at once; the session is of no use afterwards."""
        for table in (self.pending, self.summaries, self._results, self.input_nodes):
            table.clear()
        self.classes.release()

    def add(self, event: Event, key: InputKey | None) -> None:
        """Keep an event; of two at one place with one name, the surer."""
        identity = (event.kind, event.span, event.name)
        known = self.pending.get(identity)
        if known is None or (
            known.event.confidence is not Confidence.DEFINITE and event.confidence is Confidence.DEFINITE
        ):
            self.pending[identity] = Pending(event, key)


class Frame:
    """One interpreted function body."""

    __slots__ = (
        "block",
        "breaks",
        "call_node",
        "caller",
        "closure",
        "constructing",
        "continues",
        "declared",
        "depth",
        "doubt",
        "env",
        "exit_envs",
        "expressions",
        "function",
        "handlers",
        "in_loop_body",
        "is_generator",
        "loops",
        "method",
        "module",
        "owner",
        "quiet",
        "raising",
        "receiver",
        "records",
        "rest",
        "returned",
        "returns",
        "session",
        "yielded",
    )

    def __init__(
        self,
        session: Session,
        module: ModuleInfo,
        env: Env | None = None,
        *,
        function: FunctionNode | ast.Lambda | None = None,
        owner: ClassInfo | None = None,
        receiver: Value | None = None,
        closure: Frame | None = None,
        caller: Frame | None = None,
        call_node: ast.AST | None = None,
        quiet: bool = False,
    ) -> None:
        self.session = session
        self.expressions = session.interpreter.expressions
        self.records = session.records
        self.module = module
        self.env: Env = {} if env is None else env
        self.function = function
        self.owner = owner
        self.receiver = receiver
        self.closure = closure
        self.caller = caller
        self.call_node = call_node
        self.quiet: bool = quiet or (caller is not None and caller.quiet)
        self.depth: int = 0 if caller is None else caller.depth + 1
        self.block: str = "" if caller is None else caller.block
        self.method: str = "" if caller is None else caller.method
        self.returned: Value = NEVER
        self.yielded: Value = NEVER
        self.is_generator = False
        self.in_loop_body = False
        self.doubt: int = 0 if caller is None else caller.doubt
        self.loops: int = 0 if caller is None else caller.loops
        self.constructing = False
        self.raising: int = 0 if caller is None else caller.raising
        self.rest: list[ast.stmt] = []
        self.declared: dict[str, str] | None = None
        self.returns: list[tuple[ast.Return, Value]] = []
        self.exit_envs: list[Env] = []
        self.breaks: list[Env] = []
        self.continues: list[Env] = []
        self.handlers: list[frozenset[str]] = []
        if caller is not None and EAGER in caller.env:
            self.env[EAGER] = _MARK

    # -- evaluation -------------------------------------------------------------------------------------------------
    def eval(self, node: ast.expr) -> Value:
        """The value of an expression in the present environment."""
        evaluator = self.expressions.get(node.__class__)
        if self.records is None:
            return Unknown("expression") if evaluator is None else evaluator(self, node)
        value = Unknown("expression") if evaluator is None else evaluator(self, node)
        known = self.records.get(node)
        self.records[node] = value if known is None else join(known, value)
        return value

    def run(self, body: list[ast.stmt]) -> bool:
        """Execute statements; whether the end of the body is reached."""
        statements = self.session.interpreter.statements
        for place, statement in enumerate(body):
            if statement.__class__ is ast.If:
                self.rest = body[place + 1 :]
            executor = statements.get(statement.__class__)
            if executor is not None and not executor(self, statement):
                return False
        return True

    def call(self, callee: Value, arguments: Arguments, node: ast.Call) -> Value:
        """The result of a call."""
        return self.session.interpreter.call(self, callee, arguments, node)

    # -- names ------------------------------------------------------------------------------------------------------
    def lookup(self, name: str) -> Value:
        """The value of a name: local, of an enclosing function, of the module, or a builtin."""
        value = self.env.get(name)
        if value is not None:
            return value
        closure = self.closure
        while closure is not None:
            value = closure.env.get(name)
            if value is not None:
                return value
            closure = closure.closure
        if self.loops:
            self.session.missed.add(name)
        return self.session.classes.lookup_global(self.module, name)

    def mark_eager(self) -> None:
        """From here on this flow runs only on real arrays."""
        self.env[EAGER] = _MARK

    @property
    def is_eager(self) -> bool:
        """Whether this flow runs only on real arrays."""
        return EAGER in self.env

    @property
    def is_silent(self) -> bool:
        """Whether nothing that happens to tensors here is reported."""
        return self.quiet or EAGER in self.env

    def is_protected(self, exception: str) -> bool:
        """Whether a `try` around this place catches just this exception."""
        frame: Frame | None = self
        while frame is not None:
            if any(exception in names for names in frame.handlers):
                return True
            frame = frame.caller
        return False

    # -- origins and events -----------------------------------------------------------------------------------------
    def origin(self, node: ast.AST, note: str, cause: Value | None = None) -> Origin:
        """Why a value is believed, with the origin of the value it follows from."""
        earlier = getattr(cause, "origin", None)
        return Origin(self.module, node, note, earlier)

    def text(self, node: ast.AST) -> str:
        """The user's text of a node."""
        return self.module.text.excerpt(node)

    def report(
        self,
        kind: EventKind,
        node: ast.AST,
        *,
        name: str = "",
        value: Value | None = None,
        subject: ast.AST | None = None,
        confidence: Confidence | None = None,
        nodes: Mapping[str, ast.AST | None] | None = None,
        **data: object,
    ) -> None:
        """Add an event at `node`. Its confidence follows from `value` unless given; nothing is added in code that runs
        on real arrays only. `nodes` are the pieces that a fix may need, by name."""
        if (self.quiet and not (self.constructing and kind in _OF_CONSTRUCTORS)) or EAGER in self.env:
            return
        if self.raising and kind is EventKind.EFFECT:
            return
        key: InputKey | None = None
        origin: Origin | None = None
        if value is not None:
            tensor, certain = tensors_in(value)
            if tensor is not None:
                key, origin = tensor.key, tensor.origin
            elif confidence is None:
                certain = True
            if confidence is None:
                confidence = Confidence.DEFINITE if certain else _doubt(value)
            if origin is None:
                origin = getattr(value, "origin", None)
        if self.doubt and confidence in (None, Confidence.DEFINITE):
            confidence = Confidence.LIKELY
        event = Event(
            kind=kind,
            span=self.module.text.span(node),
            name=name,
            subject=self.text(subject) if subject is not None else "",
            text=self.text(node),
            confidence=confidence or Confidence.DEFINITE,
            trail=self._trail(origin),
            data=data,
            block=self.block,
            method=self.method,
            cell=self.module.file.cell,
            parts=self._parts(nodes) if nodes else {},
            space=self._namespace_name() if nodes else "",
        )
        self.session.add(event, key)

    def _parts(self, nodes: Mapping[str, ast.AST | None]) -> dict[str, Part]:
        text = self.module.text
        spans = {name: text.span(node) for name, node in nodes.items() if node is not None}
        if "left" in spans and "right" in spans:
            left, right = spans["left"], spans["right"]
            spans["gap"] = Span(left.path, left.end_line, left.end_column, right.line, right.column)
        return {name: Part(span, text.between(span)) for name, span in spans.items()}

    def _namespace_name(self) -> str:
        """The name that `F` has in this function, empty where it has none."""
        for name, value in self.env.items():
            if isinstance(value, Namespace) and value.root == "F" and not value.path and isinstance(name, str):
                return name
        return ""

    def _trail(self, origin: Origin | None) -> tuple[Label, ...]:
        chain: list[Origin] = []
        while origin is not None and len(chain) < 32:
            chain.append(origin)
            origin = origin.cause
        steps = list(reversed(chain))
        call = self._call_label()
        limit = MAX_TRAIL - 1 if call is not None else MAX_TRAIL
        if len(steps) > limit:
            steps = [*steps[: limit - 1], steps[-1]]
        labels = [_label(step) for step in steps]
        return (*labels, call) if call is not None else tuple(labels)

    def _call_label(self) -> Label | None:
        if self.caller is None or self.call_node is None:
            return None
        caller = self.caller
        return Label(caller.module.text.span(self.call_node), f"`{caller.text(self.call_node)}` is called here")


def _doubt(value: Value) -> Confidence:
    """How sure an event is on a value that is not certainly a tensor: where one alternative is a sequence, the code
    most likely knows which of them it has."""
    members = members_of(value)
    single = any(isinstance(member, Tensor) and member.single for member in members)
    sequence = any(isinstance(member, Seq | Map) for member in members)
    return Confidence.POSSIBLE if sequence and not single else Confidence.LIKELY


def _label(origin: Origin) -> Label:
    text = origin.module.text
    return Label(text.span(origin.node), origin.note.replace("{}", text.excerpt(origin.node)))


def join_envs(left: Env, right: Env) -> Env:
    """The environment after two flows meet. A name bound on one side only keeps that value."""
    if left is right:
        return left
    joined = dict(left)
    for key, value in right.items():
        other = left.get(key)
        if other is None:
            joined[key] = value
        elif other is not value:
            joined[key] = join(other, value)
    if EAGER in joined and not (EAGER in left and EAGER in right):
        del joined[EAGER]
    return joined


def widen_envs(old: Env, new: Env) -> Env:
    """The environment at the head of a loop after another round."""
    widened = dict(old)
    for key, value in new.items():
        other = old.get(key)
        if other is None:
            widened[key] = value
        elif other is not value:
            widened[key] = widen(other, value)
    if EAGER in widened and EAGER not in old:
        del widened[EAGER]
    return widened


def is_graph_tensor(value: Value) -> bool:
    """Whether the value is one tensor of the graph."""
    return value.__class__ is Tensor and value.graph
