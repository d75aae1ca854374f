"""The user's code and the emitted function in two columns, each emitted line beside the line it stands for."""

from __future__ import annotations

from autohybrid.transform.lowered_text import LoweredText

_LEFT = 60


def beside(source: str, first_line: int, lowered: LoweredText) -> str:
    """Two columns of text. `source` starts at `first_line` of its file.

    A line of the user's appears once, beside the first emitted line that stands for it; those for which nothing was
    emitted (the signature's annotations, a comment that moved) keep their place.
    """
    left = source.splitlines()
    origin = _first_lines(lowered)
    rows: list[tuple[int | None, str]] = []
    shown, free = 0, 0  # lines of the user's that have a row; rows at the end that stand for none
    for number, text in enumerate(lowered.text.splitlines(), 1):
        line = origin.get(number)
        if line is None or line <= shown:
            rows.append((None, text))
            free += 1
            continue
        for skipped in range(shown + 1, line):  # a header goes beside the function that was made of its body
            at = len(rows) - (line - skipped)
            if line - skipped <= free:
                rows[at] = (skipped, rows[at][1])
            else:
                rows.insert(len(rows) - free, (skipped, ""))
        rows.append((line, text))
        shown, free = line, 0
    rows += [(skipped, "") for skipped in range(shown + 1, len(left) + 1)]
    digits = len(str(first_line + len(left)))
    width = min(max((len(line) for line in left), default=0), _LEFT)
    return "\n".join([_row(line, text, left, first_line, digits, width) for line, text in rows])


def _first_lines(lowered: LoweredText) -> dict[int, int]:
    """The line of the source (from 1) that each emitted line stands for: that of what begins first on it."""
    found: dict[int, int] = {}
    for emitted, source in sorted(lowered.places):
        found.setdefault(emitted[0], source[0])
    return found


def _row(line: int | None, text: str, left: list[str], first_line: int, digits: int, width: int) -> str:
    if line is None:
        return f"{'':>{digits}}  {'':<{width}} │ {text}".rstrip()
    shown = left[line - 1]
    shown = shown if len(shown) <= width else shown[: width - 1] + "…"
    return f"{first_line + line - 1:>{digits}}  {shown:<{width}} │ {text}".rstrip()
