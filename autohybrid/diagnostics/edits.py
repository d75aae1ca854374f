"""Edits that rules make fixes of: small changes at the edges of what the user wrote, so that comments survive.

Each function gives a `Fix`, or None where the text between the pieces is not what it expects.
"""

from __future__ import annotations

import re

from autohybrid.analysis.events import Event, Part
from autohybrid.diagnostics.model import Applicability, Edit, Fix
from autohybrid.spans import Span

SAFE, UNSAFE = Applicability.SAFE, Applicability.UNSAFE
NO_FIX: tuple[Fix, ...] = ()
_KEEPS_AXES = re.compile(r"F\.expand_dims\(|F\.slice_axis\([^()]*end=(None|1)\)\Z")
_ATOM = re.compile(r"[\w.]+(\([^()]*\)|\[[^\[\]]*\])?\Z")


def before(span: Span, text: str) -> Edit:
    """Insert `text` at the start of `span`."""
    return Edit(Span(span.path, span.line, span.column, span.line, span.column), text)


def after(span: Span, text: str) -> Edit:
    """Insert `text` at the end of `span`."""
    return Edit(Span(span.path, span.end_line, span.end_column, span.end_line, span.end_column), text)


def between(first: Part, second: Part, text: str) -> Edit:
    """Replace what stands between two parts on one line."""
    start, end = first.span, second.span
    return Edit(Span(start.path, start.end_line, start.end_column, end.line, end.column), text)


def is_simple(part: Part) -> bool:
    """Whether a text stands for one operand without parentheses around it."""
    return _ATOM.match(part.text) is not None


def operator_in_gap(event: Event, old: str, new: str, message: str, safety: Applicability = SAFE) -> tuple[Fix, ...]:
    """Replace the operator between the two operands."""
    gap = event.parts.get("gap")
    if gap is None or gap.text.strip() != old:
        return ()
    return (Fix(message, (Edit(gap.span, gap.text.replace(old, new)),), safety),)


def inside(event: Event, first: str, last: str, message: str) -> tuple[Fix, ...]:
    """Put parentheses around the arguments from one part to another."""
    start, end = event.parts.get(first), event.parts.get(last)
    if start is None or end is None:
        return ()
    return (Fix(message, (before(start.span, "("), after(end.span, ")")), SAFE),)


def removal(event: Event, message: str) -> tuple[Fix, ...]:
    """Remove the part `keyword` together with the comma that follows the part `previous`."""
    previous, keyword = event.parts.get("previous"), event.parts.get("keyword")
    if previous is None or keyword is None:
        return ()
    start, end = previous.span, keyword.span
    span = Span(start.path, start.end_line, start.end_column, end.end_line, end.end_column)
    return (Fix(message, (Edit(span, ""),), SAFE),)


def replacement(message: str, span: Span, text: str, safety: Applicability = SAFE) -> tuple[Fix, ...]:
    """Replace a whole range."""
    return (Fix(message, (Edit(span, text),), safety),)


def around(message: str, span: Span, opening: str, closing: str, safety: Applicability = SAFE) -> tuple[Fix, ...]:
    """Put text before and after a range."""
    return (Fix(message, (before(span, opening), after(span, closing)), safety),)


def call_of(event: Event, function: str, subject: str, message: str, safety: Applicability = SAFE) -> tuple[Fix, ...]:
    """Replace the expression of the event by `function(subject)`, `subject` being one of its parts."""
    part = event.parts.get(subject)
    if part is None or not event.space:
        return ()
    tail = Span(part.span.path, part.span.end_line, part.span.end_column, event.span.end_line, event.span.end_column)
    head = Span(event.span.path, event.span.line, event.span.column, part.span.line, part.span.column)
    return (Fix(message, (Edit(head, f"{event.space}.{function}("), Edit(tail, ")")), safety),)


def call_of_operands(
    event: Event, function: str, symbol: str, message: str, safety: Applicability = SAFE
) -> tuple[Fix, ...]:
    """Replace `left <symbol> right` by `function(left, right)`; parentheses of the operands stay."""
    gap = event.parts.get("gap")
    found = None if gap is None else re.fullmatch(rf"(\)*) *{re.escape(symbol)} *(\(*)", gap.text)
    if gap is None or found is None or not event.space:
        return ()
    edits = (
        before(event.span, f"{event.space}.{function}("),
        Edit(gap.span, f"{found[1]}, {found[2]}"),
        after(event.span, ")"),
    )
    return (Fix(message, edits, safety),)


def rebinding(event: Event) -> tuple[Fix, ...]:
    """Turn `target op= value` into `target = target op value`."""
    target, value, gap = (event.parts.get(name) for name in ("left", "right", "gap"))
    if target is None or value is None or gap is None or gap.text.strip() != event.name:
        return ()
    symbol = event.name[:-1]
    edits = [Edit(gap.span, f" = {target.text} {symbol} " + ("" if is_simple(value) else "("))]
    if not is_simple(value):
        edits.append(after(value.span, ")"))
    return (Fix(f"rebind `{event.get('target')}`", tuple(edits), UNSAFE),)


def expression(event: Event, rewrite: str) -> tuple[Fix, ...]:
    """Replace the expression of the event by a rewrite written as `` `F.name(...)` ``.

    Safe for slices to the end, unsafe where an axis is dropped (an array of one axis keeps it) or where the end may lie
    beyond the tensor, which the operator refuses.
    """
    text = rewrite.strip("`")
    if (
        not event.space
        or "`" in text
        or "..." in text
        or not text.startswith("F.")
        or event.span.line != event.span.end_line
    ):
        return ()
    safety = SAFE if _KEEPS_AXES.match(text) else UNSAFE
    name = text.replace("F.", f"{event.space}.") if event.space != "F" else text
    return replacement(f"use `{event.space}.{text[2:].partition('(')[0]}`", event.span, name, safety)
