"""What differs between two results of one call, by kind, and which of it is meant (`known_differences.toml`)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

#: Every kind of difference; an entry of the table covers one operator pattern and one kind.
KINDS = (
    "outputs", "gradients", "changed inputs", "form", "refused here", "refused by MXNet", "gradient refused here",
    "gradient refused by MXNet", "MXNet dies", "error class", "inference", "missing in MXNet", "missing here",
)  # fmt: skip
#: Classes that a refusal may have besides MXNet's own: where MXNet's front end raises these, so do we.
_REFUSALS = ("MXNetError", "IndexError", "IndexOutOfBoundsError", "HybridizeError")
_TOLERANCE = {"float16": (2e-2, 1e-2), "float32": (1e-3, 1e-4), "float64": (1e-5, 1e-7)}


@dataclass(frozen=True, slots=True)
class Known:
    """Differences of one kind that are meant; `when` is searched for in the printed line."""

    operators: tuple[str, ...]
    kind: str
    when: str
    reason: str

    def covers(self, operator: str, kind: str, line: str) -> bool:
        """Whether this entry is about a difference."""
        named = any(fnmatchcase(operator, pattern) for pattern in self.operators)
        return named and kind == self.kind and re.search(self.when, line) is not None


def read_known() -> tuple[Known, ...]:
    """The table of meant differences. Raises ValueError for an unknown kind."""
    table = tomllib.loads((Path(__file__).parent / "known_differences.toml").read_text(encoding="utf-8"))
    entries = []
    for row in table["difference"]:
        kinds = row["kind"] if isinstance(row["kind"], list) else [row["kind"]]
        names = row["operator"] if isinstance(row["operator"], list) else [row["operator"]]
        for kind in kinds:
            if kind not in KINDS:
                raise ValueError(f"known_differences.toml: {kind!r} is not one of {', '.join(KINDS)}")
            entries.append(Known(tuple(names), kind, row.get("when", ""), row["reason"]))
    return tuple(entries)


def differences(ours: dict[str, Any], theirs: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Kind and description of everything that differs."""
    if "died" in theirs:
        yield "MXNet dies", str(ours.get("error", "works here"))
        return
    if "missing" in ours or "missing" in theirs:
        if ("missing" in ours) != ("missing" in theirs):
            yield ("missing here" if "missing" in ours else "missing in MXNet"), ""
        return
    refused = "error" in ours and "error" in theirs
    yield from _inference(ours["inference"], theirs["inference"], refused)
    if "error" in ours or "error" in theirs:
        yield from _refusals(ours.get("error"), theirs.get("error"), "")
        return
    yield from _arrays("outputs", ours["outputs"], theirs["outputs"])
    if "inputs" in ours and "inputs" in theirs:  # after a backward pass that was refused there are none
        yield from _arrays("changed inputs", ours["inputs"], theirs["inputs"])
    if "gradient_error" in ours or "gradient_error" in theirs:
        yield from _refusals(ours.get("gradient_error"), theirs.get("gradient_error"), "gradient ")
        return
    yield from _arrays("gradients", ours.get("gradients", []), theirs.get("gradients", []))


def _refusals(ours: Any, theirs: Any, what: str) -> Iterator[tuple[str, str]]:
    if ours is None:
        yield f"{what}refused by MXNet", ": ".join(theirs)
    elif theirs is None:
        yield f"{what}refused here", ": ".join(ours)
    elif ours[0] != theirs[0] and ours[0] not in _REFUSALS:
        yield "error class", f"{ours[0]}: {ours[1]} | MXNet {theirs[0]}: {theirs[1]}"


def _arrays(what: str, ours: list[Any], theirs: list[Any]) -> Iterator[tuple[str, str]]:
    if len(ours) != len(theirs):
        yield "form", f"{len(ours)} {what}, MXNet has {len(theirs)}"
        return
    for i, (a, b) in enumerate(zip(ours, theirs)):
        if a.shape != b.shape or a.dtype != b.dtype:
            yield "form", f"{what} {i}: {a.shape} {a.dtype}, MXNet {b.shape} {b.dtype}"
        elif not _close(a, b):
            with np.errstate(all="ignore"):
                worst = np.nanmax(np.abs(a.astype("float64") - b.astype("float64")), initial=0)
            yield what, f"{what} {i} differ by up to {worst:.3g} of {np.nanmax(np.abs(b.astype('float64'))):.3g}"


def _close(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    rtol, atol = _TOLERANCE.get(a.dtype.name, (0, 0))
    finite = np.abs(b[np.isfinite(b)]) if b.dtype.kind == "f" else np.zeros(0)
    scale = max(1.0, float(finite.max())) if finite.size and a.dtype == np.float16 else 1.0
    return bool(np.allclose(a, b, rtol, atol * scale, equal_nan=True))


def _inference(ours: dict[str, Any], theirs: dict[str, Any], refused: bool) -> Iterator[tuple[str, str]]:
    """Inference may refuse what both refuse to run, and may know more than MXNet's, but nothing else."""
    if ("composition" in ours) or ("composition" in theirs):
        if ("composition" in ours) != ("composition" in theirs):
            yield (
                "inference",
                f"composition {ours.get('composition', 'works')}, MXNet {theirs.get('composition', 'works')}",
            )
        return
    for what in ours:
        a, b = ours[what], theirs[what]
        if refused and "refused" in (a, b):
            continue
        if a != b and not ("first" in what and _knows_more(a, b)):
            yield "inference", f"{what}: {a}, MXNet {b}"


def _knows_more(ours: Any, theirs: Any) -> bool:
    """Whether an answer about part of the inputs contradicts nothing of MXNet's, which has open places."""
    if theirs in (None, "refused", 0):
        return bool(ours != "refused")
    if isinstance(ours, (list, tuple)) and isinstance(theirs, (list, tuple)):
        return len(ours) == len(theirs) and all(_knows_more(a, b) for a, b in zip(ours, theirs))
    return bool(ours == theirs)
