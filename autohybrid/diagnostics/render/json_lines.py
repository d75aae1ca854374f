"""json-lines: the objects of `json`, one a line."""

from __future__ import annotations

import json

from autohybrid.diagnostics.render.json_array import to_objects
from autohybrid.diagnostics.render.style import Style
from autohybrid.diagnostics.report import Report


def render(report: Report, style: Style) -> str:
    """One JSON object a line; nothing when nothing was found."""
    return "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in to_objects(report, style))
