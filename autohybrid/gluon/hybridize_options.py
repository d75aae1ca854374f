"""The options of `hybridize()`: names, defaults, and the refusal of unknown ones."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any


class _Defaults:
    fallback = False


def set_default_fallback(fallback: bool) -> None:
    """What blocks do that cannot be a graph, where `hybridize()` was not told: run imperatively, or raise."""
    _Defaults.fallback = fallback


@dataclass(frozen=True, slots=True)
class HybridizeOptions:
    """How a hybridized block is compiled.

    static_alloc        reuse the buffers of intermediate results from call to call
    static_shape        expect the shapes of the first call again (others still work)
    strict              turn every finding of the analysis into an error
    verify              compare the first compiled call with the imperative one
    fallback            run a block that cannot be a graph imperatively, with a warning, instead of raising
                        HybridizeError; None: as `set_default_fallback` says (off, unless MXNet's name is in use)
    exact               compute every number as the imperative call does, bit for bit; otherwise compiled calls outside
                        recording may add in another order and fold constants, within a few units of rounding; None:
                        as the environment variable AUTOHYBRID_EXACT says (`1`: exact), else not
    inline_limit, forward_bulk_size, backward_bulk_size, backend    MXNet's; accepted, without effect on results
    """

    static_alloc: bool = False
    static_shape: bool = False
    inline_limit: int = 2
    forward_bulk_size: int | None = None
    backward_bulk_size: int | None = None
    backend: str | None = None
    strict: bool = False
    verify: bool = False
    fallback: bool | None = None
    exact: bool | None = None

    @property
    def falls_back(self) -> bool:
        """Whether a block that cannot be a graph runs imperatively."""
        return not self.strict and (_Defaults.fallback if self.fallback is None else self.fallback)

    @property
    def is_exact(self) -> bool:
        """Whether compiled calls keep every number bit for bit."""
        if self.exact is not None:
            return self.exact
        return os.environ.get("AUTOHYBRID_EXACT", "0").lower() not in ("", "0", "no", "off", "false")

    def updated(self, given: Mapping[str, Any]) -> HybridizeOptions:
        """These options with `given` on top. Raises TypeError for an unknown name, with the nearest known one."""
        known = [field.name for field in fields(self)]
        for name in given:
            if name not in known:
                close = difflib.get_close_matches(name, known, n=1)
                hint = f"; did you mean `{close[0]}`?" if close else f"; known are {', '.join(known)}"
                raise TypeError(f"hybridize() has no option `{name}`{hint}")
        return replace(self, **given)
