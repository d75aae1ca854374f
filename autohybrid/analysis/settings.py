"""AnalysisSettings: what a project may tell the analysis."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AnalysisSettings:
    """What a project may tell the analysis.

    `block_bases`: dotted or bare names of further classes to treat as HybridBlock. `hybrid_methods`: methods that
    receive tensors. `tensor_names`: names of arguments that are always tensors, `assume_static`: never.
    """

    block_bases: tuple[str, ...] = ()
    hybrid_methods: tuple[str, ...] = ("hybrid_forward", "forward")
    tensor_names: tuple[str, ...] = ()
    assume_static: tuple[str, ...] = ()
