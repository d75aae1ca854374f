"""A workspace says after every change what a fresh analysis says."""

from __future__ import annotations

from autohybrid.analysis.events import Event
from autohybrid.analysis.project import AnalysisSettings, analyze
from autohybrid.analysis.source import SourceFile
from autohybrid.analysis.workspace import Workspace
from autohybrid.diagnostics.rule import forward

HELPER = "def rows(t):\n    return t.shape[0]\n"
FIXED = "def rows(t):\n    return 1\n"
NET = forward("return F.relu(x) / rows(x)", before="from helper import rows")


def files(**texts: str) -> list[SourceFile]:
    return [SourceFile(f"{name}.py", text) for name, text in texts.items()]


def fresh(sources: list[SourceFile], path: str) -> set[tuple[object, ...]]:
    return keys(analyze(sources, AnalysisSettings())[path])


def keys(events: tuple[Event, ...]) -> set[tuple[object, ...]]:
    return {(event.kind, event.span, event.name, event.confidence) for event in events}


def test_finding_in_a_helper_follows_the_text_of_the_helper() -> None:
    workspace = Workspace(files(net=NET, helper=HELPER), AnalysisSettings())
    assert len(workspace.events("helper.py")) == 1
    workspace.update(SourceFile("helper.py", "\n\n" + HELPER))
    assert [event.span.line for event in workspace.events("helper.py")] == [4]
    assert keys(workspace.events("helper.py")) == fresh(files(net=NET, helper="\n\n" + HELPER), "helper.py")
    workspace.update(SourceFile("helper.py", FIXED))
    assert workspace.events("helper.py") == ()


def test_a_file_that_reads_the_changed_one_is_read_again() -> None:
    workspace = Workspace(files(net=NET, helper=FIXED), AnalysisSettings())
    assert workspace.all_events() == {}
    workspace.update(SourceFile("helper.py", HELPER))
    assert set(workspace.all_events()) == {"helper.py"}


def test_syntax_error_comes_and_goes() -> None:
    workspace = Workspace(files(net=NET, helper=FIXED), AnalysisSettings())
    workspace.update(SourceFile("net.py", "def f(:"))
    assert keys(workspace.events("net.py")) == fresh(files(net="def f(:", helper=FIXED), "net.py")
    workspace.update(SourceFile("net.py", NET))
    assert workspace.events("net.py") == ()


def test_files_can_be_added_and_removed() -> None:
    workspace = Workspace(files(net=NET), AnalysisSettings())
    assert workspace.all_events() == {}
    workspace.update(SourceFile("helper.py", HELPER))
    workspace.update(SourceFile("net.py", NET + "\n"))
    assert len(workspace.events("helper.py")) == 1
    workspace.remove("net.py")
    assert workspace.all_events() == {}
