"""Baselines: a file of known findings, so that an old code base fails only on new ones."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence

from autohybrid.config import SettingsError
from autohybrid.diagnostics.fingerprint import make_stem
from autohybrid.diagnostics.model import Diagnostic
from autohybrid.diagnostics.sources import Sources
from autohybrid.diagnostics.write import write_text

_SCHEMA = 1


def write_baseline(path: str, findings: Sequence[Diagnostic], sources: Sources) -> None:
    """Write the findings as the new baseline. Paths in it are those that the report shows."""
    counted: Counter[tuple[str, str, str]] = Counter(
        (finding.span.path, finding.code, make_stem(finding, sources)) for finding in findings
    )
    rows = [
        {"path": file, "code": code, "fingerprint": stem, "count": count}
        for (file, code, stem), count in sorted(counted.items())
    ]
    import json

    write_text(path, json.dumps({"schema": _SCHEMA, "findings": rows}, indent=1) + "\n")


def read_baseline(path: str) -> Counter[str]:
    """How often each fingerprint is known. Raises SettingsError when the file is missing or is no baseline."""
    import json

    try:
        with open(path, encoding="utf-8") as stream:
            document = json.load(stream)
        if document["schema"] != _SCHEMA:
            raise SettingsError(f"the baseline {path} has schema {document['schema']}, not {_SCHEMA}")
        return Counter({row["fingerprint"]: int(row["count"]) for row in document["findings"]})
    except FileNotFoundError:
        hint = "write it with `--write-baseline`"
        raise SettingsError(f"there is no baseline file `{os.path.relpath(path)}`; {hint}") from None
    except OSError as error:
        raise SettingsError(f"cannot read the baseline {path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError) as error:
        if isinstance(error, SettingsError):
            raise
        raise SettingsError(f"{path} is not a baseline of autohybrid: {error}") from None


def leave_out_known(
    findings: Sequence[Diagnostic], known: Counter[str], sources: Sources
) -> tuple[list[Diagnostic], int]:
    """The findings beyond those known, and how many were known."""
    left = Counter(known)
    new: list[Diagnostic] = []
    for finding in findings:
        stem = make_stem(finding, sources)
        if left[stem] > 0:
            left[stem] -= 1
        else:
            new.append(finding)
    return new, len(findings) - len(new)
