"""Devices: `cpu()`, `gpu(i)` and the current one. Knows no array library; `tensor/backend.py` maps a device to one."""

from __future__ import annotations

from contextvars import ContextVar, Token
from typing import Any

_DEVICE_TYPES = {1: "cpu", 2: "gpu", 3: "cpu_pinned", 5: "cpu_shared"}


class _CurrentDevice:
    """What MXNet keeps in a thread-local: code that switches the device for good sets its `value`."""

    @property
    def value(self) -> Context:
        return current_context()

    @value.setter
    def value(self, device: Context) -> None:
        _current.set(device)


class _ContextType(type):
    """Gives the class the attribute `default_ctx`, which follows the current device."""

    @property
    def default_ctx(cls) -> Context:
        """The device that new arrays go to."""
        return current_context()

    @default_ctx.setter
    def default_ctx(cls, device: Context) -> None:
        _current.set(device)


class Context(metaclass=_ContextType):
    """A device: `Context('gpu', 1)`, equal by type and number. As a context manager it becomes the default device."""

    devtype2str = _DEVICE_TYPES
    devstr2type = {name: number for number, name in _DEVICE_TYPES.items()}
    _default_ctx = _CurrentDevice()
    __slots__ = ("_tokens", "device_id", "device_typeid")
    device_id: int
    device_typeid: int

    def __init__(self, device_type: str | Context, device_id: int = 0) -> None:
        if isinstance(device_type, Context):
            self.device_typeid, self.device_id = device_type.device_typeid, device_type.device_id
        else:
            if device_type not in self.devstr2type:
                raise KeyError(f"unknown device type {device_type!r}; known are {', '.join(self.devstr2type)}")
            self.device_typeid, self.device_id = self.devstr2type[device_type], device_id
        self._tokens: list[Token[Context]] = []

    @property
    def device_type(self) -> str:
        """'cpu', 'gpu', 'cpu_pinned' or 'cpu_shared'."""
        return _DEVICE_TYPES[self.device_typeid]

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Context)
            and self.device_typeid == other.device_typeid
            and self.device_id == other.device_id
        )

    def __hash__(self) -> int:
        return hash((self.device_typeid, self.device_id))

    def __repr__(self) -> str:
        return f"{self.device_type}({self.device_id})"

    __str__ = __repr__

    def __enter__(self) -> Context:
        self._tokens.append(_current.set(self))
        return self

    def __exit__(self, *exc: Any) -> None:
        _current.reset(self._tokens.pop())

    def empty_cache(self) -> None:
        """Freeing cached device memory is the array library's business; kept for compatibility."""


def cpu(device_id: int = 0) -> Context:
    """The CPU. Every number is the same memory."""
    return Context("cpu", device_id)


def cpu_pinned(device_id: int = 0) -> Context:
    """Host memory; pinning is left to the array library."""
    return Context("cpu_pinned", device_id)


def gpu(device_id: int = 0) -> Context:
    """The CUDA device with this number (needs CuPy as soon as an array is put there)."""
    return Context("gpu", device_id)


def __getattr__(name: str) -> Any:
    if name == "num_gpus":  # only the array libraries know; this module loads none
        import autohybrid

        return autohybrid.num_gpus
    raise AttributeError(f"module 'autohybrid.context' has no attribute '{name}'")


_current: ContextVar[Context] = ContextVar("context", default=Context("cpu", 0))  # noqa: B039 - never mutated


def current_context() -> Context:
    """The device that new arrays go to."""
    return _current.get()
