"""Calls that several threads share step by step: BLAS multiplies in the thread that asks it for the whole call.

A thread of BLAS that has helped goes on spinning for a tenth of a second, on a processor that our own threads need.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autohybrid.threads import blas_threads


class AloneCall:
    """An executor under that limit; called as an executor is. `source` and `plan` are the executor's."""

    def __init__(self, code: Callable[..., Any]) -> None:
        self._code = code
        self.source: str = code.source  # type: ignore[attr-defined]
        self.plan: Any = code.plan  # type: ignore[attr-defined]

    def __call__(self, *arrays: Any) -> Any:
        """Run the executor."""
        with blas_threads.alone():
            return self._code(*arrays)
