"""Names are followed through imports, packages, re-exports and relative imports, by reading alone."""

from __future__ import annotations

from textwrap import dedent

from autohybrid.analysis.project import AnalysisSettings, analyze
from autohybrid.analysis.source import SourceFile
from autohybrid.diagnostics.judge import judge
from autohybrid.diagnostics.model import Diagnostic
from autohybrid.diagnostics.rule import forward

NET = """
from {imports}
from mxnet.gluon import HybridBlock

class Net(HybridBlock):
    def hybrid_forward(self, F, x):
        return F.relu(x) / {call}(F.relu(x))
"""


def check(settings: AnalysisSettings | None = None, **files: str) -> list[Diagnostic]:
    sources = [SourceFile(path.replace("__", "/") + ".py", dedent(text)) for path, text in files.items()]
    fixed = [SourceFile(f.path.replace("/init/", "/").replace("/init.py", "/__init__.py"), f.text) for f in sources]
    return judge(analyze(fixed, settings or AnalysisSettings()))


def places(findings: list[Diagnostic]) -> list[tuple[str, str, int]]:
    return [(finding.code, finding.span.path, finding.span.line) for finding in findings]


ROWS = "def rows(t):\n    return t.shape[0]\n"


def test_helper_of_a_sibling_module_is_reported_where_it_stands_with_the_call() -> None:
    found = check(net=NET.format(imports="helpers import rows", call="rows"), helpers=ROWS)
    assert places(found) == [("AH101", "helpers.py", 2)]
    assert found[0].labels[-1].span.path == "net.py"
    assert "is called here" in found[0].labels[-1].message
    assert (found[0].block, found[0].method) == ("Net", "hybrid_forward")


def test_module_alias_and_attribute() -> None:
    found = check(net=NET.format(imports="os import path\nimport helpers as h", call="h.rows"), helpers=ROWS)
    assert places(found) == [("AH101", "helpers.py", 2)]


def test_relative_import_through_a_package() -> None:
    found = check(
        pkg__init="from .tools import *\n",
        pkg__net=NET.format(imports=". import rows", call="rows"),
        pkg__tools="from .deep.inner import rows\n",
        pkg__deep__init="",
        pkg__deep__inner=ROWS,
    )
    assert places(found) == [("AH101", "pkg/deep/inner.py", 2)]


def test_base_class_of_another_file() -> None:
    base = """
    from mxnet.gluon import HybridBlock

    class Base(HybridBlock):
        def hybrid_forward(self, F, x):
            return self.step(F, F.relu(x))
    """
    net = """
    from base import Base

    class Net(Base):
        def step(self, F, x):
            return x[1]
    """
    assert places(check(base=base, net=net)) == [("AH104", "net.py", 6)]


def test_plain_child_of_another_file() -> None:
    layers = """
    from mxnet.gluon import Block

    class Plain(Block):
        def forward(self, x):
            return x
    """
    net = """
    from mxnet.gluon import HybridBlock
    from layers import Plain

    class Net(HybridBlock):
        def __init__(self):
            super().__init__()
            self.body = Plain()

        def hybrid_forward(self, F, x):
            return self.body(x) * 2
    """
    assert places(check(layers=layers, net=net)) == [("AH601", "net.py", 8)]


def test_a_finding_in_a_helper_is_reported_once() -> None:
    many = "\n".join(f"y = y + rows(y) * {n}" for n in range(5))
    net = forward(f"y = F.relu(x)\n{many}\nreturn y", before="from helpers import rows")
    assert places(check(net=net, helpers=ROWS)) == [("AH101", "helpers.py", 2)]


def test_imports_that_lead_in_circles_end() -> None:
    one = forward("return f(F, x)", before="from two import f")
    two = "from one import f\nimport one\ng = one.f\n"
    assert check(one=one, two=two) == []


def test_unknown_names_are_never_reported() -> None:
    net = """
    from somewhere import Base, helper, VALUE
    from mxnet.gluon import HybridBlock

    class Net(HybridBlock):
        def __init__(self, body, options):
            super().__init__()
            self.body, self.options = body, options

        def hybrid_forward(self, F, x):
            y = self.body(x)
            z = helper(y)
            if z.shape[0] > VALUE or self.options.flag:
                y[0] = 1
            return y[0], z.asnumpy()
    """
    assert [finding for finding in check(net=net) if finding.severity.value != "info"] == []


def test_settings_name_further_base_classes() -> None:
    net = """
    from own import Special

    class Net(Special):
        def hybrid_forward(self, F, x):
            return F.relu(x).shape
    """
    assert places(check(AnalysisSettings(block_bases=("Special",)), net=net)) == [("AH101", "net.py", 6)]


def test_settings_name_static_inputs() -> None:
    net = NET.format(imports="os import path", call="float").replace("self, F, x)", "self, F, x, scale)")
    net = net.replace("float(F.relu(x))", "float(scale)")
    assert places(check(net=net)) == [("AH202", "net.py", 7)]
    assert check(AnalysisSettings(assume_static=("scale",)), net=net) == []
