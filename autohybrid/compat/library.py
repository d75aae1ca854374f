"""`mx.library`: libraries of compiled operators, which cannot be loaded here."""

from __future__ import annotations

from autohybrid.errors import MXNetError


def load(path: str, verbose: bool = True) -> None:
    """Raises MXNetError: a compiled operator needs MXNet's own run time."""
    raise MXNetError(
        f"{path} holds operators compiled for MXNet, which cannot be loaded; write them in Python with "
        "mx.operator.CustomOp, or as an operator record through autohybrid's plugins"
    )
