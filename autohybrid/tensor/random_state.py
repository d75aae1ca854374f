"""The random generator of each device, seeded by `mx.random.seed`. Imperative calls and graphs draw from it in
program order, so under one seed they give the same numbers."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from autohybrid.context import Context
from autohybrid.tensor.backend import namespace_of

_lock = threading.Lock()
_generators: dict[tuple[Any, ...], Any] = {}
_seeds: dict[Any, int] = {}


class _Stream(threading.local):
    name = "operators"


_stream = _Stream()


@contextmanager
def stream(name: str) -> Iterator[None]:
    """Draw from another stream of numbers inside the `with`, seeded together with the first.

    Parameters are initialised from a stream of their own: when a deferred one is drawn depends on whether the block
    runs imperatively or is compiled, and must not shift what Dropout and the others draw.
    """
    previous, _stream.name = _stream.name, name
    try:
        yield
    finally:
        _stream.name = previous


def generator(ctx: Context) -> Any:
    """The generator of `ctx` (all CPUs share one), seeded from the operating system until `seed` is called."""
    key = (*_device(ctx), _stream.name)
    found = _generators.get(key)
    if found is None:
        with _lock:
            found = _generators.setdefault(key, _make(ctx, _seeds.get(_device(ctx), _seeds.get("all")), key[2]))
    return found


def seed(value: int, ctx: Context | str = "all") -> None:
    """Start the generators afresh from `value`: that of `ctx`, or of every device ('all')."""
    with _lock:
        if isinstance(ctx, Context):
            _seeds[_device(ctx)] = int(value)
            stale = [key for key in _generators if key[:2] == _device(ctx)]
        else:
            _seeds.clear()
            _seeds["all"] = int(value)
            stale = list(_generators)
        for key in stale:
            del _generators[key]


def snapshot() -> dict[Any, Any]:
    """The states of all generators of CPUs, for `restore`."""
    return {key: found.bit_generator.state for key, found in _generators.items() if key[0] == 1}


def restore(saved: dict[Any, Any]) -> None:
    """Put generators back to a snapshot; those made since then start as they did."""
    with _lock:
        for key in [k for k in _generators if k[0] == 1]:
            if key in saved:
                _generators[key].bit_generator.state = saved[key]
            elif _seeds:
                del _generators[key]


def _device(ctx: Context) -> tuple[int, int]:
    return (2, ctx.device_id) if ctx.device_typeid == 2 else (1, 0)


def _make(ctx: Context, value: int | None, stream_name: str) -> Any:
    xp = namespace_of(ctx)
    if value is None:
        return xp.random.default_rng()
    number = abs(value) if stream_name == "operators" else abs(value) ^ zlib.crc32(stream_name.encode())
    return xp.random.default_rng(number)
