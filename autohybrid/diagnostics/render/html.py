"""html: one self-contained page, and the fragment that notebooks show. Text only: no script, nothing is loaded."""

from __future__ import annotations

import re
from collections import Counter
from html import escape

from autohybrid.diagnostics.render.frames import Row, to_rows
from autohybrid.diagnostics.render.style import Style, one_line
from autohybrid.diagnostics.render.summary import summary_lines
from autohybrid.diagnostics.report import Report

_WIDTH = 110
_CSS = """
:root{color-scheme:light dark;--bg:#fff;--fg:#1f2328;--dim:#6e7781;--error:#b3261e;--warning:#8a5a00;--info:#00647a;
--because:#0a58ca;--help:#1a7f37;--card:#f6f8fa;--line:#d0d7de}
@media (prefers-color-scheme:dark){:root{--bg:#0d1117;--fg:#e6edf3;--dim:#8d96a0;--error:#ff7b72;--warning:#e3b341;
--info:#56d4dd;--because:#79c0ff;--help:#56d364;--card:#161b22;--line:#30363d}}
body{font:15px/1.5 system-ui,sans-serif;background:var(--bg);color:var(--fg);max-width:72rem;
margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;margin:1rem 0}td,th{text-align:left;padding:.2rem .9rem .2rem 0;border-bottom:1px solid
var(--line)}td.n{text-align:right}code{white-space:nowrap}h2{font-size:1.1rem;margin:2rem 0 .5rem}a{color:inherit}
""".replace("\n", " ")
_FRAME_CSS = """
.autohybrid pre{font:13px/1.4 ui-monospace,Menlo,Consolas,monospace;background:var(--card,#f6f8fa);border:1px solid
var(--line,#d0d7de);border-radius:6px;padding:.7rem 1rem;margin:.6rem 0;overflow-x:auto;color:var(--fg,#1f2328)}
.autohybrid .error{color:var(--error,#b3261e);font-weight:600}.autohybrid .warning{color:var(--warning,#8a5a00);
font-weight:600}.autohybrid .info{color:var(--info,#00647a);font-weight:600}
.autohybrid .because{color:var(--because,#0a58ca)}
.autohybrid .help{color:var(--help,#1a7f37);font-weight:600}
.autohybrid .gutter,.autohybrid .dim{color:var(--dim,#6e7781)}
.autohybrid .path,.autohybrid .strong{font-weight:600}
""".replace("\n", " ")


def render(report: Report, style: Style) -> str:
    """The page: summary, a table of rules, the findings file by file."""
    counted = Counter((finding.code, finding.name, finding.severity.value) for finding in report)
    rules = "".join(
        f'<tr><td class="n">{count}</td><td>{escape(code)}</td><td>{escape(name)}</td><td>{escape(kind)}</td></tr>'
        for (code, name, kind), count in sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    )
    table = f"<table><tr><th>count</th><th>rule</th><th>name</th><th>severity</th></tr>{rules}</table>" if rules else ""
    summary = _summary(report)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><title>autohybrid</title>'
        f'<style>{_CSS}{_FRAME_CSS}</style></head>\n<body class="autohybrid"><h1>autohybrid</h1>\n'
        f"<p>{summary}</p>\n{table}\n{_files(report)}</body></html>\n"
    )


def render_fragment(report: Report) -> str:
    """The findings as a piece of a page, for a notebook's output cell."""
    summary = _summary(report)
    return f'<style>{_FRAME_CSS}</style><div class="autohybrid">{_frames(report, "")}<p>{summary}</p></div>'


def _summary(report: Report) -> str:
    text = escape(" ".join(summary_lines(report)))
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", text)


def _files(report: Report) -> str:
    paths = dict.fromkeys(finding.span.path for finding in report)
    return "".join(f"<h2>{escape(one_line(path))}</h2>\n{_frames(report, path)}" for path in paths)


def _frames(report: Report, path: str) -> str:
    """The frames of one file, or of all files for an empty path."""
    style = Style(width=_WIDTH)
    return "".join(
        f"<pre>{_to_html(to_rows(finding, report.sources, style))}</pre>\n"
        for finding in report
        if not path or finding.span.path == path
    )


def _to_html(rows: list[Row]) -> str:
    return "\n".join(
        "".join(
            f'<span class="{kind}">{escape(text)}</span>' if kind not in ("source", "text") else escape(text)
            for text, kind in row
            if text
        )
        for row in rows
    )
