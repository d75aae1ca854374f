"""A profile for people: as plain text, and as a rich table (rich is loaded for that only)."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autohybrid.graph.profile import Profile, StepProfile

_HEADINGS = ("step", "operators", "line", "time", "share", "bytes", "GFLOP/s")


def as_text(profile: Profile) -> str:
    """Columns aligned with blanks, the heaviest step first."""
    rows = [_HEADINGS, *_rows(profile)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEADINGS))]
    lines = []
    for row in rows:
        left = [cell.ljust(width) for cell, width in zip(row[:3], widths)]
        right = [cell.rjust(width) for cell, width in zip(row[3:], widths[3:])]
        lines.append("  ".join((*left, *right)).rstrip())
    return "\n".join((*lines, _caption(profile)))


def as_table(profile: Profile) -> Any:
    """A `rich.table.Table`; the steps that take more than a tenth of the time stand out."""
    from rich.table import Table

    table = Table(title=f"Profile of {profile.block}", caption=_caption(profile), caption_justify="left")
    for heading in _HEADINGS[:3]:
        table.add_column(heading, overflow="fold")
    for heading in _HEADINGS[3:]:
        table.add_column(heading, justify="right", no_wrap=True)
    for step, row in zip(_ordered(profile), _rows(profile)):
        table.add_row(*row, style="bold" if _share(step, profile) > 0.1 else None)
    return table


def _ordered(profile: Profile) -> list[StepProfile]:
    return sorted(profile.steps, key=lambda step: -step.seconds)


def _rows(profile: Profile) -> list[tuple[str, ...]]:
    return [
        (
            step.names[-1],
            step.title,
            "" if step.span is None else f"{PurePath(step.span.path).name}:{step.span.line}",
            _duration(step.seconds),
            f"{_share(step, profile):.1%}",
            _size(step.bytes),
            f"{step.flops / step.seconds / 1e9:.1f}" if step.seconds else "",
        )
        for step in _ordered(profile)
    ]


def _share(step: StepProfile, profile: Profile) -> float:
    return step.seconds / profile.seconds if profile.seconds else 0.0


def _caption(profile: Profile) -> str:
    rate = f", {profile.flops / profile.seconds / 1e9:.1f} GFLOP/s" if profile.seconds else ""
    calls = "1 call" if profile.calls == 1 else f"median of {profile.calls} calls"
    return (
        f"{_duration(profile.seconds)} a call ({calls}){rate}; "
        f"{_duration(profile.overhead)} outside of the steps; {_size(profile.buffer_bytes)} of planned buffers"
    )


def _duration(seconds: float) -> str:
    return f"{seconds * 1e6:.1f} us" if seconds < 1e-3 else f"{seconds * 1e3:.2f} ms"


def _size(count: int) -> str:
    if count < 1 << 10:
        return f"{count} B"
    return f"{count / (1 << 10):.1f} KiB" if count < 1 << 20 else f"{count / (1 << 20):.1f} MiB"
