"""Event: something the interpreter met that a rule may judge. Owns the kinds and the record, no judgement.

An event says what happened (`kind`), where (`span`), to what (`subject` and the names in `data`), why the subject is
believed to be what it is (`trail`), and how sure that is (`confidence`). Rules turn events into findings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from autohybrid.diagnostics.model import Confidence, Label
from autohybrid.spans import Span


class EventKind(Enum):
    """What happened. One rule may listen to several kinds, one kind may serve several rules."""

    SYNTAX_ERROR = "syntax-error"
    TOO_DEEP = "too-deep"
    ATTRIBUTE = "attribute"
    METHOD = "method"
    SUBSCRIPT = "subscript"
    STORE_SUBSCRIPT = "store-subscript"
    STORE_ATTRIBUTE = "store-attribute"
    DELETE = "delete"
    AUGMENT = "augment"
    CONDITION = "condition"
    CONVERT = "convert"
    LENGTH = "length"
    ITERATE = "iterate"
    UNPACK = "unpack"
    HASH = "hash"
    COMPARE = "compare"
    OPERATOR = "operator"
    SHAPES = "shapes"
    FOREIGN = "foreign"
    MISSING = "missing"
    KEYWORD = "keyword"
    ARGUMENT = "argument"
    EFFECT = "effect"
    SET_FIELD = "set-field"
    READ_STATE = "read-state"
    MUTATE = "mutate"
    RANDOM = "random"
    SCOPE = "scope"
    FLAG = "flag"
    TYPE_TEST = "type-test"
    PARAMETER_DATA = "parameter-data"
    LOOP_BODY = "loop-body"
    RESULT = "result"
    SIGNATURE = "signature"
    CALL_BLOCK = "call-block"
    CHILD = "child"
    HOOK = "hook"
    SUPER = "super"
    DYNAMIC = "dynamic"
    EXPORT = "export"
    UNREADABLE = "unreadable"
    SUPPRESSION = "suppression"


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of the source of an event: its range and its text as the user wrote it."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened. `name` is the attribute, method, operator or function; `subject` the user's text of
    the operand; `text` the user's text of the whole expression (both shortened, for messages); `data` what a kind adds
    (see the emitting code). `parts` are the pieces that a fix may move, `space` the name of `F` where it happened."""

    kind: EventKind
    span: Span
    name: str = ""
    subject: str = ""
    text: str = ""
    confidence: Confidence = Confidence.DEFINITE
    trail: tuple[Label, ...] = ()
    data: Mapping[str, object] = field(default_factory=dict)
    block: str = ""
    method: str = ""
    cell: int | None = None
    parts: Mapping[str, Part] = field(default_factory=dict)
    space: str = ""

    def get(self, key: str) -> str:
        """A text from `data`, empty where the emitter gave none."""
        value = self.data.get(key)
        return "" if value is None else str(value)

    def with_confidence(self, confidence: Confidence) -> Event:
        """The same event, more or less sure."""
        return self if confidence is self.confidence else replace(self, confidence=confidence)
