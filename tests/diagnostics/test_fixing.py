"""apply_fixes: the arithmetic of edits, overlaps, and fixes that would break a file."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autohybrid.diagnostics.model import Applicability, Diagnostic, Edit, Fix
from autohybrid.spans import Span
from autohybrid.transform.fixing import apply_fixes, choose_fix

SAFE, UNSAFE, DISPLAY = Applicability.SAFE, Applicability.UNSAFE, Applicability.DISPLAY


def span(line: int, column: int, end_line: int, end_column: int, path: str = "a.py") -> Span:
    return Span(path, line, column, end_line, end_column)


def finding(*edits: Edit, applicability: Applicability = SAFE) -> Diagnostic:
    return Diagnostic("AH101", "x", "x", edits[0].span, fixes=(Fix("x", edits, applicability),))


def fixed(text: str, *findings: Diagnostic, unsafe: bool = False) -> str:
    applied = apply_fixes(findings, {"a.py": text}.__getitem__, unsafe=unsafe)
    return applied.texts.get("a.py", text)


def test_only_allowed_fixes_are_chosen_and_safe_ones_first() -> None:
    edit = Edit(span(1, 1, 1, 2), "y")
    both = Diagnostic("AH1", "x", "x", edit.span, fixes=(Fix("u", (edit,), UNSAFE), Fix("s", (edit,), SAFE)))
    assert [choose_fix(both, unsafe=flag).message for flag in (False, True)] == ["s", "s"]  # type: ignore[union-attr]
    assert choose_fix(finding(edit, applicability=UNSAFE), unsafe=False) is None
    assert choose_fix(finding(edit, applicability=DISPLAY), unsafe=True) is None


def test_overlapping_fixes_wait_for_the_next_round() -> None:
    first = finding(Edit(span(1, 1, 1, 4), "A"))
    second = finding(Edit(span(1, 3, 1, 6), "B"))
    assert fixed("abcdef", first, second) == "Adef"
    assert fixed("abcdef", first, finding(Edit(span(1, 4, 1, 6), "B"))) == "ABf"
    twice = finding(Edit(span(1, 2, 1, 2), "_"))
    assert fixed("abcdef", twice, twice) == "a_bcdef"


def test_a_fix_is_applied_whole_or_not_at_all() -> None:
    first = finding(Edit(span(2, 1, 2, 2), "z"))
    both = finding(Edit(span(1, 1, 1, 2), "q"), Edit(span(2, 1, 2, 2), "r"))
    assert fixed("a\nb\n", first, both) == "a\nz\n"
    assert fixed("a\nb\n", both) == "q\nr\n"


def test_a_fix_that_breaks_the_syntax_is_left_out_with_its_file_only() -> None:
    texts = {"a.py": "x = 1\n", "b.py": "y = 1\n"}
    bad = finding(Edit(span(1, 1, 1, 2), "("))
    good = finding(Edit(span(1, 1, 1, 2, "b.py"), "z"))
    applied = apply_fixes([bad, good], texts.__getitem__, unsafe=False)
    assert applied.texts == {"b.py": "z = 1\n"}
    assert [item.span.path for item, _ in applied.fixed] == ["b.py"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_of_the_file_are_kept(end: str) -> None:
    edit = Edit(span(2, 1, 3, 1), "x\ny\n")
    assert fixed(end.join(["a", "b", "c"]), finding(edit)) == end.join(["a", "x", "y", "c"])


def test_a_deleted_last_line_may_lack_its_end() -> None:
    assert fixed("a\nb", finding(Edit(span(2, 1, 3, 1), ""))) == "a\n"


@given(
    st.lists(st.text("aé形\t", max_size=6), min_size=1, max_size=5),
    st.data(),
    st.text("xyz", max_size=3),
)
def test_an_edit_replaces_exactly_its_span(lines: list[str], data: st.DataObject, content: str) -> None:
    text = "\n".join(lines)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))

    def place(offset: int) -> tuple[int, int]:
        before = text[:offset]
        return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1

    edit = Edit(span(*place(start), *place(end)), content)
    broken = "(\n" + text  # a file that never parsed is edited without judgement
    moved = Edit(span(edit.span.line + 1, edit.span.column, edit.span.end_line + 1, edit.span.end_column), content)
    assert fixed(broken, finding(moved)) == "(\n" + text[:start] + content + text[end:]
