"""Facts: what is known of every expression of one function, for the compiler and for editors.

`analyze_function` runs the interpreter that `check` runs, on one function, and keeps a value per expression:

    facts = analyze_function(files, "net.py", "Net.hybrid_forward")
    facts.value_at(span)          # Tensor(...), Static("int", 3), Seq(...), Unknown(reason), or None if not reached

Fields of `self` come from a `FieldSource`, which has two methods: `find_field(info, name)` gives the `Value` of one
field or None, `all_fields(info)` gives all of them. `check` uses `ConstructorFields` (the source of `__init__`);
`hybridize()` uses `LiveFields` (the attributes of the live instance, see `live`), so that both ask the same
interpreter the same questions and differ only in what they know of the fields.

Every value carries its `origin`, the chain of reasons from the input to the expression; `Unknown` says why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from autohybrid.analysis.entries import run_block, run_plain_function
from autohybrid.analysis.events import Event
from autohybrid.analysis.fields import ConstructorFields
from autohybrid.analysis.frame import FieldSource, Session
from autohybrid.analysis.index import ProjectIndex
from autohybrid.analysis.interpreter import SourceInterpreter
from autohybrid.analysis.project import settled_events
from autohybrid.analysis.settings import AnalysisSettings
from autohybrid.analysis.source import SourceFile
from autohybrid.analysis.values import Unknown, Value
from autohybrid.spans import Span

__all__ = ["Facts", "FieldSource", "analyze_function"]


@dataclass(frozen=True, slots=True)
class Facts:
    """The values of the expressions that were reached, keyed by span; what the function returns; the events."""

    values: Mapping[Span, Value]
    result: Value
    events: tuple[Event, ...]

    def value_at(self, span: Span) -> Value | None:
        """The value of the expression with exactly this range, joined over every time it was evaluated."""
        return self.values.get(span)


def analyze_function(
    files: Sequence[SourceFile],
    path: str,
    qualname: str,
    settings: AnalysisSettings | None = None,
    make_fields: Callable[[Session], FieldSource] = ConstructorFields,
) -> Facts:
    """The facts of `Class.hybrid_forward` or of a plain function `f(F, x, ...)` in the file `path`.

    `files` hold whatever may be followed from there. Raises KeyError when there is no such function, SyntaxError when
    the file does not parse.
    """
    index = ProjectIndex(files)
    session = Session(index, settings or AnalysisSettings(), SourceInterpreter(), make_fields, run_block)
    module = index.module_of(path)
    if module is None:
        raise index.errors[path]
    session.records = {}
    owner, _, name = qualname.rpartition(".")
    result: Value = Unknown("not run")
    info = index.find_class(path, owner) if owner else None
    if info is not None:
        if session.classes.find_method(info, name) is None:
            raise KeyError(f"{path} has no method {qualname}")
        result = session.result_of(info)
    else:
        node = next((node for node in module.functions if node.name == qualname), None)
        if node is None:
            raise KeyError(f"{path} has no function {qualname}")
        result = run_plain_function(session, module, node)
    values = {module.text.span(node): value for node, value in session.records.items()}
    return Facts(values, result, tuple(settled_events(session)))
