"""Generate `docs/operators.md` and `docs/rules/*.md` from the records and the rules.

python -m tools.generate_docs           write them
python -m tools.generate_docs --check   exit 1 when one is not what would be written
"""

from __future__ import annotations

import sys
from pathlib import Path

from autohybrid.diagnostics.codes import family_of
from autohybrid.diagnostics.rule import Rule
from autohybrid.diagnostics.rules import load_rules
from autohybrid.tensor.attrs import Attr, describe_type
from autohybrid.tensor.namespaces import public_place
from autohybrid.tensor.opdef import OpDef
from autohybrid.tensor.ops import records

DOCS = Path(__file__).resolve().parent.parent / "docs"


def pages() -> dict[str, str]:
    """Path below `docs/` -> text, for every generated page."""
    found = {"operators.md": operators_page()}
    rules = load_rules()
    lines = ["# Rules", "", "One page a rule; `autohybrid rule CODE` prints its text.", ""]
    family = ""
    for rule in rules:
        if family_of(rule.code) != family:
            family = family_of(rule.code)
            lines += [
                "",
                f"## {rule.code[:3]}xx: {family}",
                "",
                "| code | name | severity | finds |",
                "|---|---|---|---|",
            ]
        cells = (f"[{rule.code}]({rule.code}.md)", rule.name, rule.severity.value, _cell(rule.summary))
        lines.append(f"| {' | '.join(cells)} |")
        found[f"rules/{rule.code}.md"] = rule_page(rule)
    found["rules/index.md"] = "\n".join(lines) + "\n"
    return found


def rule_page(rule: Rule) -> str:
    """The text of a rule, then its first cases, which the tests run: what is found, and what is like it but fine."""
    lines = [f"# {rule.code} {rule.name}", "", rule.doc.strip(), ""]
    if rule.invalid:
        case = rule.invalid[0]
        marked = ", ".join(f"`{_cell(text)}`" for text in case.marked)
        lines += [f"## Found: {marked}", "", *_python(case.source), ""]
        if case.fixed:
            lines += ["With its fix:", "", *_python("\n".join(case.fixed)), ""]
    if rule.valid:
        lines += ["## Not found", "", *_python(rule.valid[0].source), ""]
    return "\n".join(lines)


def _python(source: str) -> list[str]:
    return ["```python", source.strip("\n"), "```"]


def operators_page() -> str:
    """The table of operators: names, inputs, attributes, gradient."""
    rows = [
        "# Operators",
        "",
        "Every operator record: the names under `nd.` and `sym.`, inputs, attributes with defaults, and whether a",
        "gradient flows. Names that begin with an underscore are under `_internal`.",
        "",
        "| operator | also | inputs | attributes | gradient |",
        "|---|---|---|---|---|",
    ]
    rows += [_operator_row(op) for op in records() if not op.name.startswith(("_backward", "_npi", "_np_"))]
    return "\n".join(rows) + "\n"


def _operator_row(op: OpDef) -> str:
    names = [_shown(alias) for alias in op.aliases if not alias.startswith(("_npi", "_npx", "_np_", "_sparse"))]
    inputs = f"*{op.inputs[0] if op.inputs else 'data'}" if op.variadic else ", ".join(op.inputs)
    attrs = ", ".join(_attr_text(a) for a in op.attrs if a.name != op.variadic)
    cells = (f"`{_shown(op.name)}`", ", ".join(names), inputs, attrs, op.differentiable)
    return f"| {' | '.join(_cell(cell) for cell in cells)} |"


def _attr_text(attr: Attr) -> str:
    text = f"{attr.name}: {describe_type(attr)}"
    return text if attr.required else f"{text} = {attr.default!r}"


def _shown(name: str) -> str:
    namespace, spelling = public_place(name)
    return f"{namespace}.{spelling}" if namespace and namespace != "_internal" else spelling


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def main(arguments: list[str]) -> int:
    """Write the pages, or compare them."""
    expected = pages()
    stale = [name for name, text in expected.items() if not _matches(DOCS / name, text)]
    known = {DOCS / name for name in expected}
    surplus = [path for path in (DOCS / "rules").glob("*.md") if path not in known]
    if arguments == ["--check"]:
        for name in [*stale, *map(str, surplus)]:
            print(f"out of date: {name}; run python -m tools.generate_docs", file=sys.stderr)
        return int(bool(stale or surplus))
    (DOCS / "rules").mkdir(parents=True, exist_ok=True)
    for name in stale:
        (DOCS / name).write_text(expected[name], encoding="utf-8")
    for path in surplus:
        path.unlink()
    return 0


def _matches(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8") == text


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
