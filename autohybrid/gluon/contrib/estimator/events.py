"""The six moments of training at which handlers are called, as base classes."""

from __future__ import annotations

from typing import Any

__all__ = ["BatchBegin", "BatchEnd", "EpochBegin", "EpochEnd", "EventHandler", "TrainBegin", "TrainEnd"]


class EventHandler:
    """Base of all handlers. Those with a lower `priority` (0 if they have none) are called first."""


class TrainBegin(EventHandler):
    """Called once, before everything."""

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Nothing, unless overridden."""


class TrainEnd(EventHandler):
    """Called once, after everything."""

    def train_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Nothing, unless overridden."""


class EpochBegin(EventHandler):
    """Called before each epoch."""

    def epoch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Nothing, unless overridden."""


class EpochEnd(EventHandler):
    """Called after each epoch; a true result ends the training."""

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool | None:
        """Goes on, unless overridden."""
        return False


class BatchBegin(EventHandler):
    """Called before each batch, with the keyword `batch`."""

    def batch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Nothing, unless overridden."""


class BatchEnd(EventHandler):
    """Called after each batch, with the keywords `batch`, `pred`, `label`, `loss`; a true result ends the epoch."""

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool | None:
        """Goes on, unless overridden."""
        return False


def checked_handlers(handlers: Any) -> list[Any]:
    """A handler, a list of them or None as a list of its own. Raises ValueError for anything else."""
    listed = [handlers] if isinstance(handlers, EventHandler) else list(handlers or [])
    wrong = next((h for h in listed if not isinstance(h, EventHandler)), None)
    if wrong is not None:
        raise ValueError(f"handlers must be event handlers, not {type(wrong).__name__} {wrong!r}")
    return listed
