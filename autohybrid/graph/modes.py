"""Modes of single nodes: recording and train mode as `autograd` scopes inside a block set them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from autohybrid.tensor.tape import state


@dataclass(frozen=True, slots=True)
class ScopedModes:
    """What the scopes around a call set; None leaves the mode of the caller of the graph."""

    recording: bool | None
    training: bool | None

    @contextmanager
    def active(self) -> Iterator[None]:
        """Run something under these modes."""
        saved = state.recording, state.training
        if self.recording is not None:
            state.recording = self.recording
        if self.training is not None:
            state.training = self.training
        try:
            yield
        finally:
            state.recording, state.training = saved
