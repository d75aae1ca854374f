"""The analyser's findings on a block's own source, for `hybridize()` to report."""

from __future__ import annotations

from typing import Any

from autohybrid.diagnostics.model import Diagnostic


def findings_of(block: Any) -> tuple[Diagnostic, ...]:
    """Findings in the classes of `block` and of all blocks below it, without those of autohybrid's own."""
    return ()
