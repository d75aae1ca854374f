"""The random generator of each device, seeded by `mx.random.seed`. Imperative calls and graphs draw from it in
program order, so under one seed they give the same numbers."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from autohybrid.context import Context
from autohybrid.tensor.backend import namespace_of

_lock = threading.Lock()
_generators: dict[tuple[int, int], Any] = {}


def generator(ctx: Context) -> Any:
    """The generator of `ctx` (all CPUs share one), seeded from the operating system until `seed` is called."""
    key = _key(ctx)
    found = _generators.get(key)
    if found is None:
        with _lock:
            found = _generators.setdefault(key, _make(ctx, None))
    return found


def seed(value: int, ctx: Context | str = "all") -> None:
    """Start the generators afresh from `value`: that of `ctx`, or of every device ('all')."""
    with _lock:
        if isinstance(ctx, Context):
            _generators[_key(ctx)] = _make(ctx, value)
            return
        for key in list(_generators):
            if key[0] == 2:
                _generators[key] = _make(Context("gpu", key[1]), value)
        _generators[(1, 0)] = _make(Context("cpu", 0), value)


def _key(ctx: Context) -> tuple[int, int]:
    return (2, ctx.device_id) if ctx.device_typeid == 2 else (1, 0)


def _make(ctx: Context, value: int | None) -> Any:
    if ctx.device_typeid != 2:
        return np.random.default_rng(None if value is None else abs(int(value)))
    xp = namespace_of(ctx)
    return xp.random.default_rng(value)
