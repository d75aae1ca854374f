"""A report with one finding of every shape, written by hand: what the renderers are shown."""

from __future__ import annotations

from dataclasses import replace

from autohybrid.diagnostics.model import Applicability, Confidence, Diagnostic, Edit, Fix, Label, Severity
from autohybrid.diagnostics.report import Report
from autohybrid.diagnostics.sources import Sources
from autohybrid.spans import Span

NET = """\
from mxnet.gluon import nn
from helpers import scale


class Net(nn.HybridBlock):
    def hybrid_forward(self, F, x, y):
        s = F.sum(x)
        if s > 0:
            x = x * 2
        n = x.shape[0]
\tz = self.形(x[0, 0], "über")
        out = F.concat(
            x,
            y,
            dim=1,
        )
        return scale(F, out, n), a_very_long_name_of_a_function(x, y, another_argument=1), yet_more(x)[0], x.dtype
"""
HELPERS = """\
def scale(F, a, n):
    a += n
    return a
"""


def span(line: int, column: int, end_column: int, end_line: int | None = None, path: str = "src/net.py") -> Span:
    return Span(path, line, column, end_line or line, end_column)


INPUT = Label(span(6, 33, 34), "`x` is an input, so it is a tensor")

CONDITION = Diagnostic(
    code="AH401",
    name="tensor-condition",
    message="`s > 0` is a tensor, so this `if` is decided once, when the graph is built, and not at each call",
    span=span(8, 12, 17),
    labels=(INPUT, Label(span(7, 13, 21), "so `s` is one")),
    help="write `x = F.where(F.broadcast_greater(s, F.zeros_like(s)), x * 2, x)`; both sides are then computed",
    block="Net",
    method="hybrid_forward",
)
SHAPE = Diagnostic(
    code="AH101",
    name="tensor-shape",
    message="`x.shape` has no value while the graph is built",
    span=span(10, 13, 20),
    severity=Severity.WARNING,
    confidence=Confidence.LIKELY,
    labels=(INPUT,),
    help="use the special values of `F.reshape`",
    fixes=(
        Fix("drop the line", (Edit(span(10, 1, 1, 11), ""),), Applicability.UNSAFE),
        Fix("write `0`", (Edit(span(10, 13, 23), "0"),), Applicability.DISPLAY),
    ),
    block="Net",
    method="hybrid_forward",
)
WIDE = Diagnostic(
    code="AH102",
    name="tensor-index",
    message="`x[0, 0]` picks an output, not an element",
    span=span(11, 13, 20),
    fixes=(Fix("use `F.slice`", (Edit(span(11, 13, 20), 'F.slice(x, "é")'),), Applicability.SAFE),),
)
LINES = Diagnostic(
    code="AH701",
    name="unknown-keyword",
    message="a call over\nmany lines",
    span=span(12, 15, 10, 16),
    severity=Severity.INFO,
)
ELSEWHERE = Diagnostic(
    code="AH103",
    name="in-place",
    message="`a += n` changes a tensor in place",
    span=span(2, 5, 11, path="src/helpers.py"),
    labels=(Label(span(17, 22, 25), "`out` is a tensor and becomes `a` here"),),
    help="write `a = a + n`",
    method="scale",
)
FAR = replace(
    SHAPE, code="AH104", name="tensor-dtype", span=span(17, 108, 115), labels=(), fixes=(), message="`x.dtype`"
)
SUPPRESSED = replace(WIDE, code="AH105", suppressed="checked by hand", fixes=())


def make_report() -> Report:
    sources = Sources(texts={"src/net.py": NET, "src/helpers.py": HELPERS})
    findings = sorted((CONDITION, SHAPE, WIDE, LINES, ELSEWHERE, FAR), key=lambda finding: finding.sort_key)
    return Report(tuple(findings), (SUPPRESSED,), known=2, files=3, sources=sources, root="/")
