"""Rule: what a file in `diagnostics/rules/` defines. Owns the record, the cases and how a finding is graded.

A rule listens to some kinds of event and says of each whether it is a finding. It never walks a file and never
re-derives a type: what it needs is in the event.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.model import Confidence, Fix, Severity
from autohybrid.spans import Span


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule says about an event: a headline, the rewrite, where it differs from the event how sure and where,
    and fixes."""

    message: str
    help: str = ""
    confidence: Confidence | None = None
    span: Span | None = None
    fixes: tuple[Fix, ...] = ()


@dataclass(frozen=True, slots=True)
class Valid:
    """A source text in which the rule must find nothing."""

    source: str


@dataclass(frozen=True, slots=True)
class Invalid:
    """A source text and everything the rule says about it.

    `marked` are the texts of the marked ranges in order of appearance; `count` is their number; `confidence` is the
    one of every finding. `raises` is False where MXNet 1.9.1 raises nothing (a silent difference). `fixed` are
    the new lines, stripped, after the fixes of the findings, where there are some; `removed` the lines taken out where
    nothing new takes their place.
    """

    source: str
    marked: tuple[str, ...]
    confidence: Confidence = Confidence.DEFINITE
    raises: bool = True
    fixed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. `doc` is the docstring of its file, from which the page of documentation is made."""

    code: str
    name: str
    summary: str
    kinds: tuple[EventKind, ...]
    check: Callable[[Event], Finding | None]
    severity: Severity = Severity.ERROR
    valid: tuple[Valid, ...] = ()
    invalid: tuple[Invalid, ...] = ()
    doc: str = ""

    def grade(self, confidence: Confidence) -> Severity:
        """The severity of a finding: the rule's own when definite, at most a warning when likely, else an info."""
        if confidence is Confidence.POSSIBLE:
            return Severity.INFO
        if confidence is Confidence.LIKELY and self.severity is Severity.ERROR:
            return Severity.WARNING
        return self.severity


def forward(body: str, inputs: str = "x", init: str = "", before: str = "") -> str:
    """The source of a block for a case: `body` is that of `hybrid_forward(self, F, <inputs>)`, `init` goes into the
    constructor, `before` above the class.

    >>> print(forward("return F.relu(x)"), end="")
    import mxnet as mx
    from mxnet import autograd, gluon, nd
    from mxnet.gluon import HybridBlock, nn
    <BLANKLINE>
    <BLANKLINE>
    class Net(HybridBlock):
        def hybrid_forward(self, F, x):
            return F.relu(x)
    """
    lines = ["import mxnet as mx", "from mxnet import autograd, gluon, nd", "from mxnet.gluon import HybridBlock, nn"]
    if before:
        lines += ["", "", *before.strip("\n").split("\n")]
    lines += ["", "", "class Net(HybridBlock):"]
    if init:
        lines += ["    def __init__(self):", "        super().__init__()"]
        lines += [f"        {line}" for line in init.strip("\n").split("\n")] + [""]
    arguments = f", {inputs}" if inputs else ""
    lines += [f"    def hybrid_forward(self, F{arguments}):"]
    lines += [f"        {line}".rstrip() for line in body.strip("\n").split("\n")]
    return "\n".join(lines) + "\n"
